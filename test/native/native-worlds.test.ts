import { chmodSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import type { Backend, Delivery, Fault, Observed, ProcessReading } from "../../lib/native.js";
import { worlds } from "../cases/native-worlds.js";
import { exit, lines, ready, start } from "../helpers/child.js";
import { compile } from "../helpers/compile.js";

interface Attempt {
  readonly opened?: Fault;
  readonly reading: Observed<ProcessReading>;
  readonly signal: Observed<Delivery>;
  readonly group: Observed<Delivery>;
  readonly exited: unknown;
}
interface Tried {
  readonly backend: Backend;
  readonly attempts: readonly Attempt[];
  readonly complete: boolean;
}

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const idle = compile("idle");
const denyPidfd = compile("deny-pidfd");
// Another user has to reach it.
chmodSync(dirname(denyPidfd), 0o755);

/** Runs a program of the fixtures in that world. */
function launch(launcher: readonly string[], program: string, pid: number) {
  const words = launcher.map((word) => (word === "deny-pidfd" ? denyPidfd : word));
  const [command, ...args] = [...words, process.execPath, program, String(pid)];
  return start(command, args);
}

/** What a process in that world can learn about a pid and do to it. */
async function tryFrom(launcher: readonly string[], pid: number): Promise<Tried> {
  const asker = launch(launcher, fixture("try-pid.mjs"), pid);
  const tried = JSON.parse(await lines(asker).next()) as Tried;
  await exit(asker);
  return tried;
}

const isRoot = process.geteuid?.() === 0;
const outcome = (value: { ok: true } | Fault, good = "ok") => (value.ok ? good : value.reason);

const rows = worlds
  .filter(({ needsRoot }) => isRoot || !needsRoot)
  .map((world) => [world.name, world] as const);
test.each(rows)("%s", async (_name, world) => {
  const target = start(idle, [], { detached: true });
  const pid = await ready(target);
  const { backend, attempts, complete } = await tryFrom(world.launcher, pid);

  expect(backend.supported).toBe(world.supported);
  expect(backend.reason === undefined).toBe(world.supported);
  expect(complete).toBe(world.complete);
  const [attempt] = attempts;
  if (attempt === undefined) throw new Error("one pid, one attempt");
  if (world.open !== undefined) {
    expect(attempt.opened).toMatchObject(world.open);
  } else {
    if (!attempt.reading.ok) throw new Error(attempt.reading.reason);
    const { executable, environment, argv, token } = attempt.reading.value;
    expect(argv).toEqual({ ok: true, value: [idle] });
    expect([outcome(executable), outcome(environment)]).toEqual([world.executable, world.environment]);
    expect(token.includes(";inode=")).toBe(world.uniqueIdentity);
    // Nobody polls instead.
    if (!backend.pinnedHandles) expect(attempt.exited).toMatchObject({ ok: false, reason: "unsupported" });
    expect([outcome(attempt.signal, "delivered"), outcome(attempt.group, "delivered")]).toEqual([
      world.signal,
      world.signal,
    ]);
  }
  // Ended by our end of file, or by the one signal that was allowed.
  target.stdin?.end();
  await exit(target);
  expect(target.signalCode).toBe(world.signal === "delivered" ? "SIGTERM" : null);
});

test.each([
  ["pidfds", []],
  ["directories alone", ["deny-pidfd", "all", "1"]],
])("the number of a thread is nobody's, with %s", async (_name, launcher) => {
  const thread =
    readdirSync("/proc/self/task")
      .map(Number)
      .find((tid) => tid !== process.pid) ?? 0;
  const { attempts } = await tryFrom(launcher, thread);
  expect(attempts).toMatchObject([{ opened: { ok: false, reason: "gone", errno: "ESRCH" } }]);
});

test.each([
  ["a process", "idle", []],
  ["a process, by its directory alone", "idle", ["deny-pidfd", "all", "1"]],
  ["a process whose main thread has exited", "thread-survives", []],
  [
    "a process whose main thread has exited, by its directory alone",
    "thread-survives",
    ["deny-pidfd", "all", "1"],
  ],
])("%s is never gone for want of descriptors", async (_name, program, launcher) => {
  const pid = await ready(start(compile(program)));
  const asker = launch(["prlimit", "--nofile=128", ...launcher], fixture("few-descriptors.mjs"), pid);
  const outcomes = JSON.parse(await lines(asker).next()) as string[];
  await exit(asker);
  expect(["open: denied", "read: denied", "read"]).toEqual(expect.arrayContaining(outcomes));
  expect(outcomes.at(0)).toBe("open: denied");
  expect(outcomes.at(-1)).toBe("read");
});
