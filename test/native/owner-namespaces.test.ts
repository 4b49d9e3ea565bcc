import { readdirSync, readlinkSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { resolveGatewayInstanceId } from "../../lib/gateway-instance.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import { advance, createLeaseStore } from "../../lib/lease-store.js";
import { backend, type ProcessHandle } from "../../lib/native.js";
import { holdOwnerLock, hostId } from "../../lib/owner-lock.js";
import { allGone, isAlive, pin, put } from "../helpers/alive.js";
import { start } from "../helpers/child.js";
import { compile } from "../helpers/compile.js";
import { LaunchingGateway, type Launched } from "../helpers/launching-gateway.js";
import { preparedLease } from "../helpers/lease-samples.js";
import { AS_INIT, BELOW_INIT, initOf, inNamespaceOf, pinInside } from "../helpers/pid-namespace.js";

const family = compile("family");
const MEMBERS = ["i", "is"];
const DAY_MS = 24 * 3600 * 1000;

let base: string;
let stateDir: string;
let handles: ProcessHandle[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "acpx-owner-namespaces-"));
  stateDir = join(base, "state");
  handles = [];
});
afterEach(async () => {
  handles.forEach(put);
  await rm(base, { recursive: true });
});

function keep(handle: ProcessHandle): ProcessHandle {
  handles.push(handle);
  return handle;
}

const gatewayIn = (within: readonly string[], directory = stateDir) =>
  LaunchingGateway.start(directory, join(base, "wrappers"), 300, within);

/** The root, the adapter and its members, pinned from outside. */
function pinAll(container: LaunchingGateway, { rootPid, pids }: Launched): ProcessHandle[] {
  const init = initOf(container.pid);
  return [rootPid, ...Object.values(pids)].map((pid) => keep(pinInside(init, pid)));
}

async function leaseOf(leaseId: string): Promise<AcpxProcessLease> {
  const lease = await (await createLeaseStore({ stateDir })).load(leaseId);
  if (lease === undefined) throw new Error(`no lease ${leaseId}`);
  return lease;
}

describe("two containers on one state directory", () => {
  test("neither touches what the other runs; once one has ended, the other settles its leases without a signal", async () => {
    await using first = await gatewayIn(AS_INIT);
    await using second = await gatewayIn(AS_INIT);
    const launched = await first.launch(family, MEMBERS);
    const tree = pinAll(first, launched);
    const own = await second.launch(family, MEMBERS, "agent:test:acp:2");

    expect(await second.reap()).toMatchObject({
      settled: [],
      left: [],
      deaths: 0,
      held: expect.arrayContaining([
        expect.objectContaining({
          leaseId: launched.leaseId,
          because: "its gateway, in another namespace, holds its lock",
        }),
      ]) as unknown,
    });
    const [row] = await second.status("agent:test:acp:1");
    expect(row).toMatchObject({ verdict: { kind: "unknown" }, members: [] });
    expect(tree.every(isAlive)).toBe(true);

    await first.kill();
    await allGone(tree);
    expect(await second.reap()).toMatchObject({
      settled: [{ leaseId: launched.leaseId, state: "lost", deaths: [] }],
      held: [{ leaseId: own.leaseId }],
      deaths: 0,
    });
    expect((await second.status()).map(({ lease }) => lease.leaseId)).toEqual([own.leaseId]);
  });

  test("a gateway that starts in a new namespace settles what the one before it left, and launches anew", async () => {
    let before: Launched;
    {
      await using container = await gatewayIn(AS_INIT);
      before = await container.launch(family, MEMBERS);
      const tree = pinAll(container, before);
      await container.kill();
      await allGone(tree);
    }
    await using restarted = await gatewayIn(AS_INIT);
    expect(await restarted.reap()).toMatchObject({
      settled: [{ leaseId: before.leaseId, state: "lost" }],
      deaths: 0,
    });
    const { leaseId } = await restarted.launch(family, MEMBERS);
    expect(await restarted.status()).toMatchObject([{ lease: { leaseId }, verdict: { kind: "owned" } }]);
  });

  test("an agent that outlives its gateway does not hold its lock; elsewhere it is left alone, at home it is ended", async () => {
    await using container = await gatewayIn(BELOW_INIT);
    const init = initOf(container.pid);
    const launched = await container.launch(family, MEMBERS);
    const [supervisor, , ...members] = pinAll(container, launched);
    const lease = await leaseOf(launched.leaseId);
    const owner = keep(pinInside(init, lease.owner.pid));
    // The gateway must neither see the supervisor die nor be seen to die by it.
    owner.signal("SIGSTOP");
    supervisor?.signal("SIGKILL");
    owner.signal("SIGKILL");
    await allGone([owner]);
    expect(members.map(isAlive)).toEqual([true, true]);
    for (const { pid } of members)
      expect(openFiles(pid).filter((file) => file.includes(stateDir))).toEqual([]);

    const copy = join(base, "copy");
    await cp(stateDir, copy, { recursive: true });
    await using elsewhere = await gatewayIn(AS_INIT, copy);
    expect(await elsewhere.reap()).toMatchObject({ settled: [{ state: "lost" }], deaths: 0 });
    expect(members.map(isAlive)).toEqual([true, true]);

    await using home = await gatewayIn(inNamespaceOf(init));
    const report = await home.reap();
    expect(report).toMatchObject({ settled: [{ leaseId: launched.leaseId, state: "closed" }], held: [] });
    await allGone(members);
    expect(report.deaths).toBe(2);
  });
});

