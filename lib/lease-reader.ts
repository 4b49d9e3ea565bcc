/**
 * Leases as they lie there, for whoever only looks: nothing is moved, set aside, finished or created.
 */
import { LifecycleError } from "./errors.js";
import { readAll, readLatest, type Found } from "./lease-files.js";
import { hasEnded, type AcpxProcessLease } from "./lease.js";
import { byEnd } from "./lease-retention.js";
import type { LeaseStore } from "./lease-store.js";
import type { StateDir } from "./state-dir.js";
import { errnoOf } from "./state-file.js";

/** A store that refuses every change; `setAside` names what a sweep would set aside. */
export function leaseReader({ leases: dirs }: Pick<StateDir, "leases">): LeaseStore {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new LifecycleError("ERR_INVALID_OPTION", "These leases were opened to look at them only."),
    );
  return {
    create: refuse,
    publish: refuse,
    prune: () => Promise.resolve(0),
    load: async (leaseId) => {
      for (const parent of [dirs.open, dirs.ended]) {
        const found = await readLatest(parent, leaseId);
        if (found.kind === "lease") return found.lease;
      }
      return undefined;
    },
    listOpen: async () => {
      const found = await read(dirs.open);
      const idsOf = (kind: Found["kind"]) => found.filter(([, one]) => one.kind === kind).map(([id]) => id);
      const leases = leasesIn(found).filter((lease) => !hasEnded(lease));
      leases.sort((a, b) => a.startedAt - b.startedAt);
      return {
        leases,
        setAside: idsOf("damaged"),
        newer: idsOf("newer"),
        unreadable: idsOf("unreadable"),
      };
    },
    listEnded: async () => {
      // Its directory may not have been moved yet.
      const all = [...(await read(dirs.open)), ...(await read(dirs.ended))];
      return leasesIn(all).filter(hasEnded).sort(byEnd);
    },
  };
}

type Listing = Awaited<ReturnType<typeof readAll>>;

async function read(parent: string): Promise<Listing> {
  try {
    return await readAll(parent);
  } catch (error) {
    if (error instanceof LifecycleError && errnoOf(error.cause) === "ENOENT") return [];
    throw error;
  }
}

function leasesIn(found: Listing): AcpxProcessLease[] {
  return found.flatMap(([, one]) => (one.kind === "lease" ? [one.lease] : []));
}
