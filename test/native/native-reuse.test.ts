import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { compile } from "../helpers/compile.js";

const run = promisify(execFile);
const rounds = fileURLToPath(new URL("../fixtures/pid-reuse-rounds.mjs", import.meta.url));

test("500 numbers given to a stranger: the old handle never reaches it and tokens differ", async () => {
  const isRoot = process.geteuid?.() === 0;
  const namespace = [
    "--pid",
    "--fork",
    "--mount-proc",
    "--kill-child",
    ...(isRoot ? [] : ["--user", "--map-root-user"]),
  ];
  const { stdout } = await run("unshare", [...namespace, process.execPath, rounds, compile("pid-reuse")]);
  const { sameTick, ...counts } = JSON.parse(stdout) as Record<string, number | string>;
  expect(counts).toEqual({
    rounds: 500,
    judgedDifferent: 500,
    refused: 500,
    exited: 500,
    strangersAlive: 500,
    strangersUntouched: 500,
    naive: "ended 15",
  });
  // Otherwise the ticks alone would have told them apart, and the test would show little.
  expect(sameTick).toBeGreaterThan(100);
});
