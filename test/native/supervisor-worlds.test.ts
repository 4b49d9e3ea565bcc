/** Supervisors in worlds that lie to them or stop them: nobody else is hurt, and the tree still ends. */
import { spawnSync } from "node:child_process";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

import { isAlive } from "../helpers/alive.js";
import { Stage } from "../helpers/supervisor.js";

const fixture = fileURLToPath(new URL("../fixtures/supervisor-foreign-proc.sh", import.meta.url));

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const isRoot = process.geteuid?.() === 0;
const outer = [
  "--pid",
  "--fork",
  "--mount-proc",
  "--kill-child",
  ...(isRoot ? [] : ["--user", "--map-root-user"]),
];
const refused =
  "acpx-lifecycle: /proc is missing or that of another PID namespace; the command was not started\n";
const unlisted = "acpx-lifecycle: still alive after KILL: processes that cannot be listed\n";

test.each([
  { world: "stranger", code: 75, stderr: refused },
  { world: "coincident", code: 75, stderr: refused },
  { world: "exchanged", code: 137, stderr: unlisted },
  { world: "ours", code: 143, stderr: "" },
])("a /proc that is $world: none of the numbers in it is signalled", ({ world, code, stderr }) => {
  const ran = spawnSync("unshare", [...outer, "sh", fixture, world, stage.wrapper], { encoding: "utf8" });
  expect(ran.stdout).toBe(`code ${code}\nalive 40\n`);
  expect(ran.stderr).toContain(stderr);
});

test("stopped for longer than its bound, it still sends KILL before it says that somebody outlived it", async () => {
  const graceMs = 1000;
  const words = "fork [ session ignore TERM announce worker forever ] tell TERM announce adapter forever";
  const { supervised, adapter } = await stage.startLeased(words.split(" "), { graceMs });
  const worker = await supervised.announced("worker");
  await supervised.announced("adapter");
  supervised.root.signal("SIGTERM");
  await supervised.says(/^got TERM$/);
  supervised.root.signal("SIGSTOP");
  // As long as a paused container may take; the bound is the grace and three seconds.
  await pass(graceMs + 3_500);
  supervised.root.signal("SIGCONT");
  expect(await supervised.end()).toEqual({ code: 137, signal: null });
  expect([adapter, worker].filter(isAlive)).toEqual([]);
});

test("a stderr that is full and that nobody reads holds nothing up", async () => {
  const supervised = stage.start([], { before: ["clog"], command: ["/no/such/command"] });
  expect(await supervised.end()).toEqual({ code: 127, signal: null });
});
