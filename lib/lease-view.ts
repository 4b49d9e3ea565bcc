/**
 * A state directory seen from outside: by somebody who is no gateway, holds no owner lock, launches nothing, and
 * leaves everything as it is, until asked to sweep.
 */
import { realpathSync } from "node:fs";

import { readDetached, sweepClaims } from "./claims.js";
import type { Observed } from "./evidence.js";
import { readGatewayInstanceId } from "./gateway-instance.js";
import type { AcpxProcessLease, GatewayInstanceId } from "./lease.js";
import { leaseReader } from "./lease-reader.js";
import { createLeaseStore, type LeaseStore } from "./lease-store.js";
import * as addon from "./native.js";
import { hostId, lookAtOwner, type OwnerLiveness } from "./owner-lock.js";
import { examineRoot, examineTree, type OwnedProcessTree } from "./ownership.js";
import { observe, sharedCensus, takeCensus, type Census } from "./process.js";
import type { Reaper } from "./reaper.js";
import { findStateDir, type StateDir } from "./state-dir.js";
import { reaperOf, type StateDirReaperContext } from "./state-dir-reaper.js";
import { terminationPolicy } from "./terminate.js";

export interface LeaseViewOptions {
  readonly stateDir: string;
  /** Under which a wrapper's executable is accepted as one of ours; those that do not exist count for nothing. */
  readonly wrapperRoots: readonly string[];
}

/** Undefined: there is no such directory, so nothing was ever launched from it. Throws LifecycleError ERR_STATE_DIR. */
export async function openLeaseView(options: LeaseViewOptions): Promise<LeaseView | undefined> {
  const stateDir = await findStateDir(options.stateDir);
  if (stateDir === undefined) return undefined;
  const gatewayInstanceId = await readGatewayInstanceId(stateDir.path);
  return new LeaseView(stateDir, gatewayInstanceId, options.wrapperRoots.flatMap(realRoot));
}

function realRoot(path: string): string[] {
  try {
    return [realpathSync.native(path)];
  } catch {
    return [];
  }
}

export class LeaseView {
  /** Refuses every change. */
  readonly store: LeaseStore;
  /** Taken once: a report is about one moment. */
  readonly census: () => Promise<Observed<Census>>;
  /** Who looks. */
  readonly observer = observe(addon);
  readonly #context: Omit<StateDirReaperContext, "store">;

  constructor(
    readonly stateDir: StateDir,
    /** Undefined: no gateway was ever opened here, so every lease is somebody else's. */
    readonly gatewayInstanceId: GatewayInstanceId | undefined,
    /** Real paths. */
    readonly wrapperRoots: readonly string[],
  ) {
    const { observer } = this;
    const host = hostId();
    this.store = leaseReader(stateDir);
    let census: Promise<Observed<Census>> | undefined;
    this.census = () => (census ??= takeCensus(addon, observer));
    this.#context = {
      native: addon,
      census: this.census,
      launchHandle: () => undefined,
      wrapperRoots,
      policy: terminationPolicy(),
      gatewayInstanceId: gatewayInstanceId ?? "",
      owner: { pid: process.pid, token: observer.token, ...(host === undefined ? {} : { host }) },
      wrapper: {
        detached: (root) => readDetached(stateDir.claims, root),
        sweep: (isStale) => sweepClaims(stateDir.claims, isStale),
      },
      // What it says stands in the report of a sweep as well.
      warn: () => undefined,
    };
  }

  async livenessOf(lease: AcpxProcessLease): Promise<OwnerLiveness> {
    return await lookAtOwner(this.stateDir.path, lease, this.#context.owner);
  }

  /** A fault when the process table could not be read whole; release the tree after use. */
  async examine(lease: AcpxProcessLease): Promise<Observed<OwnedProcessTree>> {
    return await examineTree(this.#context, lease);
  }

  /** The root alone, for which no table is needed; release it after use. */
  examineRoot(lease: AcpxProcessLease): OwnedProcessTree {
    return examineRoot(this.#context, lease);
  }

  /** For dry runs only: it can write nothing down. */
  rehearsal(): Reaper {
    return reaperOf(this.stateDir, { ...this.#context, store: this.store });
  }

  /** The sweep that a gateway makes at its start. Throws LifecycleError ERR_STATE_DIR. */
  async reaper(): Promise<Reaper> {
    const store = await createLeaseStore({ stateDir: this.stateDir.path });
    const census = sharedCensus(addon, this.observer);
    return reaperOf(this.stateDir, { ...this.#context, store, census });
  }
}
