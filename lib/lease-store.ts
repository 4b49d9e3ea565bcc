/**
 * Leases on disk: one directory per lease, one file per revision, published by `link` so that exactly one
 * writer gets each revision. No lock, nothing lost, nothing resurrected.
 */
import type { AcpxProcessLease, LeaseEvent } from "./lease.js";
import { advanceLease } from "./lease.js";

export interface OpenLeases {
  readonly leases: readonly AcpxProcessLease[];
  /** Lease ids whose files were damaged; moved to leases/damaged/. */
  readonly setAside: readonly string[];
  /** Lease ids written by a newer version of this package; left alone. */
  readonly newer: readonly string[];
  /** Lease ids that could not be looked at (permissions, I/O errors); left alone. */
  readonly unreadable: readonly string[];
}

export interface PruneOptions {
  /** Epoch milliseconds; default: a clock that never runs ahead of the monotonic one. */
  readonly now?: number;
  /** Default 7 days. */
  readonly maxAgeMs?: number;
  /** Default 1,000. */
  readonly maxEnded?: number;
}

/** What the lifecycle needs of a store; a host's keyed store with compare-and-apply can serve it too. */
export interface LeaseStore {
  /** Publishes revision 1. Throws LifecycleError: ERR_STATE_DIR (disk), ERR_INVALID_OPTION (not a whole new lease). */
  create(lease: AcpxProcessLease): Promise<void>;
  /** Compare-and-set: the published revision must be `next.revision - 1` and not ended. */
  publish(next: AcpxProcessLease): Promise<"published" | "superseded">;
  /** Open or ended; undefined when there is none, or none that this version can read. */
  load(leaseId: string): Promise<AcpxProcessLease | undefined>;
  listOpen(): Promise<OpenLeases>;
  listEnded(): Promise<readonly AcpxProcessLease[]>;
  /** Removes ended leases beyond age or number; how many. */
  prune(options?: PruneOptions): Promise<number>;
}

export type AdvanceOutcome =
  | { readonly ok: true; readonly lease: AcpxProcessLease }
  | { readonly ok: false; readonly because: "missing" | "refused" | "contended"; readonly detail: string };

/** Every lost race means that another writer made progress, so this many losses in a row are no accident. */
const ATTEMPTS = 100;

/** Loads, applies one event, publishes; again when somebody else was first. `now`: epoch milliseconds. */
export async function advance(
  store: LeaseStore,
  leaseId: string,
  event: LeaseEvent,
  now: number = Date.now(),
): Promise<AdvanceOutcome> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const current = await store.load(leaseId);
    if (!current) return { ok: false, because: "missing", detail: `there is no lease ${leaseId}` };
    const next = advanceLease(current, event, now);
    if (!next.ok) return { ok: false, because: "refused", detail: next.because };
    if ((await store.publish(next.lease)) === "published") return { ok: true, lease: next.lease };
  }
  return { ok: false, because: "contended", detail: `lease ${leaseId} changed ${ATTEMPTS} times meanwhile` };
}

export declare function createLeaseStore(options: { readonly stateDir: string }): Promise<LeaseStore>;
