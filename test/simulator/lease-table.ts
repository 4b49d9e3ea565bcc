/**
 * A lease store in memory: what the gateways of one state directory share, and one view of it for each. It keeps
 * every revision that was ever published, so that a test can look back.
 */
import { LifecycleError } from "../../lib/errors.js";
import { hasEnded, type AcpxProcessLease } from "../../lib/lease.js";
import { packLease, unpackLease } from "../../lib/lease-format.js";
import type { LeaseStore } from "../../lib/lease-store.js";

const WEEK_MS = 7 * 24 * 3600 * 1000;

export class LeaseTable {
  readonly leases = new Map<string, AcpxProcessLease>();
  /** Everything that was published, in order. */
  readonly history: AcpxProcessLease[] = [];

  publish(lease: AcpxProcessLease): void {
    this.leases.set(lease.leaseId, lease);
    this.history.push(lease);
  }

  all(): AcpxProcessLease[] {
    return [...this.leases.values()];
  }

  open(): AcpxProcessLease[] {
    return this.all()
      .filter((lease) => !hasEnded(lease))
      .sort((a, b) => a.startedAt - b.startedAt);
  }
}

/** Around each operation: may throw instead of it, or never settle. */
export type Access = <T>(verb: keyof LeaseStore, operation: () => T) => Promise<T>;

export const unhindered: Access = (_, operation) => Promise.resolve().then(operation);

export function leaseStoreOver(table: LeaseTable, access: Access = unhindered): LeaseStore {
  const ended = () =>
    table
      .all()
      .filter(hasEnded)
      .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
  return {
    create: (lease) =>
      access("create", () => {
        requireWhole(lease);
        if (lease.revision !== 1 || table.leases.has(lease.leaseId))
          throw misuse(`lease ${lease.leaseId} is not a new one`);
        table.publish(lease);
      }),
    publish: (next) =>
      access("publish", () => {
        requireWhole(next);
        const current = table.leases.get(next.leaseId);
        if (current === undefined || hasEnded(current) || current.revision !== next.revision - 1)
          return "superseded";
        table.publish(next);
        return "published";
      }),
    load: (leaseId) => access("load", () => table.leases.get(leaseId)),
    listOpen: () =>
      access("listOpen", () => ({ leases: table.open(), setAside: [], newer: [], unreadable: [] })),
    listEnded: () => access("listEnded", ended),
    prune: ({ now = Date.now(), maxAgeMs = WEEK_MS, maxEnded = 1000 } = {}) =>
      access("prune", () => {
        for (const [name, limit] of Object.entries({ now, maxAgeMs, maxEnded }))
          if (Number.isNaN(limit)) throw misuse(`${name} must be a number`);
        const all = ended();
        const old = all.filter(
          ({ endedAt = 0 }, index) => index < all.length - maxEnded || now - endedAt > maxAgeMs,
        );
        for (const { leaseId } of old) table.leases.delete(leaseId);
        return old.length;
      }),
  };
}

function requireWhole(lease: AcpxProcessLease): void {
  const unpacked = unpackLease(packLease(lease));
  if (!unpacked.ok) throw misuse(`this is no whole lease: ${unpacked.detail}`);
}

function misuse(message: string): LifecycleError {
  return new LifecycleError("ERR_INVALID_OPTION", message);
}
