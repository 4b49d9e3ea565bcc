import { describe, expect, test } from "vitest";

import { defaultStateDir, HELP, parseCommandLine, type Surroundings } from "../../lib/cli-options.js";
import { misunderstood, understood } from "../cases/cli-command-lines.js";

const surroundings = (env: Surroundings["env"]): Surroundings => ({
  env,
  platform: "linux",
  home: "/home/me",
});

describe("a command line is understood", () => {
  test.each(understood)("$name", ({ args, env, request }) => {
    expect(parseCommandLine(args, surroundings(env))).toMatchObject({ kind: "request", request });
  });
});

describe("a command line is refused with what is wrong", () => {
  test.each(misunderstood)("$name", ({ args, complaint }) => {
    const message: unknown = expect.stringContaining(complaint);
    expect(parseCommandLine(args, surroundings({}))).toMatchObject({ kind: "usage", message });
  });
});

test.each([
  { args: ["--help"], kind: "help" },
  { args: ["run", "-h"], kind: "help" },
  { args: ["--version"], kind: "version" },
])("$args asks for $kind", ({ args, kind }) => {
  expect(parseCommandLine(args, surroundings({}))).toEqual({ kind });
});

test("--help behind -- is for the command that is run", () => {
  expect(parseCommandLine(["run", "--", "codex-acp", "--help"], surroundings({}))).toMatchObject({
    request: { launch: ["codex-acp", "--help"] },
  });
});

test.each([
  { platform: "darwin", home: "/Users/me", expected: "/Users/me/Library/Application Support/acpx-lifecycle" },
  { platform: "linux", home: "/home/me", expected: "/home/me/.local/state/acpx-lifecycle" },
] as const)("state on $platform is where that platform keeps it", ({ platform, home, expected }) => {
  expect(defaultStateDir({ env: {}, platform, home })).toBe(expected);
});

test("the help fits a terminal of 80 columns and 24 lines, the prompt included", () => {
  const lines = HELP.split("\n");
  expect(lines.length).toBeLessThanOrEqual(22);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
});
