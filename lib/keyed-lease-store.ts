/**
 * Leases in a host's own keyed store: one entry per lease, changed only by compare-and-apply.
 */
import { cautiousNow } from "./cautious-clock.js";
import { LifecycleError } from "./errors.js";
import { isUuid, packWholeLease, unpackLease } from "./lease-format.js";
import type { AcpxProcessLease } from "./lease.js";
import { hasEnded } from "./lease.js";
import { beyondRetention, byEnd, type RetentionLimits, WEEK_MS } from "./lease-retention.js";
import { comparing, type ComparingStore, type KeyedStore } from "./keyed-store.js";
import type { LeaseStore, OpenLeases } from "./lease-store.js";

export type { KeyedStore } from "./keyed-store.js";

export interface KeyedLeaseStoreOptions {
  /**
   * The host's promise that no two processes ever use the store at the same time; needed where the store has no
   * `compareAndApply`. Were it broken, a change could be lost, and an ended lease be listed as open until the next
   * sweep. Nobody would be signalled wrongly, because proof comes from the kernel and never from the store, but a
   * process could go on running that no lease names.
   */
  readonly soleProcess?: boolean;
}

const LEASE = "lease/";
const DAMAGED = "damaged/";

/** Hosts limit the entries of one store, often to 1,000; open leases need room too. */
const MAX_ENDED = 500;

type Entry =
  | { readonly kind: "lease"; readonly lease: AcpxProcessLease; readonly text: string }
  | { readonly kind: "absent" | "damaged" | "newer-schema" };

/**
 * A lease store on a host's keyed store. Its keys begin with `lease/` and `damaged/`; all others are left alone.
 * Throws LifecycleError ERR_INVALID_OPTION if the store can neither compare and apply nor belongs to one process;
 * its methods throw ERR_STATE_DIR with the host's own error as cause.
 */
export function createKeyedLeaseStore(
  keyed: KeyedStore,
  { soleProcess = false }: KeyedLeaseStoreOptions = {},
): LeaseStore {
  const host = comparing(keyed, soleProcess);
  const entryOf = async (leaseId: string): Promise<Entry> =>
    isUuid(leaseId) ? entryFrom(leaseId, await host.lookup(LEASE + leaseId)) : { kind: "absent" };

  /** Every lease by id; damaged ones too. */
  async function all(): Promise<readonly (readonly [leaseId: string, text: string, entry: Entry])[]> {
    const entries = await host.entries();
    return entries
      .filter(({ key }) => key.startsWith(LEASE) && isUuid(key.slice(LEASE.length)))
      .map(({ key, value }) => {
        const leaseId = key.slice(LEASE.length);
        return [leaseId, value, entryFrom(leaseId, value)];
      });
  }

  async function listEnded(): Promise<readonly AcpxProcessLease[]> {
    const leases = (await all()).flatMap(([, , entry]) => (entry.kind === "lease" ? [entry.lease] : []));
    return leases.filter(hasEnded).sort(byEnd);
  }

  return {
    async create(lease) {
      const text = packWholeLease(lease);
      const { leaseId } = lease;
      if (lease.revision !== 1 || hasEnded(lease)) throw misuse(`lease ${leaseId} is not a new one`);
      if (!(await host.compareAndApply(LEASE + leaseId, undefined, text)))
        throw misuse(`lease ${leaseId} exists: take a new id`);
    },

    async publish(next) {
      const text = packWholeLease(next);
      const { leaseId, revision } = next;
      if (revision < 2) throw misuse(`lease ${leaseId} is new: create it`);
      const previous = await entryOf(leaseId);
      if (previous.kind !== "lease" || previous.lease.revision !== revision - 1 || hasEnded(previous.lease))
        return "superseded";
      return (await host.compareAndApply(LEASE + leaseId, previous.text, text)) ? "published" : "superseded";
    },

    async load(leaseId) {
      const entry = await entryOf(leaseId);
      return entry.kind === "lease" ? entry.lease : undefined;
    },

    async listOpen() {
      const leases: AcpxProcessLease[] = [];
      const ids = { setAside: [] as string[], newer: [] as string[], unreadable: [] as string[] };
      for (const [leaseId, text, entry] of await all()) {
        if (entry.kind === "lease" && !hasEnded(entry.lease)) leases.push(entry.lease);
        if (entry.kind === "newer-schema") ids.newer.push(leaseId);
        if (entry.kind === "damaged") {
          await setAside(host, leaseId, text);
          ids.setAside.push(leaseId);
        }
      }
      return { leases: leases.sort((a, b) => a.startedAt - b.startedAt), ...ids } satisfies OpenLeases;
    },

    listEnded,

    async prune({ now = cautiousNow(), maxAgeMs = WEEK_MS, maxEnded = MAX_ENDED } = {}) {
      const limits: RetentionLimits = { now, maxAgeMs, maxEnded };
      const beyond = beyondRetention(await listEnded(), limits);
      // An ended lease never changes any more, so there is nothing to compare.
      for (const { leaseId } of beyond) await host.delete(LEASE + leaseId);
      await removeSetAside(host, now - maxAgeMs);
      return beyond.length;
    },
  };
}

function entryFrom(leaseId: string, text: string | undefined): Entry {
  if (text === undefined) return { kind: "absent" };
  if (typeof text !== "string") return { kind: "damaged" };
  const unpacked = unpackLease(text);
  if (!unpacked.ok) return { kind: unpacked.reason };
  // A value copied under another key would speak for a lease that is not its own.
  return unpacked.lease.leaseId === leaseId
    ? { kind: "lease", lease: unpacked.lease, text }
    : { kind: "damaged" };
}

/** Kept under a key that is read by people only, with the time since when it has been there. */
async function setAside(host: ComparingStore, leaseId: string, text: string): Promise<void> {
  await host.register(DAMAGED + leaseId, JSON.stringify({ setAsideAt: cautiousNow(), text }));
  await host.delete(LEASE + leaseId);
}

async function removeSetAside(host: ComparingStore, before: number): Promise<void> {
  for (const { key, value } of await host.entries()) {
    const time = /^\{"setAsideAt":(\d+)/.exec(value)?.[1];
    if (key.startsWith(DAMAGED) && time !== undefined && Number(time) < before) await host.delete(key);
  }
}

const misuse = (message: string): LifecycleError => new LifecycleError("ERR_INVALID_OPTION", message);
