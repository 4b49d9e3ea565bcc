/** Gateways that die: what a restart ends, what it leaves alone, and what nobody covers. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Gateway } from "../../examples/demo/gateway.mjs";
import type { AcpxProcessLease } from "../../lib/lease.js";
import type { ProcessHandle } from "../../lib/native.js";
import type { ReapReport } from "../../lib/reaper.js";
import { allGone, isAlive, pin } from "../helpers/alive.js";
import { World } from "./world.js";

async function leaseOf(world: World, sessionKey: string): Promise<AcpxProcessLease> {
  const [lease] = await world.openLeases(sessionKey);
  if (lease === undefined) throw new Error(`${sessionKey} has no open lease`);
  return lease;
}

/** Gateway and wrappers die in one instant: stopped, the gateway cannot react to the end of its wrappers. */
async function crash(dying: Gateway, wrappers: readonly ProcessHandle[]): Promise<void> {
  dying.child.kill("SIGSTOP");
  for (const wrapper of wrappers) wrapper.signal("SIGKILL");
  await dying.kill();
  await allGone(wrappers);
}

test.concurrent(
  "a gateway is killed, its wrapper ends the tree; a restart settles the lease, the other gateway's session stays",
  async () => {
    await using world = new World();
    const dying = await world.gateway(["--children=plain,group,session,daemon", "--stubborn"]);
    const living = await world.gateway();
    await dying.call("ensure", { sessionKey: "dying" });
    const tree = world.pinAll();
    await living.call("ensure", { sessionKey: "living" });
    const leases = [await leaseOf(world, "dying"), await leaseOf(world, "living")] as const;
    const others = world.pinAll().filter(({ pid }) => !tree.some((known) => known.pid === pid));
    await dying.kill();
    await allGone(tree);

    const restarted = await world.gateway();
    const report = await restarted.call<ReapReport>("reap");
    expect(report.settled.map(({ leaseId }) => leaseId)).toEqual([leases[0].leaseId]);
    expect(report.held.map(({ leaseId }) => leaseId)).toEqual([leases[1].leaseId]);
    expect(others.length).toBeGreaterThanOrEqual(2);
    expect(others.every(isAlive)).toBe(true);
    await living.call("close", { sessionKey: "living" });
    await Promise.all([living.stop(), restarted.stop()]);
  },
);

test.concurrent(
  "gateway and wrappers die at once; two restarts sweep at once: each tree ends once, a launch meanwhile is untouched",
  async () => {
    await using world = new World();
    const dying = await world.gateway(["--children=session,daemon"]);
    const keys = ["one", "two", "three", "four", "five"];
    await Promise.all(keys.map((sessionKey) => dying.call("ensure", { sessionKey })));
    const leases = await Promise.all(keys.map((sessionKey) => leaseOf(world, sessionKey)));
    const tree = world.pinAll();
    await crash(
      dying,
      leases.map(({ rootPid }) => pin(rootPid)),
    );
    const adapters = tree.filter(({ pid }) => leases.some(({ adapterPid }) => adapterPid === pid));
    await allGone(adapters);
    const survivors = tree.filter(isAlive);
    expect(survivors.length).toBe(10);

    const restarted = await Promise.all([world.gateway(), world.gateway()]);
    const [launch, ...reports] = await Promise.all([
      restarted[0].call("ensure", { sessionKey: "new" }),
      ...restarted.map((one) => one.call<ReapReport>("reap")),
    ]);
    expect(launch).toMatchObject({ sessionKey: "new" });
    await allGone(survivors, 0);
    const settled = reports.flatMap((report) => report.settled.map(({ leaseId }) => leaseId));
    expect(settled.toSorted()).toEqual(leases.map(({ leaseId }) => leaseId).toSorted());
    expect(reports.reduce((deaths, report) => deaths + report.deaths, 0)).toBe(survivors.length);
    const fresh = await leaseOf(world, "new");
    expect(isAlive(pin(fresh.rootPid))).toBe(true);
    await restarted[0].call("close", { sessionKey: "new" });
    await Promise.all(restarted.map((one) => one.stop()));
  },
);

test.concurrent(
  "a command in an ACP terminal is a child of the gateway: no lease names it, a crash leaves it",
  async () => {
    await using world = new World();
    const dying = await world.gateway([], { terminal: true });
    await dying.call("ensure", { sessionKey: "terminal" });
    const before = world.processes();
    const lease = await leaseOf(world, "terminal");
    await dying.call("turn", { sessionKey: "terminal", text: "terminal", requestId: "t" });
    await dying.event("turn-ended");
    const started = world.pinAll().filter(({ pid }) => !before.includes(pid));
    expect(started.length).toBe(1);
    const [command] = started;
    if (command === undefined) throw new Error("no terminal was started");
    const reading = command.read([]);
    expect(reading.ok && reading.value.ppid).toBe(dying.pid);

    const [wrapper, adapter] = [pin(lease.rootPid), pin(lease.adapterPid)];
    await dying.kill();
    await allGone([wrapper, adapter]);
    const restarted = await world.gateway();
    const report = await restarted.call<ReapReport>("reap");
    expect(report.settled.map(({ leaseId }) => leaseId)).toEqual([lease.leaseId]);
    expect(isAlive(command)).toBe(true);
    await restarted.stop();
  },
);

const crashing = fileURLToPath(new URL("../fixtures/gateway-crash.mjs", import.meta.url));
/** What a launch and its close give a name, in this order. */
const steps = [
  { n: 3, what: "the wrapper's image" },
  { n: 4, what: "the lease" },
  { n: 5, what: "the root's identity" },
  { n: 6, what: "the claim" },
  { n: 7, what: "the adapter's identity" },
  { n: 8, what: "the adapter seen alive" },
  { n: 9, what: "the lease as closing" },
  { n: 10, what: "the lease as ended" },
  { n: 11, what: "the ended lease's place" },
];
const crashes = steps.flatMap((step) => [
  { ...step, when: "before" },
  { ...step, when: "after" },
]);
test.concurrent.each(crashes)(
  "a crash $when writing $what: nothing runs on, and one restart converges",
  async ({ n, when }) => {
    await using world = new World();
    const dying = await world.gateway(
      ["--children=session,daemon"],
      {},
      {
        NODE_OPTIONS: `--import=${crashing}`,
        CRASH_AT: `${when} ${n}`,
      },
    );
    const working = async () => {
      await dying.call("ensure", { sessionKey: "crash" });
      await dying.call("close", { sessionKey: "crash" });
    };
    await expect(working()).rejects.toThrow("SIGKILL");
    const restarted = await world.gateway();
    await allGone(world.pinAll());
    const report = await restarted.call<ReapReport>("reap");
    expect(report.left).toEqual([]);
    expect(report.held).toEqual([]);
    expect(await world.openLeases()).toEqual([]);
    expect(world.processes()).toEqual([]);
    expect((await restarted.call<ReapReport>("reap")).settled).toEqual([]);
    await restarted.stop();
  },
);
