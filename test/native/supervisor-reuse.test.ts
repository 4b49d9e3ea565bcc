/** The supervisor's own signals under forced reuse of pids, frozen in the middle of the race. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

import { reuses } from "../cases/supervisor-reuse.js";
import { compile } from "../helpers/compile.js";
import { Stage } from "../helpers/supervisor.js";

let stage: Stage;
let fixtures: { readonly freeze: string; readonly reuse: string };
beforeAll(async () => {
  stage = await Stage.open();
  fixtures = { freeze: compile("supervisor-freeze"), reuse: compile("pid-reuse") };
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const inside = fileURLToPath(new URL("../fixtures/supervisor-reuse.mjs", import.meta.url));
const namespace = ["--pid", "--fork", "--mount-proc", "--kill-child"];
const identity = process.geteuid?.() === 0 ? [] : ["--user", "--map-root-user"];

test.each(reuses)("$name", async ({ expected, ...row }) => {
  const { wrapper, script } = stage;
  const { stdout } = await promisify(execFile)(
    "unshare",
    [
      ...identity,
      ...namespace,
      process.execPath,
      inside,
      JSON.stringify({ ...fixtures, wrapper, script, ...row }),
    ],
    { timeout: 30_000, killSignal: "SIGKILL" },
  );
  expect(JSON.parse(stdout)).toEqual({ ...expected, afterwards: "started", stranger: "alive" });
});
