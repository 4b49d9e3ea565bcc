/** What a supervisor costs while it waits, and what it admits when it cannot end its tree. */
import { chmodSync, copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, beforeAll, expect, test } from "vitest";

import { isAlive } from "../helpers/alive.js";
import { soon, Stage, type Supervised } from "../helpers/supervisor.js";

let stage: Stage;
let neverClaimed: Supervised;
let begin: number;
beforeAll(async () => {
  stage = await Stage.open();
  begin = performance.now();
  neverClaimed = stage.startUnclaimed(["announce", "adapter"]);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

function status({ root }: Supervised, field: string): number {
  const text = readFileSync(`/proc/${root.pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1]);
}

test("while nothing happens it uses no more than 0.8 MiB, one thread, and is never woken", async () => {
  const waiting = stage.startUnclaimed(["forever"]);
  const { supervised } = await stage.startLeased(["announce", "adapter", "forever"]);
  await supervised.announced("adapter");
  const wakeUps = () => [waiting, supervised].map((one) => status(one, "voluntary_ctxt_switches"));
  // Time itself is what is tested here.
  await soon(asleep([waiting, supervised]), "they do not come to rest");
  const before = wakeUps();
  await sleep(2_000);
  expect(wakeUps()).toEqual(before);
  for (const one of [waiting, supervised]) {
    expect(status(one, "VmRSS")).toBeLessThanOrEqual(0.8 * 1024);
    expect(status(one, "Threads")).toBe(1);
  }
});

/** Until nobody has been woken for a while. */
async function asleep(all: readonly Supervised[]): Promise<void> {
  const wakeUps = () => all.map((one) => status(one, "voluntary_ctxt_switches")).join();
  let last: string;
  do {
    last = wakeUps();
    await sleep(100);
  } while (last !== wakeUps());
}

test("the signals that woke it are counted: the same measure sees a supervisor that works", async () => {
  const { supervised } = await stage.startLeased(["tell", "USR1", "announce", "adapter", "forever"]);
  await supervised.announced("adapter");
  await soon(asleep([supervised]), "it does not come to rest");
  const before = status(supervised, "voluntary_ctxt_switches");
  supervised.root.signal("SIGUSR1");
  await supervised.says(/^got USR1$/);
  await soon(asleep([supervised]), "it does not come to rest");
  expect(status(supervised, "voluntary_ctxt_switches")).toBeGreaterThan(before);
});

// Only root can make a process that its own parent may not kill.
test.runIf(process.geteuid?.() === 0)(
  "a survivor that may not be killed is named, and the supervisor's own death proves nothing",
  async () => {
    for (const open of [stage.directory, join(stage.directory, "wrappers")]) chmodSync(open, 0o755);
    chmodSync(stage.wrapper, 0o755);
    const privileged = join(stage.directory, "privileged");
    copyFileSync(stage.script, privileged);
    chmodSync(privileged, 0o4755);
    const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    const supervised = stage.start([], {
      via: nobody,
      command: [privileged, "ignore", "TERM", "privileges", "announce", "adapter", "forever"],
    });
    await supervised.says(/^adapter \d+$/);
    const adapter = stage.pin(Number(supervised.lines[0]?.split(" ")[1]));
    supervised.root.signal("SIGTERM");
    expect(await supervised.end()).toEqual({ code: null, signal: "SIGKILL" });
    expect(isAlive(adapter)).toBe(true);
    expect(supervised.stderr).toBe(`acpx-lifecycle: still alive after KILL: ${adapter.pid}\n`);
  },
);

test("without a claim it gives up after 30 seconds, and nothing was started", async () => {
  expect(await neverClaimed.ended).toEqual({ code: 75, signal: null });
  // Timers round to whole milliseconds.
  expect(performance.now() - begin).toBeGreaterThan(29_990);
  await neverClaimed.silent;
  expect(neverClaimed.lines).toEqual([]);
  expect(neverClaimed.stderr).toBe("acpx-lifecycle: no claim came in time; the command was not started\n");
});
