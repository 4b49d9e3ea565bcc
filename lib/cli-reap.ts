/** `reap`: the sweep that a gateway makes at its start, by hand. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";

import { placeReport } from "./cli-leases.js";
import type { Where } from "./cli-options.js";
import type { SweepReport } from "./cli-reports.js";
import { DIAGNOSTICS_CHANNEL, type LifecycleEvent } from "./diagnostics.js";
import { openLeaseView } from "./lease-view.js";
import type { ReapReport } from "./reaper.js";

/** Told while a sweep is under way. */
export interface SweepListener {
  readonly planned: (plan: SweepReport) => void;
  readonly progress: (event: LifecycleEvent) => void;
}

export async function reap(
  request: Where & { readonly dryRun: boolean },
  listener: SweepListener,
): Promise<SweepReport> {
  const view = await openLeaseView(request);
  const reportOf = (dryRun: boolean, swept: ReapReport | undefined): SweepReport => ({
    schema: "acpx-lifecycle.reap.v1",
    ...placeReport(request, view),
    dryRun,
    kind: swept?.kind ?? "swept",
    planned: swept?.planned ?? [],
    settled: (swept?.settled ?? []).map((settlement) => ({
      leaseId: settlement.leaseId,
      sessionKey: settlement.sessionKey,
      because: settlement.because,
      state: settlement.state,
      ...(settlement.proof === undefined ? {} : { proof: settlement.proof }),
      deaths: settlement.deaths.map(({ pid }) => pid),
      detached: settlement.detached.map(({ pid }) => pid),
    })),
    left: swept?.left ?? [],
    held: swept?.held ?? [],
    notInspected: swept?.notInspected ?? [],
    deaths: swept?.deaths ?? 0,
  });
  if (view === undefined) return reportOf(request.dryRun, undefined);
  const plan = reportOf(true, await view.rehearsal().sweep({ dryRun: true }));
  if (request.dryRun) return plan;
  listener.planned(plan);
  const hear = (event: unknown) => {
    listener.progress(event as LifecycleEvent);
  };
  subscribe(DIAGNOSTICS_CHANNEL, hear);
  try {
    const reaper = await view.reaper();
    return reportOf(false, await reaper.sweep({}));
  } finally {
    unsubscribe(DIAGNOSTICS_CHANNEL, hear);
  }
}
