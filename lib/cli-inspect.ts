/** `inspect`: one lease, session or process with every check: why it is ours, or why it is not. */
import {
  examineLease,
  leaseReport,
  placeReport,
  processReport,
  proofReport,
  verdictReport,
} from "./cli-leases.js";
import type { Where } from "./cli-options.js";
import type { InspectedLease, InspectedProcess, InspectReport } from "./cli-reports.js";
import {
  checkDetach,
  checkInstanceId,
  checkLeaseId,
  checkProcessGroup,
  checkScope,
  checkUid,
  type Check,
} from "./checks.js";
import { mapOf } from "./concurrency.js";
import { LEASE_ID, NIL_ID, OWNERSHIP_VARIABLES } from "./environment.js";
import type { ProcessReading } from "./evidence.js";
import type { AcpxProcessLease } from "./lease.js";
import { openLeaseView, type LeaseView } from "./lease-view.js";
import { open } from "./native.js";
import { TREES_AT_ONCE } from "./ownership.js";
import { candidatesFor } from "./process-tree.js";

/** So few characters of a lease id are enough, where they begin no other. */
const SHORTEST_PREFIX = 4;

export async function inspect(request: Where & { readonly subject: string }): Promise<InspectReport> {
  const { subject } = request;
  const view = await openLeaseView(request);
  const base = { schema: "acpx-lifecycle.inspect.v1", ...placeReport(request, view), subject } as const;
  const pid = /^[1-9]\d{0,9}$/.test(subject) ? Number(subject) : undefined;
  if (pid !== undefined && pid <= 0x7fff_ffff) {
    const { process, leases } = await inspectProcess(view, pid);
    return { ...base, kind: "process", process, leases, ended: [] };
  }
  if (view === undefined) return { ...base, kind: "nothing", leases: [], ended: [] };
  const { leases } = await view.store.listOpen();
  const ended = await view.store.listEnded();
  const all = [...leases, ...ended];
  const byId = all.filter(({ leaseId }) => subject.length >= SHORTEST_PREFIX && leaseId.startsWith(subject));
  const bySession = all.filter(({ sessionKey }) => sessionKey === subject);
  const meant = byId.length > 0 ? byId : bySession;
  const kind = byId.length > 0 ? "lease" : bySession.length > 0 ? "session" : "nothing";
  return {
    ...base,
    kind,
    leases: await mapOf(
      meant.filter((lease) => leases.includes(lease)),
      TREES_AT_ONCE,
      (lease) => inspectLease(view, lease),
    ),
    ended: await mapOf(
      meant.filter((lease) => ended.includes(lease)),
      TREES_AT_ONCE,
      (lease) => leaseReport(view, lease),
    ),
  };
}

async function inspectLease(view: LeaseView, lease: AcpxProcessLease): Promise<InspectedLease> {
  const { report, checks } = await examineLease(view, lease);
  return { ...report, checks };
}

interface Found {
  readonly process: InspectedProcess;
  /** Open ones that have to do with it. */
  readonly leases: readonly InspectedLease[];
}

async function inspectProcess(view: LeaseView | undefined, pid: number): Promise<Found> {
  const opened = open(pid);
  const reading = opened.ok ? opened.value.read(OWNERSHIP_VARIABLES) : opened;
  if (opened.ok) opened.value.close();
  const related =
    view === undefined ? [] : await relatedLeases(view, pid, reading.ok ? reading.value : undefined);
  if (!reading.ok) {
    const gone = reading.reason === "gone";
    const because = gone
      ? "The kernel knows no process of that number."
      : `It could not be looked at: ${reading.call} answered ${reading.reason}.`;
    const verdict = { kind: gone ? "gone" : "unknown", because } as const;
    const process: InspectedProcess = { pid, found: gone ? "gone" : "unreadable", verdict, checks: [] };
    return { process, leases: await inspectAll(view, related) };
  }
  for (const lease of related) {
    const judged = view === undefined ? undefined : await judgeIn(view, lease, reading.value);
    // Proven by one lease or cast out by it: no other has a say.
    if (judged !== undefined) return { process: judged, leases: await inspectAll(view, [lease]) };
  }
  const process: InspectedProcess = {
    ...processReport(reading.value),
    found: "live",
    verdict: { kind: "foreign", because: whyForeign(reading.value, view) },
    checks: [],
  };
  return { process, leases: await inspectAll(view, related) };
}