function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((descriptor) => readlinkSync(`/proc/${pid}/fd/${descriptor}`));
}

describe("a copy of the state directory of a gateway that lives", () => {
  test("beside it: hands off, and said once", async () => {
    await using original = await gatewayIn([]);
    const launched = await original.launch(family, MEMBERS);
    const tree = [launched.rootPid, ...Object.values(launched.pids)].map((pid) => keep(pin(pid)));
    const copy = join(base, "copy");
    await cp(stateDir, copy, { recursive: true });
    await using copied = await gatewayIn([], copy);
    for (let sweep = 0; sweep < 2; sweep++)
      expect(await copied.reap()).toMatchObject({
        settled: [],
        held: [
          { leaseId: launched.leaseId, because: expect.stringContaining("a copied state dir") as string },
        ],
        deaths: 0,
      });
    expect(await copied.warnings()).toEqual([expect.stringContaining("a copied state dir")]);
    expect(await original.warnings()).toEqual([]);
    expect(tree.every(isAlive)).toBe(true);
  });

  test("in another namespace: the copied lease is lost, the tree and its own lease are untouched", async () => {
    await using original = await gatewayIn(AS_INIT);
    const launched = await original.launch(family, MEMBERS);
    const tree = pinAll(original, launched);
    const copy = join(base, "copy");
    await cp(stateDir, copy, { recursive: true });
    await using copied = await gatewayIn(AS_INIT, copy);
    expect(await copied.reap()).toMatchObject({ settled: [{ state: "lost" }], deaths: 0 });
    expect(await original.status()).toMatchObject([
      { lease: { leaseId: launched.leaseId, state: "open" }, verdict: { kind: "owned" } },
    ]);
    expect(tree.every(isAlive)).toBe(true);
  });
});

