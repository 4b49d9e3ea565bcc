import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { parseCommandLine } from "../../lib/cli-options.js";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const page = read("docs/command-line.md");

test("the documented schema is the one that reports have", () => {
  const [, schema = ""] =
    /\/\/ #region schema\n(.*?)\n\/\/ #endregion/s.exec(read("lib/cli-reports.ts")) ?? [];
  const [, documented = ""] = /```typescript\n(.*?)\n```/s.exec(page) ?? [];
  expect(schema).not.toBe("");
  expect(documented).toBe(schema);
});

test("every documented command line is understood", () => {
  const commands = [...page.matchAll(/^ {4}npx acpx-lifecycle (.*?)(?: +#.*)?$/gm)].map(
    ([, line = ""]) => line,
  );
  expect(commands.length).toBeGreaterThan(5);
  const surroundings = { env: {}, platform: "linux", home: "/home/me" } as const;
  const kinds = commands.map((line) => parseCommandLine(line.split(" "), surroundings).kind);
  expect(kinds.filter((kind) => kind === "usage")).toEqual([]);
});
