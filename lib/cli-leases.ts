/** Leases and their live trees as reports. */
import { basename } from "node:path";

import type {
  LeaseReport,
  LiveLeaseReport,
  ProcessReport,
  UnreportedLeases,
  VerdictReport,
} from "./cli-reports.js";
import type { Check } from "./checks.js";
import type { ProcessReading } from "./evidence.js";
import type { AcpxProcessLease } from "./lease.js";
import type { OpenLeases } from "./lease-store.js";
import type { LeaseView } from "./lease-view.js";
import type { Where } from "./cli-options.js";
import type { OwnedProcessTree } from "./ownership.js";
import type { OwnershipProof, Verdict } from "./verdict.js";

/** The state directory as it was found. */
export function placeReport(where: Where, view: LeaseView | undefined) {
  const { gatewayInstanceId } = view ?? {};
  return {
    stateDir: view?.stateDir.path ?? where.stateDir,
    ...(gatewayInstanceId === undefined ? {} : { gatewayInstanceId }),
    wrapperRoots: where.wrapperRoots,
  };
}

export function unreported({ setAside, newer, unreadable }: OpenLeases): UnreportedLeases {
  return { damaged: setAside, newer, unreadable };
}

export async function leaseReport(view: LeaseView, lease: AcpxProcessLease): Promise<LeaseReport> {
  const liveness = await view.livenessOf(lease);
  const { endedAt, adapterPid, processGroupId, proof, reason } = lease;
  return {
    leaseId: lease.leaseId,
    sessionKey: lease.sessionKey,
    state: lease.state,
    revision: lease.revision,
    launch: lease.launch,
    startedAt: lease.startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ageMs: Math.max(0, Date.now() - (endedAt ?? lease.startedAt)),
    rootPid: lease.rootPid,
    ...(adapterPid === undefined ? {} : { adapterPid }),
    ...(processGroupId === undefined ? {} : { processGroupId }),
    wrapperPath: lease.wrapperPath,
    gatewayInstanceId: lease.gatewayInstanceId,
    owner: { pid: lease.owner.pid, liveness: liveness.kind, because: liveness.because },
    ...(proof === undefined ? {} : { proof }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** With the checks behind the verdict on its root. */
export async function examineLease(
  view: LeaseView,
  lease: AcpxProcessLease,
): Promise<{ report: LiveLeaseReport; checks: readonly Check[] }> {
  const examined = await view.examine(lease);
  using tree = examined.ok ? examined.value : view.examineRoot(lease);
  const report = liveReport(await leaseReport(view, lease), tree);
  // Without a table nobody knows who else there is.
  const unreadable = examined.ok ? report.unreadable : report.unreadable + 1;
  return { report: { ...report, unreadable }, checks: tree.root.checks };
}

function liveReport(report: LeaseReport, tree: OwnedProcessTree): LiveLeaseReport {
  return {
    ...report,
    verdict: verdictReport(tree.root),
    members: tree.members.map(({ reading }) => processReport(reading)),
    detached: tree.detached.map(processReport),
    unproven: tree.unproven.map(({ reading, verdict }) => ({
      ...processReport(reading),
      verdict: verdictReport(verdict),
    })),
    unreadable: tree.unreadable.length,
  };
}

const BASES: Readonly<Record<OwnershipProof["basis"], string>> = {
  identity: "It is the very process that the lease names.",
  environment: "It carries the ids of the lease and of this gateway instance in its environment.",
  descendant: "Its parents lead to a proven member, each read through a handle.",
  session: "It is in the session that the adapter leads, which nobody enters but by birth.",
};

export function verdictReport(verdict: Verdict): VerdictReport {
  if (verdict.kind !== "owned") return { kind: verdict.kind, because: verdict.because };
  return { kind: "owned", because: BASES[verdict.proof.basis] };
}

export function proofReport(proof: OwnershipProof): VerdictReport {
  return { kind: "owned", because: BASES[proof.basis] };
}

export function processReport(reading: ProcessReading): ProcessReport {
  const { pid, ppid, pgid, sid, uid, token, executable, argv } = reading;
  return {
    pid,
    ppid,
    pgid,
    sid,
    uid,
    program: programOf(reading),
    ...(executable.ok ? { executable: executable.value.path } : {}),
    ...(argv.ok ? { argv: argv.value } : {}),
    token,
  };
}

const INTERPRETER = /^(?:node|bun|deno|ruby|perl|(?:ba|da|z)?sh|python[\d.]*)$/;

/** For people to recognise it by; no verdict looks at it. */
function programOf({ executable, argv }: ProcessReading): string {
  const [called = "?", script] = argv.ok ? argv.value : [];
  const program = basename(executable.ok ? executable.value.path : called);
  const isScript = script !== undefined && script !== "" && !script.startsWith("-");
  return isScript && INTERPRETER.test(program) ? basename(script) : program;
}
