/** The end of a tree, with real processes: all of it goes, and nothing else. */
import { execFileSync } from "node:child_process";

import { afterAll, beforeAll, expect, test } from "vitest";

import * as native from "../../lib/native.js";
import { readDetached } from "../../lib/claims.js";
import { trees } from "../cases/supervisor-trees.js";
import { isAlive } from "../helpers/alive.js";
import { hasEnded, soon, Stage, type Supervised } from "../helpers/supervisor.js";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const GRACE_MS = 250;

test.each(trees)("$name", async ({ words, trigger, gone, detached = [], ended }) => {
  const stranger = stage.start(["announce", "stranger", "forever"]);
  const { supervised, adapter } = await stage.startLeased(words, { graceMs: GRACE_MS });
  const leaving = await Promise.all(gone.map((name) => supervised.announced(name)));
  const staying = await Promise.all(detached.map((name) => supervised.announced(name)));
  if (trigger === "line") supervised.child.stdin?.write("\n");
  else supervised.root.signal(trigger);

  expect(await supervised.end()).toEqual(ended);
  for (const handle of [...leaving, adapter]) expect(isAlive(handle)).toBe(false);
  for (const handle of [...staying, await stranger.announced("stranger")]) expect(isAlive(handle)).toBe(true);
  // Nobody that was never announced is left either: a pipe ends with its last holder.
  if (staying.length === 0) await soon(supervised.silent, "somebody still holds the output");
  const listed = await readDetached(stage.claimsDir, supervised.root);
  const byPid = (a: { pid: number }, b: { pid: number }) => a.pid - b.pid;
  expect([...listed].sort(byPid)).toEqual(staying.map(({ pid, token }) => ({ pid, token })).sort(byPid));
});

test("a second TERM reaches the adapter and does not shorten its grace", async () => {
  const { supervised } = await stage.startLeased(["tell", "TERM", "announce", "adapter", "forever"], {
    graceMs: 600,
  });
  await supervised.announced("adapter");
  const begin = performance.now();
  supervised.root.signal("SIGTERM");
  await supervised.says(/^got TERM$/);
  supervised.root.signal("SIGTERM");
  expect(await supervised.end()).toEqual({ code: 137, signal: null });
  // Timers round to whole milliseconds.
  expect(performance.now() - begin).toBeGreaterThan(598);
  await supervised.silent;
  expect(supervised.lines.filter((line) => line === "got TERM")).toHaveLength(2);
});

test.each(["USR1", "USR2"] as const)("%s is forwarded to the group and ends nothing", async (signal) => {
  const { supervised, adapter } = await stage.startLeased([
    ...["tell", signal, "fork", "[", "announce", "child", "forever", "]"],
    ...["fork", "[", "session", "announce", "outside", "forever", "]", "announce", "adapter", "forever"],
  ]);
  for (const name of ["adapter", "child", "outside"]) await supervised.announced(name);
  supervised.root.signal(`SIG${signal}`);
  await heardTimes(supervised, `got ${signal}`, 2);
  // The one outside the group was told nothing: all that it says now comes after.
  (await supervised.announced("outside")).signal(`SIG${signal}`);
  await heardTimes(supervised, `got ${signal}`, 3);
  expect(isAlive(adapter) && isAlive(supervised.root)).toBe(true);
});

async function heardTimes(supervised: Supervised, line: string, times: number): Promise<void> {
  const count = () => supervised.lines.filter((one) => one === line).length;
  while (count() < times) await supervised.saysMore();
  expect(count()).toBe(times);
}

test("three hundred orphans leave no zombie", async () => {
  const orphan = ["fork", "[", "fork", "[", "]", "]"];
  const { supervised } = await stage.startLeased([
    ...["announce", "adapter", "line", ...Array<string[]>(300).fill(orphan).flat(), "children"],
    ...["announce", "done", "forever"],
  ]);
  const adapter = await supervised.announced("adapter");
  // As long as it is stopped it waits for nobody: what this counts can be there.
  supervised.root.signal("SIGSTOP");
  supervised.child.stdin?.write("\n");
  await supervised.announced("done");
  await zombies(supervised.root.pid, (count) => count === 300);
  supervised.root.signal("SIGCONT");
  await zombies(supervised.root.pid, (count) => count === 0);
  expect(isAlive(adapter)).toBe(true);
});

async function zombies(parent: number, enough: (count: number) => boolean): Promise<void> {
  const watching = async () => {
    for (;;) {
      const table = await native.snapshot();
      if (!table.ok) throw new Error("no process table");
      const { ppid, state } = table.value;
      if (enough(ppid.filter((one, row) => one === parent && state[row] === "Z".charCodeAt(0)).length))
        return;
    }
  };
  await soon(watching(), `zombies below ${parent} are not as many as expected`);
}

test("the host sees the end of the output when the adapter closes it", async () => {
  const { supervised, adapter } = await stage.startLeased([
    "announce",
    "adapter",
    "line",
    "close",
    "forever",
  ]);
  await supervised.announced("adapter");
  supervised.child.stdin?.write("\n");
  await soon(supervised.silent, "the output stays open");
  expect(isAlive(adapter) && isAlive(supervised.root)).toBe(true);
});

test("the host's writing fails with EPIPE when the adapter closes its input", async () => {
  const { supervised, adapter } = await stage.startLeased([
    "announce",
    "adapter",
    "line",
    "close",
    "forever",
  ]);
  await supervised.announced("adapter");
  const failed = new Promise<NodeJS.ErrnoException>((resolve) =>
    supervised.child.stdin?.once("error", resolve),
  );
  supervised.child.stdin?.write("\n");
  await soon(supervised.silent, "the output stays open");
  supervised.child.stdin?.write("more");
  expect((await soon(failed, "writing does not fail")).code).toBe("EPIPE");
  expect(isAlive(adapter)).toBe(true);
});

test("whatever it is started with, the adapter begins with a clean signal state and the host's umask", async () => {
  const supervised = stage.start(
    ["show", "signals", "show", "descriptors", "show", "terminal", "show", "umask", "exit", "6"],
    {
      via: ["sh", "-c", 'umask 002; exec "$0" "$@"'],
      before: [
        "ignore",
        "CHLD",
        "ignore",
        "PIPE",
        "ignore",
        "HUP",
        "block",
        "TERM",
        "block",
        "CHLD",
        "block",
        "USR1",
      ],
    },
  );
  expect(await supervised.end()).toEqual({ code: 6, signal: null });
  await supervised.silent;
  const withoutWrapper = execFileSync(stage.script, ["show", "descriptors"], {
    encoding: "utf8",
    stdio: "pipe",
  });
  expect(supervised.lines).toEqual([
    "SigBlk:\t0000000000000000",
    "SigIgn:\t0000000000000000",
    ...withoutWrapper.split("\n").filter((line) => line !== ""),
    "terminal ENXIO",
    "umask=002",
  ]);
});

test("a supervisor that is SIGKILLed takes the adapter with it; deeper processes are left to the gateway", async () => {
  const { supervised, adapter } = await stage.startLeased(
    "announce adapter fork [ session announce deeper forever ] forever".split(" "),
  );
  const deeper = await supervised.announced("deeper");
  supervised.root.signal("SIGKILL");
  await hasEnded(adapter);
  expect(isAlive(deeper)).toBe(true);
});
