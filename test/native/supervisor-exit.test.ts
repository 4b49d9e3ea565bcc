import { constants } from "node:os";

import { afterAll, beforeAll, expect, test } from "vitest";

import { endings } from "../cases/supervisor-endings.js";
import { Stage, type Ended } from "../helpers/supervisor.js";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const inBatches = async <T>(items: readonly T[], run: (item: T) => Promise<void>) => {
  for (let start = 0; start < items.length; start += 16)
    await Promise.all(items.slice(start, start + 16).map(run));
};

test("each of the 256 exit codes is mirrored", async () => {
  const seen: number[] = [];
  await inBatches([...Array(256).keys()], async (code) => {
    const ended = await stage.start(["exit", String(code)]).end();
    expect(ended.signal).toBeNull();
    seen[code] = ended.code ?? -1;
  });
  expect(seen).toEqual([...Array(256).keys()]);
});

test("death by each signal that ends a process is mirrored", async () => {
  const harmless: readonly string[] = ["SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH"];
  const stopping: readonly string[] = ["SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU"];
  const names = Object.keys(constants.signals).filter(
    (name) => !harmless.includes(name) && !stopping.includes(name),
  );
  const numbers = [...new Set(names.map((name) => constants.signals[name as NodeJS.Signals]))];
  expect(numbers.length).toBeGreaterThan(20);
  await inBatches(numbers, async (number) => {
    const { code, signal } = await stage.start(["die", String(number)]).end();
    expect([code, constants.signals[signal ?? "SIGCHLD"]]).toEqual([null, number]);
  });
});

test("death by a real-time signal, which has no name, is mirrored", async () => {
  const shell = stage.start([], {
    command: ["sh", "-c", '"$0" -- "$@"; echo "code $?"', stage.wrapper, stage.script, "die", "40"],
  });
  await shell.says(/^code 168$/);
});

test.each(endings)("$name", async ({ command, ended, stderr }) => {
  const supervised = stage.start([], {
    command: command.map((word) => word.replace("<dir>", stage.directory)),
  });
  expect(await supervised.end()).toEqual<Ended>(ended);
  await supervised.silent;
  expect(supervised.stderr).toMatch(stderr);
});

test("a wrong command line says how it is used, in a line without digits", async () => {
  const usages = [[], ["--"], ["command"], ["--unknown", "--", "true"], ["--foreground"]];
  await inBatches(usages, async (words) => {
    const supervised = stage.start([], { command: [stage.wrapper, ...words] });
    expect(await supervised.end()).toEqual<Ended>({ code: 64, signal: null });
    await supervised.silent;
    expect(supervised.stderr).toMatch(/^usage: [^\d\n]*\n$/);
  });
});
