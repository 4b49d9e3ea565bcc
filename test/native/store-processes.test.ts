import { mkdtempSync, rmSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AcpxProcessLease, LeaseEvent } from "../../lib/lease.js";
import { advanceLease } from "../../lib/lease.js";
import { unpackLease } from "../../lib/lease-format.js";
import { advance, createLeaseStore, type LeaseStore } from "../../lib/lease-store.js";
import { exit } from "../helpers/child.js";
import { CLOSED, LOST, preparedLease, REPORTED, SEEN, SPAWNED } from "../helpers/lease-samples.js";
import { startLeaseWorker } from "../helpers/lease-worker.js";

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "acpx-store-processes-"));
});
afterEach(() => {
  rmSync(stateDir, { recursive: true });
});

function fieldsOf(lease: AcpxProcessLease): object {
  const { leaseId, gatewayInstanceId, sessionKey, wrapperRoot, wrapperPath, ...rest } = lease;
  const { commandHash, startedAt, launch, launchId, owner } = rest;
  const where = { leaseId, gatewayInstanceId, sessionKey, wrapperRoot, wrapperPath };
  return { ...where, commandHash, startedAt, launch, launchId, owner };
}

async function filesBelow(directory: string) {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.map((entry) => ({
    path: join(entry.parentPath, entry.name),
    directory: entry.isDirectory(),
  }));
}

describe("four processes, each opening and closing fifty leases at once in one state directory", () => {
  test.each(["002", "000"])(
    "under umask %s: none is lost, every file parses and is private",
    async (umask) => {
      const workers = await Promise.all(Array.from({ length: 4 }, () => startLeaseWorker(stateDir, umask)));
      const leases = workers.map(() => Array.from({ length: 50 }, () => preparedLease()));
      const outcomes = await Promise.all(
        workers.map((worker, index) =>
          worker.ask({ command: "cycle", fields: leases[index]?.map(fieldsOf) }),
        ),
      );
      expect(outcomes.flat()).toEqual(Array.from({ length: 200 }, () => "closed"));

      const store = await createLeaseStore({ stateDir });
      const ended = await store.listEnded();
      const ids = (list: readonly AcpxProcessLease[]) => list.map(({ leaseId }) => leaseId).sort();
      expect(ids(ended)).toEqual(ids(leases.flat()));
      expect(new Set(ended.map(({ state, revision }) => `${state} ${revision}`))).toEqual(
        new Set(["closed 4"]),
      );
      expect(await store.listOpen()).toEqual({ leases: [], setAside: [], newer: [], unreadable: [] });

      const files = await filesBelow(stateDir);
      expect(files.filter(({ path }) => path.endsWith(".json"))).toHaveLength(4 * 200);
      for (const { path, directory } of files) {
        expect([path, (await stat(path)).mode & 0o7777]).toEqual([path, directory ? 0o700 : 0o600]);
        if (!directory) expect([path, unpackLease(await readFile(path, "utf8")).ok]).toEqual([path, true]);
      }
    },
  );
});

describe("one process reports while another ends the same thousand leases", () => {
  test("nothing reappears after it has ended", async () => {
    const store = await createLeaseStore({ stateDir });
    const leases = Array.from({ length: 1000 }, () => preparedLease());
    const leaseIds = leases.map(({ leaseId }) => leaseId);
    await Promise.all(leases.map((lease) => store.create(lease)));
    for (const event of [SPAWNED, REPORTED])
      await Promise.all(leaseIds.map((leaseId) => advance(store, leaseId, event)));

    // From both ends, and one following the other: early, late and at the same time.
    const [reporter, closing, losing] = await Promise.all([1, 2, 3].map(() => startLeaseWorker(stateDir)));
    const backwards = leaseIds.toReversed();
    const [seen, closed, lost] = await Promise.all([
      reporter?.ask({ command: "advanceAll", leaseIds, event: SEEN }),
      closing?.ask({ command: "advanceAll", leaseIds, event: CLOSED }),
      losing?.ask({ command: "advanceAll", leaseIds: backwards, event: LOST }),
    ]);
    expect(Number(closed) + Number(lost)).toBe(1000);
    expect(Number(seen)).toBeGreaterThan(0);

    expect(await readdir(join(stateDir, "leases", "open"))).toEqual([]);
    expect((await store.listEnded()).map(({ leaseId }) => leaseId).sort()).toEqual(leaseIds.toSorted());
    expect(await reporter?.ask({ command: "advanceAll", leaseIds, event: SEEN })).toBe(0);
    expect((await store.listOpen()).leases).toEqual([]);
    expect(await readdir(join(stateDir, "leases", "tmp"))).toEqual([]);
  });
});

function after(lease: AcpxProcessLease, event: LeaseEvent): AcpxProcessLease {
  const next = advanceLease(lease, event, 60);
  if (!next.ok) throw new Error(next.because);
  return next.lease;
}

