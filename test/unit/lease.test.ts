import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AcpxProcessLease, LeaseEvent } from "../../lib/lease.js";
import { advanceLease, hasEnded } from "../../lib/lease.js";
import { packLease, unpackLease } from "../../lib/lease-format.js";
import { leaseEvents, prepared } from "../cases/lease-events.js";
import { CLOSED, CLOSING, LOST, REPORTED, SEEN, SPAWNED } from "../helpers/lease-samples.js";

function after(events: readonly LeaseEvent[]): AcpxProcessLease {
  return events.reduce((lease, event) => {
    const next = advanceLease(lease, event, 50);
    if (!next.ok) throw new Error(next.because);
    return next.lease;
  }, prepared);
}

describe("an event", () => {
  test.each(leaseEvents)("$name", ({ before, event, then }) => {
    const lease = after(before);
    const next = advanceLease(lease, event, 77);
    if (then instanceof RegExp) {
      expect(next).toEqual({ ok: false, because: expect.stringMatching(then) as string });
    } else {
      expect(next.ok && next.lease).toMatchObject({ ...then, revision: lease.revision + 1, updatedAt: 77 });
    }
  });
});

describe("whatever happens in whatever order", () => {
  const events = fc.array(fc.constantFrom(SPAWNED, REPORTED, SEEN, CLOSING, CLOSED, LOST), { maxLength: 12 });

  test("a lease ends at most once, keeps its identity and can be read back at every step", () => {
    fc.assert(
      fc.property(events, (happening) => {
        let lease = prepared;
        let ends = 0;
        for (const event of happening) {
          const next = advanceLease(lease, event, lease.updatedAt + 1);
          if (!next.ok) continue;
          ends += Number(hasEnded(next.lease));
          expect(next.lease.revision).toBe(lease.revision + 1);
          expect(next.lease.owner).toBe(prepared.owner);
          expect(unpackLease(packLease(next.lease))).toEqual({ ok: true, lease: next.lease });
          lease = next.lease;
        }
        expect(ends).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("any reason leaves a lease that can be read back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 1200 }), fc.string(), (reason, more) => {
        const next = advanceLease(prepared, { type: "closing", reason: reason + more }, 60);
        expect(next.ok && unpackLease(packLease(next.lease))).toEqual({
          ok: true,
          lease: next.ok && next.lease,
        });
      }),
    );
  });
});
