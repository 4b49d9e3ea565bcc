import { createAgentRegistry } from "acpx/runtime";
import { describe, expect, test } from "vitest";
import {
  argvOf,
  identityOf,
  splitCommandLine,
  staysDirect,
  withoutLease,
  wrapperNameFor,
} from "../../lib/agent-command.js";
import { commandLines, directCommands, identities, leased, wrapperNames } from "../cases/acpx-commands.js";

describe("wrapper names", () => {
  test.each(wrapperNames)("$name", ({ argv, agent, expected }) => {
    expect(wrapperNameFor(argv, agent)).toBe(expected);
  });
});

describe("command lines", () => {
  test.each(commandLines)("$name", ({ text, expected }) => {
    expect(splitCommandLine(text)).toEqual(expected);
  });

  test.each(commandLines.filter(({ expected }) => expected !== null))(
    "acpx splits alike: $name",
    ({ text, expected }) => {
      // acpx looks for the first word as a program and keeps the rest; a missing one is reported by name.
      const launch = createAgentRegistry({
        overrides: { agent: text },
        resolveExecutable: (command) => command,
      }).inspect("agent")?.launch;
      expect(launch).toEqual({ kind: "installed", argv: expected });
    },
  );
});

describe("identities", () => {
  test.each(identities)("$name", ({ command, text }) => {
    expect(identityOf(command).agentCommand).toBe(text);
  });

  test.each(identities.filter(({ command }) => typeof command !== "string"))(
    "splits back: $name",
    ({ command, text }) => {
      expect(argvOf(text)).toEqual(command);
    },
  );
});

describe("leases of other releases", () => {
  test.each(leased)("$name", ({ argv, expected }) => {
    expect(withoutLease(argv)).toEqual(expected);
  });
});

describe("agents that stay direct", () => {
  test.each(directCommands)("$name: $direct", ({ argv, direct }) => {
    expect(staysDirect(argv)).toBe(direct);
  });
});
