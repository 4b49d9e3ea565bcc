/** `status`: the open leases with live verdicts. */
import { examineLease, leaseReport, placeReport, unreported } from "./cli-leases.js";
import type { Where } from "./cli-options.js";
import type { StatusReport } from "./cli-reports.js";
import { mapOf } from "./concurrency.js";
import { openLeaseView } from "./lease-view.js";
import { TREES_AT_ONCE } from "./ownership.js";

export async function status(request: Where & { readonly ended: boolean }): Promise<StatusReport> {
  const schema = "acpx-lifecycle.status.v1";
  const view = await openLeaseView(request);
  const place = placeReport(request, view);
  if (view === undefined) {
    return { schema, ...place, leases: [], ended: [], endedCount: 0, damaged: [], newer: [], unreadable: [] };
  }
  const open = await view.store.listOpen();
  const leases = await mapOf(
    open.leases,
    TREES_AT_ONCE,
    async (lease) => (await examineLease(view, lease)).report,
  );
  const ended = await view.store.listEnded();
  const shown = request.ended ? ended : [];
  return {
    schema,
    ...place,
    leases,
    ended: await mapOf(shown, TREES_AT_ONCE, (lease) => leaseReport(view, lease)),
    endedCount: ended.length,
    ...unreported(open),
  };
}
