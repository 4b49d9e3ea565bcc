import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { createKeyedLeaseStore, type KeyedStore } from "../../lib/keyed-lease-store.js";
import { packLease } from "../../lib/lease-format.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import { advanceLease } from "../../lib/lease.js";
import { advance } from "../../lib/lease-store.js";
import { LOST, preparedLease, SPAWNED } from "../helpers/lease-samples.js";
import { leaseStoreSuite } from "../helpers/lease-store-suite.js";

/** A host's store as simple as one can be; every call gives others a turn, as a real one would. */
function hostStore(values = new Map<string, string>()) {
  const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));
  const store = {
    values,
    async register(key: string, value: string) {
      await turn();
      values.set(key, value);
    },
    async lookup(key: string) {
      await turn();
      return values.get(key);
    },
    async delete(key: string) {
      await turn();
      return values.delete(key);
    },
    async entries() {
      await turn();
      return [...values].map(([key, value]) => ({ key, value }));
    },
  };
  return store satisfies KeyedStore;
}

function comparingHostStore(values = new Map<string, string>()) {
  return {
    ...hostStore(values),
    compareAndApply(key: string, expected: string | undefined, next: string) {
      const equal = values.get(key) === expected;
      if (equal) values.set(key, next);
      return Promise.resolve(equal);
    },
  } satisfies KeyedStore;
}

const shared = comparingHostStore();
leaseStoreSuite("leases in a host's store that compares and applies", () =>
  Promise.resolve(createKeyedLeaseStore(shared)),
);

const sole = hostStore();
leaseStoreSuite("leases in the store of a host of one process", () =>
  Promise.resolve(createKeyedLeaseStore(sole, { soleProcess: true })),
);

async function prepared(host: KeyedStore, changes: Partial<AcpxProcessLease> = {}) {
  const lease = preparedLease(changes);
  await createKeyedLeaseStore(host, { soleProcess: true }).create(lease);
  return lease;
}

function spawned(lease: AcpxProcessLease): AcpxProcessLease {
  const next = advanceLease(lease, SPAWNED, 60);
  if (!next.ok) throw new Error(next.because);
  return next.lease;
}

describe("a host's store without compare-and-apply", () => {
  test("is refused unless the host promises to be its only process", () => {
    expect(() => createKeyedLeaseStore(hostStore())).toThrow(/no compareAndApply.*soleProcess: true/);
    expect(() => createKeyedLeaseStore(hostStore(), { soleProcess: true })).not.toThrow();
  });

  test("why it is refused: two processes may both believe that they were first", async () => {
    const values = new Map<string, string>();
    // Two objects on the same entries: to each its own queue, as to two processes.
    const stores = [hostStore(values), hostStore(values)].map((host) =>
      createKeyedLeaseStore(host, { soleProcess: true }),
    );
    const lease = await prepared(hostStore(values));
    const outcomes = await Promise.all(stores.map((store) => store.publish(spawned(lease))));
    expect(outcomes).toEqual(["published", "published"]);
  });

  test("a change that fails does not hold up the next one", async () => {
    const host = hostStore();
    const store = createKeyedLeaseStore(host, { soleProcess: true });
    const lease = await prepared(host);
    vi.spyOn(host, "register").mockRejectedValueOnce(new Error("busy"));
    await expect(store.publish(spawned(lease))).rejects.toMatchObject({ code: "ERR_STATE_DIR" });
    expect(await store.publish(spawned(lease))).toBe("published");
  });
});

describe("entries that are not whole leases", () => {
  const broken = [
    { name: "an empty value", of: () => "" },
    { name: "a torn value", of: (lease: AcpxProcessLease) => packLease(lease).slice(0, 100) },
    { name: "the value of another lease", of: () => packLease(preparedLease()) },
    { name: "a value that is no text", of: () => ({ leaseId: 1 }) as unknown as string },
  ];

  test.each(broken)("$name is set aside, the others listed, and removed with the old", async ({ of }) => {
    const host = comparingHostStore();
    const store = createKeyedLeaseStore(host);
    const [good, bad] = [await prepared(host), await prepared(host)];
    host.values.set(`lease/${bad.leaseId}`, of(bad));
    expect(await store.load(bad.leaseId)).toBeUndefined();
    expect(await store.listOpen()).toEqual({
      leases: [good],
      setAside: [bad.leaseId],
      newer: [],
      unreadable: [],
    });
    expect(await store.listOpen()).toMatchObject({ leases: [good], setAside: [] });
    expect([...host.values.keys()].sort()).toEqual([`damaged/${bad.leaseId}`, `lease/${good.leaseId}`]);
    await store.prune();
    expect(host.values.has(`damaged/${bad.leaseId}`)).toBe(true);
    await store.prune({ now: Date.now() + 8 * 24 * 3600 * 1000 });
    expect([...host.values.keys()]).toEqual([`lease/${good.leaseId}`]);
  });

  test("a newer schema is left alone and named; keys that are not ours are never touched", async () => {
    const host = comparingHostStore();
    const store = createKeyedLeaseStore(host);
    const lease = await prepared(host);
    host.values.set(
      `lease/${lease.leaseId}`,
      packLease(lease).replace("process-lease.v1", "process-lease.v2"),
    );
    const foreign = { "lease/notes": "x", [randomUUID()]: "y", "damaged/z": "not ours" };
    for (const [key, value] of Object.entries(foreign)) host.values.set(key, value);
    const before = new Map(host.values);
    expect(await store.listOpen()).toEqual({
      leases: [],
      setAside: [],
      newer: [lease.leaseId],
      unreadable: [],
    });
    await store.prune({ now: 8.64e15, maxAgeMs: 0, maxEnded: 0 });
    expect(host.values).toEqual(before);
    expect(await advance(store, lease.leaseId, SPAWNED)).toMatchObject({ ok: false, because: "missing" });
  });
});

describe("a host's store that fails", () => {
  const calls = ["register", "lookup", "delete", "entries", "compareAndApply"] as const;
  const verbs = ["create", "publish", "load", "listOpen", "listEnded", "prune"] as const;

  test.each(calls)("in %s: its error is the cause of a typed one, and no lease is lost", async (call) => {
    const host = comparingHostStore();
    const store = createKeyedLeaseStore(host);
    const [open, ended, damaged] = [await prepared(host), await prepared(host), await prepared(host)];
    await advance(store, ended.leaseId, LOST);
    host.values.set(`lease/${damaged.leaseId}`, "");
    const cause = new Error("database is locked");
    const failing = createKeyedLeaseStore({ ...host, [call]: () => Promise.reject(cause) });
    const uses = {
      create: () => failing.create(preparedLease()),
      publish: () => failing.publish(spawned(open)),
      load: () => failing.load(open.leaseId),
      listOpen: () => failing.listOpen(),
      listEnded: () => failing.listEnded(),
      prune: () => failing.prune({ maxEnded: 0 }),
    };
    let failures = 0;
    for (const verb of verbs) {
      try {
        await uses[verb]();
      } catch (error) {
        failures++;
        expect(error).toMatchObject({ code: "ERR_STATE_DIR", cause });
        expect((error as Error).message).toContain("database is locked");
      }
    }
    expect(failures).toBeGreaterThan(0);
    expect(await store.load(open.leaseId)).toMatchObject({ state: "open" });
    expect((await store.listOpen()).leases.map(({ leaseId }) => leaseId)).toContain(open.leaseId);
  });
});