/** A lease with an adapter, and the process that is about to publish its next revision. */
async function slowWriter(store: LeaseStore, event: LeaseEvent, call: "link" | "rename") {
  const prepared = preparedLease();
  const lease = after(after(prepared, SPAWNED), REPORTED);
  await store.create(prepared);
  await advance(store, lease.leaseId, SPAWNED, 60);
  await advance(store, lease.leaseId, REPORTED, 60);
  const writer = await startLeaseWorker(stateDir);
  const said = await writer.ask({ command: "publishSlowly", lease: after(lease, event), call });
  expect(said).toBe(`about to ${call}`);
  return { writer, lease };
}

describe("a writer that is stopped right before its link", () => {
  const generations: {
    name: string;
    pass: (store: LeaseStore, leaseId: string) => Promise<unknown>;
    then: "published" | "superseded";
  }[] = [
    { name: "nobody came", pass: () => Promise.resolve(), then: "published" },
    {
      name: "one other change came",
      pass: (store, leaseId) => advance(store, leaseId, SEEN),
      then: "superseded",
    },
    {
      name: "so many came that its own revision has been removed",
      async pass(store, leaseId) {
        for (let change = 0; change < 300; change++) await advance(store, leaseId, SEEN);
        const names = await readdir(join(stateDir, "leases", "open", leaseId));
        expect(names).not.toContain("4.json");
      },
      then: "superseded",
    },
    {
      name: "the lease ended",
      pass: (store, leaseId) => advance(store, leaseId, LOST),
      then: "superseded",
    },
    {
      name: "the lease ended and was pruned",
      async pass(store, leaseId) {
        await advance(store, leaseId, LOST);
        expect(await store.prune({ maxEnded: 0 })).toBe(1);
      },
      then: "superseded",
    },
  ];

  test.each(generations)("meanwhile $name: $then", async ({ pass, then }) => {
    const store = await createLeaseStore({ stateDir });
    const { writer, lease } = await slowWriter(store, SEEN, "link");
    // Stopped before it may go on, so that it goes on only when it is continued.
    writer.child.kill("SIGSTOP");
    writer.proceed();
    await pass(store, lease.leaseId);
    const before = [await store.load(lease.leaseId), await store.listOpen(), await store.listEnded()];
    writer.child.kill("SIGCONT");
    expect(await writer.answer()).toBe(then);
    const now = [await store.load(lease.leaseId), await store.listOpen(), await store.listEnded()];
    if (then === "published") expect(now[0]).toEqual(after(lease, SEEN));
    else expect(now).toEqual(before);
    expect(await readdir(join(stateDir, "leases", "tmp"))).toEqual([]);
  });
});

describe("a writer that is killed while it ends a lease", () => {
  test("before the terminal revision: the lease is open, and the next one ends it", async () => {
    const store = await createLeaseStore({ stateDir });
    const { writer, lease } = await slowWriter(store, LOST, "link");
    // While it waits: with the end of its input it would go on.
    writer.child.kill("SIGKILL");
    await exit(writer.child);
    expect((await store.listOpen()).leases).toEqual([lease]);
    expect(await advance(store, lease.leaseId, LOST)).toMatchObject({ ok: true });
    expect(await readdir(join(stateDir, "leases", "tmp"))).toHaveLength(1);
    await store.prune({ now: Date.now() + 2 * 3600 * 1000 });
    expect(await readdir(join(stateDir, "leases", "tmp"))).toEqual([]);
  });

  test("between the terminal revision and the move: the lease has ended, and whoever lists moves it", async () => {
    const store = await createLeaseStore({ stateDir });
    const { writer, lease } = await slowWriter(store, LOST, "rename");
    // While it waits: with the end of its input it would go on.
    writer.child.kill("SIGKILL");
    await exit(writer.child);
    expect(await readdir(join(stateDir, "leases", "open"))).toEqual([lease.leaseId]);
    expect(await store.load(lease.leaseId)).toMatchObject({ state: "lost" });
    expect(await advance(store, lease.leaseId, SEEN)).toMatchObject({ ok: false, because: "refused" });
    expect((await store.listOpen()).leases).toEqual([]);
    expect(await readdir(join(stateDir, "leases", "open"))).toEqual([]);
    expect(await store.listEnded()).toMatchObject([{ leaseId: lease.leaseId, state: "lost" }]);
  });
});

test("eight processes that ask first at the same moment are given one instance id per directory", async () => {
  const workers = await Promise.all(Array.from({ length: 8 }, () => startLeaseWorker(stateDir)));
  const stateDirs = Array.from({ length: 25 }, (_, index) => join(stateDir, `installation ${index}`));
  const answers = await Promise.all(workers.map((worker) => worker.ask({ command: "instance", stateDirs })));
  expect(new Set(answers.map((ids) => JSON.stringify(ids))).size).toBe(1);
  expect(new Set(answers[0] as string[]).size).toBe(25);
});
