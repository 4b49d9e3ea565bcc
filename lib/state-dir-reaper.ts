/**
 * The sweep of one state directory: who counts as dead, how sweeps exclude each other, and what is tidied up after
 * them, all by the files in it.
 */
import { startNumber } from "./identity.js";
import * as addon from "./native.js";
import { lookAtOwner, removeDeadOwnerLocks, withSweepLock } from "./owner-lock.js";
import type { LeaseOwner } from "./owner-liveness.js";
import { Reaper } from "./reaper.js";
import type { SettleContext } from "./settle.js";
import type { StateDir } from "./state-dir.js";
import type { WrapperPort } from "./wrapper-port.js";

export interface StateDirReaperContext extends SettleContext {
  readonly wrapper: Pick<WrapperPort, "detached" | "sweep">;
  /** Who sweeps. */
  readonly owner: LeaseOwner;
  /** Hears of a living gateway that uses another copy of this directory. */
  readonly warn: (message: string) => void;
}

export function reaperOf({ path }: StateDir, context: StateDirReaperContext): Reaper {
  const { owner, store, wrapper, warn } = context;
  return new Reaper({
    ...context,
    livenessOf: async (lease) => {
      const liveness = await lookAtOwner(path, lease, owner);
      if (liveness.kind === "alive" && liveness.copied) warn(liveness.because);
      return liveness;
    },
    alone: (sweep) => withSweepLock(path, sweep),
    tidy: async () => {
      const { leases } = await store.listOpen();
      await removeDeadOwnerLocks(path, [owner, ...leases.map((lease) => lease.owner)]);
      await wrapper.sweep(({ pid, ticks }) => !runsSince(pid, ticks));
    },
  });
}

/**
 * Whether a process of that number and start number is alive here. A zombie is not, however long it stays: a container's
 * first process may never wait for the orphans that it inherits.
 */
function runsSince(pid: number, ticks: number): boolean {
  const opened = addon.open(pid);
  if (!opened.ok) return opened.reason !== "gone";
  const reading = opened.value.read([]);
  opened.value.close();
  if (!reading.ok) return reading.reason !== "gone";
  return startNumber(reading.value.token) === ticks;
}