describe("a lease whose owner is far away, its number here that of a stranger", () => {
  const elsewhere = {
    boot: (token: string) => token.replace(/boot=[^;]+/, "boot=00000000-1111-4222-8333-444444444444"),
    namespace: (token: string) => token.replace(/pidns=\d+/, "pidns=1"),
  };
  const rows = [
    { name: "another boot, lock free", scope: "boot", lock: true, then: "lost" },
    { name: "another namespace, lock free", scope: "namespace", lock: true, then: "lost" },
    { name: "another boot, no lock", scope: "boot", lock: false, then: "held" },
    { name: "another boot, no lock, silent for a month", scope: "boot", lock: false, days: 31, then: "lost" },
    { name: "another host, lock free", scope: "boot", lock: true, host: "b".repeat(64), then: "held" },
    {
      name: "another host, silent for four weeks",
      scope: "boot",
      lock: false,
      host: "b".repeat(64),
      days: 28,
      then: "held",
    },
    {
      name: "another host, silent for a month",
      scope: "boot",
      lock: false,
      host: "b".repeat(64),
      days: 31,
      then: "lost",
    },
  ] as const;

  test.each(rows)("$name: $then, and the stranger lives", async (row) => {
    const stranger = start("sleep", ["1000"]);
    const handle = keep(pin(stranger.pid));
    const reading = handle.read([]);
    const { selfToken } = backend();
    if (!reading.ok || !selfToken.ok) throw new Error("cannot read a process");
    const far = elsewhere[row.scope];
    const owner = { pid: handle.pid, token: far(selfToken.value) };
    const host = "host" in row ? row.host : hostId();
    const gatewayInstanceId = await resolveGatewayInstanceId({ stateDir });
    const store = await createLeaseStore({ stateDir });
    const lease = preparedLease({
      gatewayInstanceId,
      owner: { ...owner, ...(host !== undefined && { host }) },
      startedAt: Date.now() - ("days" in row ? row.days : 0) * DAY_MS,
    });
    await store.create(lease);
    const spawned = { type: "spawned", rootPid: handle.pid, rootToken: far(reading.value.token) } as const;
    await advance(store, lease.leaseId, spawned, lease.startedAt);
    if (row.lock) (await holdOwnerLock(stateDir, owner)).release();

    await using gateway = await gatewayIn([]);
    const report = await gateway.reap();
    expect(report.deaths).toBe(0);
    expect(report.settled.map(({ state }) => state)).toEqual(row.then === "lost" ? ["lost"] : []);
    expect(report.held).toHaveLength(row.then === "held" ? 1 : 0);
    expect(await gateway.status()).toMatchObject(
      row.then === "held"
        ? [{ lease: { leaseId: lease.leaseId }, verdict: { kind: "unknown" }, members: [] }]
        : [],
    );
    expect(isAlive(handle)).toBe(true);
  });
});

test("many look, sweep and start at once: each lease is settled once, and nobody alive is taken for dead", async () => {
  await using living = await gatewayIn(AS_INIT);
  const launched = await living.launch(family, MEMBERS);
  const tree = pinAll(living, launched);
  const gatewayInstanceId = await resolveGatewayInstanceId({ stateDir });
  const store = await createLeaseStore({ stateDir });
  const dead = {
    pid: 4_000_000,
    token: (await leaseOf(launched.leaseId)).owner.token.replace(/pidns=\d+/, "pidns=1"),
  };
  const host = hostId();
  (await holdOwnerLock(stateDir, dead)).release();
  const leases = Array.from({ length: 50 }, () =>
    preparedLease({ gatewayInstanceId, owner: { ...dead, ...(host !== undefined && { host }) } }),
  );
  for (const lease of leases) await store.create(lease);

  await using first = await gatewayIn([]);
  await using second = await gatewayIn([]);
  await using watcher = await gatewayIn(AS_INIT);
  const looks = Array.from({ length: 10 }, () => watcher.status());
  const [one, two, late] = await Promise.all([first.reap(), second.reap(), gatewayIn([]), ...looks]);
  expect(await late.warnings()).toEqual([]);
  await late.kill();
  const again = await second.reap();
  const settled = [one, two, again].flatMap((report) => report.settled.map(({ leaseId }) => leaseId));
  expect(settled.sort()).toEqual(leases.map(({ leaseId }) => leaseId).sort());
  for (const report of [one, two, again]) expect(report).toMatchObject({ deaths: 0, left: [] });
  expect(again.held).toMatchObject([{ leaseId: launched.leaseId }]);
  expect(tree.every(isAlive)).toBe(true);
});
