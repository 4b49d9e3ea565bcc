/** What every lease store does, whatever it is made of. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { AcpxProcessLease, LeaseEvent } from "../../lib/lease.js";
import { advanceLease } from "../../lib/lease.js";
import type { LeaseStore } from "../../lib/lease-store.js";
import { advance } from "../../lib/lease-store.js";
import { CLOSED, CLOSING, LOST, preparedLease, SEEN, SPAWNED, REPORTED } from "./lease-samples.js";

const DAY_MS = 24 * 3600 * 1000;

/** `open` opens one more view of the same leases, as another process would. */
export function leaseStoreSuite(name: string, open: () => Promise<LeaseStore>): void {
  describe(name, () => {
    test("what one has created the other loads and lists", async () => {
      const [store, other] = [await open(), await open()];
      const lease = preparedLease();
      await store.create(lease);
      expect(await other.load(lease.leaseId)).toEqual(lease);
      expect((await other.listOpen()).leases).toContainEqual(lease);
    });

    test("open leases are listed oldest first", async () => {
      const store = await open();
      const leases = [3, 1, 2].map((startedAt) => preparedLease({ startedAt, sessionKey: "ordered" }));
      for (const lease of leases) await store.create(lease);
      const listed = (await store.listOpen()).leases.filter(({ sessionKey }) => sessionKey === "ordered");
      expect(listed.map(({ startedAt }) => startedAt)).toEqual([1, 2, 3]);
    });

    test("nothing is loaded for an id that nobody has, or that is no id", async () => {
      const store = await open();
      expect(await store.load(randomUUID())).toBeUndefined();
      for (const text of ["", ".", "..", "../open", "agent:codex:main", "a\0b"])
        expect(await store.load(text)).toBeUndefined();
    });

    test("an id is taken once, open or ended", async () => {
      const store = await open();
      const lease = await created(store);
      await expect(store.create(lease)).rejects.toMatchObject({ code: "ERR_INVALID_OPTION" });
      await settle(store, lease, LOST);
      await expect(store.create(lease)).rejects.toMatchObject({ code: "ERR_INVALID_OPTION" });
      expect((await store.load(lease.leaseId))?.state).toBe("lost");
    });

    test("half a lease is refused before anything is written", async () => {
      const store = await open();
      const lease = { ...preparedLease(), rootPid: Number.NaN };
      await expect(store.create(lease)).rejects.toMatchObject({ code: "ERR_INVALID_OPTION" });
      expect(await store.load(lease.leaseId)).toBeUndefined();
      const good = await created(store);
      const next = { ...step(good, SPAWNED), sessionKey: "two\nlines" };
      await expect(store.publish(next)).rejects.toMatchObject({ code: "ERR_INVALID_OPTION" });
      expect(await store.load(good.leaseId)).toEqual(good);
    });

    test("of two changes to one revision the second is told", async () => {
      const [store, other] = [await open(), await open()];
      const lease = await created(store);
      expect(await store.publish(step(lease, SPAWNED))).toBe("published");
      expect(await other.publish(step(lease, CLOSING))).toBe("superseded");
      expect(await other.load(lease.leaseId)).toEqual(step(lease, SPAWNED));
    });

    test("no revision is skipped", async () => {
      const store = await open();
      const lease = await created(store);
      expect(await store.publish(step(step(lease, SPAWNED), CLOSING))).toBe("superseded");
      expect(await store.load(lease.leaseId)).toEqual(lease);
    });

    test("an ended lease is no longer listed as open, and takes nothing more", async () => {
      const [store, other] = [await open(), await open()];
      const lease = await created(store);
      const ended = await settle(store, lease, LOST);
      expect((await other.listOpen()).leases).not.toContainEqual(
        expect.objectContaining({ leaseId: lease.leaseId }),
      );
      expect(await other.listEnded()).toContainEqual(ended);
      expect(await other.publish({ ...step(lease, CLOSING), revision: ended.revision + 1 })).toBe(
        "superseded",
      );
      expect(await advance(other, lease.leaseId, SEEN)).toMatchObject({ ok: false, because: "refused" });
      expect(await other.load(lease.leaseId)).toEqual(ended);
    });

    test("a writer that slept while its lease ended and was pruned loses", async () => {
      const [store, sleeper] = [await open(), await open()];
      const lease = await created(store);
      const late = step(lease, SPAWNED);
      const { endedAt = 0 } = await settle(store, lease, LOST);
      await store.prune({ now: endedAt + 1000 * DAY_MS });
      expect(await sleeper.publish(late)).toBe("superseded");
      expect(await store.load(lease.leaseId)).toBeUndefined();
      expect((await store.listOpen()).leases).not.toContainEqual(
        expect.objectContaining({ leaseId: lease.leaseId }),
      );
    });

    test("a writer that slept through three hundred changes loses, and all of them are there", async () => {
      const [store, sleeper] = [await open(), await open()];
      const lease = await created(store);
      await advance(store, lease.leaseId, SPAWNED);
      const late = step(step(lease, SPAWNED), CLOSING);
      await advance(store, lease.leaseId, REPORTED);
      for (let look = 1; look <= 300; look++)
        await advance(store, lease.leaseId, { type: "seen", seenTicks: 5000 + look });
      expect(await sleeper.publish(late)).toBe("superseded");
      expect(await store.load(lease.leaseId)).toMatchObject({
        revision: 303,
        seenTicks: 5300,
        state: "open",
      });
    });

    test("an event for a lease that nobody has is missing, not an error", async () => {
      const store = await open();
      expect(await advance(store, randomUUID(), SEEN)).toMatchObject({ ok: false, because: "missing" });
    });

    test("fifty writers of one lease: every change is in it", async () => {
      const store = await open();
      const lease = await created(store);
      await advance(store, lease.leaseId, SPAWNED);
      await advance(store, lease.leaseId, REPORTED);
      const looks = Array.from(
        { length: 50 },
        (_, look) => ({ type: "seen", seenTicks: 5000 + look }) as const,
      );
      const outcomes = await Promise.all(looks.map((look) => advance(store, lease.leaseId, look)));
      expect(outcomes.every(({ ok }) => ok)).toBe(true);
      expect(await store.load(lease.leaseId)).toMatchObject({ revision: 53, seenTicks: 5049 });
    });

    test("a writer that never wins says so", async () => {
      const store = await open();
      const lease = await created(store);
      const unlucky = { ...store, publish: () => Promise.resolve("superseded" as const) };
      expect(await advance(unlucky, lease.leaseId, SPAWNED)).toMatchObject({
        ok: false,
        because: "contended",
      });
    });

    describe("of the ended ones", () => {
      test("those beyond the age go, the others and all open ones stay", async () => {
        const store = await open();
        await clear(store);
        const running = await created(store);
        const [old, young] = [await created(store), await created(store)];
        await settle(store, old, LOST, DAY_MS);
        await settle(store, young, CLOSED, 5 * DAY_MS);
        expect(await store.prune({ now: 8 * DAY_MS })).toBe(0);
        expect(await store.prune({ now: 8 * DAY_MS + 1 })).toBe(1);
        expect(await store.load(old.leaseId)).toBeUndefined();
        expect((await store.load(young.leaseId))?.state).toBe("closed");
        expect(await store.load(running.leaseId)).toEqual(running);
      });

      test("those beyond the number go, oldest end first", async () => {
        const store = await open();
        await clear(store);
        for (const endedAt of [30, 10, 40, 20]) await settle(store, await created(store), LOST, endedAt);
        expect(await store.prune({ now: 50, maxEnded: 2 })).toBe(2);
        expect((await store.listEnded()).map(({ endedAt }) => endedAt)).toEqual([30, 40]);
      });

      test("those that ended in the future, by a clock since set back, stay", async () => {
        const store = await open();
        await clear(store);
        await settle(store, await created(store), LOST, 900 * DAY_MS);
        expect(await store.prune({ now: DAY_MS })).toBe(0);
        expect(await store.listEnded()).toHaveLength(1);
      });

      test.each(["now", "maxAgeMs", "maxEnded"])("none goes by a %s that is no number", async (limit) => {
        const store = await open();
        await clear(store);
        await settle(store, await created(store), LOST, 1);
        await expect(store.prune({ [limit]: Number.NaN })).rejects.toThrow(`${limit} must be a number`);
        expect(await store.listEnded()).toHaveLength(1);
      });
    });
  });
}

async function created(store: LeaseStore): Promise<AcpxProcessLease> {
  const lease = preparedLease();
  await store.create(lease);
  return lease;
}

function step(lease: AcpxProcessLease, event: LeaseEvent, now = 60): AcpxProcessLease {
  const next = advanceLease(lease, event, now);
  if (!next.ok) throw new Error(next.because);
  return next.lease;
}

async function settle(store: LeaseStore, { leaseId }: AcpxProcessLease, end: LeaseEvent, now = 70) {
  if (end === CLOSED) await advance(store, leaseId, SPAWNED, now);
  const ended = await advance(store, leaseId, end, now);
  if (!ended.ok) throw new Error(ended.detail);
  return ended.lease;
}

async function clear(store: LeaseStore): Promise<void> {
  await store.prune({ maxEnded: 0 });
}
