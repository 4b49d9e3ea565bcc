/**
 * What was started before there were leases. A host without such sessions any more opens its lifecycle with
 * `legacy: false`; nothing but the lifecycle knows of this file, and nothing but this file of the other legacy ones.
 */
import type { AcpRuntimeHandle } from "./acpx.js";
import type { LegacyContext } from "./legacy-adoption.js";
import { takeOverLeases } from "./legacy-leases.js";
import { sweepMarkers } from "./legacy-markers.js";
import { processOfSession, type LegacySessionStore } from "./legacy-sessions.js";
import type { ReapOptions } from "./reaper.js";
import type { UnleasedEnding, UnleasedProcess } from "./session-close.js";

export interface LegacyOptions {
  /**
   * With each sweep, also look for wrappers by their command line. Only those are ended that run an image under the
   * wrapper root and carry this gateway's instance id, no live lease and no live gateway. Default false.
   */
  readonly markerSweep?: boolean;
}

export interface Legacy {
  /** Where a host keeps session records. */
  watch(store: LegacySessionStore): void;
  /** The process that the record of a session names and no lease does. */
  processOf(handle: AcpRuntimeHandle): Promise<UnleasedProcess | undefined>;
  /** `undefined`: the host has not asked for it. */
  sweep(options: ReapOptions): Promise<readonly UnleasedEnding[] | undefined>;
}

/** Takes over the lease file of the release before, if there is one. */
export async function openLegacy(
  context: LegacyContext,
  stateDir: string,
  { markerSweep = false }: LegacyOptions = {},
): Promise<Legacy> {
  await takeOverLeases(context, stateDir);
  const stores = new Set<LegacySessionStore>();
  return {
    watch: (store) => stores.add(store),
    processOf: (handle) => processOfSession(context, stores, handle),
    sweep: async ({ dryRun = false, signal }) =>
      markerSweep && !dryRun ? await sweepMarkers(context, signal) : undefined,
  };
}