async function inspectAll(
  view: LeaseView | undefined,
  leases: readonly AcpxProcessLease[],
): Promise<InspectedLease[]> {
  return view === undefined ? [] : await mapOf(leases, TREES_AT_ONCE, (lease) => inspectLease(view, lease));
}

/** Open leases that name the number, are named by the process, or whose table rows lead to it. */
async function relatedLeases(
  view: LeaseView,
  pid: number,
  reading: ProcessReading | undefined,
): Promise<AcpxProcessLease[]> {
  const { leases } = await view.store.listOpen();
  const census = await view.census();
  const carried = carriedLease(reading);
  return leases.filter(
    (lease) =>
      lease.rootPid === pid ||
      lease.adapterPid === pid ||
      lease.leaseId === carried ||
      (census.ok && candidatesFor(lease, census.value.snapshot).includes(pid)),
  );
}

function carriedLease(reading: ProcessReading | undefined): string | undefined {
  const id = reading?.environment.ok === true ? reading.environment.value[LEASE_ID] : undefined;
  return id === null || id === "" || id === NIL_ID ? undefined : id;
}

/** Undefined: the tree of that lease says nothing about the process. */
async function judgeIn(
  view: LeaseView,
  lease: AcpxProcessLease,
  reading: ProcessReading,
): Promise<InspectedProcess | undefined> {
  const { pid, token } = reading;
  const examined = await view.examine(lease);
  using tree = examined.ok ? examined.value : view.examineRoot(lease);
  const base = { ...processReport(reading), found: "live" } as const;
  const isThis = (other: ProcessReading) => other.pid === pid && other.token === token;
  const member = tree.members.find((one) => isThis(one.reading));
  // Somebody else may have the root's number and still be a member by its environment or session.
  if (lease.rootPid === pid && (member === undefined || tree.root.kind === "owned"))
    return { ...base, leaseId: lease.leaseId, verdict: verdictReport(tree.root), checks: tree.root.checks };
  const checks = memberChecks(view, lease, reading);
  if (member !== undefined)
    return { ...base, leaseId: lease.leaseId, verdict: proofReport(member.proof), checks };
  if (tree.detached.some(isThis)) {
    const because = "It, or a process above it, opted out of the clean-up: never signalled.";
    return { ...base, leaseId: lease.leaseId, verdict: { kind: "unknown", because }, checks };
  }
  const unproven = tree.unproven.find((one) => isThis(one.reading));
  if (unproven === undefined) return undefined;
  return {
    ...base,
    leaseId: lease.leaseId,
    verdict: verdictReport(unproven.verdict),
    checks: unproven.verdict.checks,
  };
}

function memberChecks(view: LeaseView, lease: AcpxProcessLease, reading: ProcessReading): Check[] {
  const detach = checkDetach(reading);
  return [
    checkScope(lease, view.observer.token),
    checkUid(view.observer.uid, reading),
    checkLeaseId(lease, reading),
    checkInstanceId(lease, reading),
    checkProcessGroup(lease, reading, false),
    ...(detach === undefined ? [] : [detach]),
  ];
}

function whyForeign(reading: ProcessReading, view: LeaseView | undefined): string {
  const carried = carriedLease(reading);
  const nobody = "No open lease of this state directory names it, and no tree leads to it";
  if (view === undefined) return "There is no state directory, so nothing was launched from it.";
  if (carried !== undefined) return `${nobody}; it carries lease ${carried}, which is not open here.`;
  return reading.environment.ok
    ? `${nobody}; it carries no lease id.`
    : `${nobody}; its environment could not be read (${reading.environment.reason}).`;
}
