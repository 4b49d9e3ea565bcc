/** Reports of the command line for tests, of which each changes what it is about. */
import type {
  InspectedLease,
  InspectReport,
  LeaseReport,
  LiveLeaseReport,
  ProcessReport,
  StatusReport,
  SweepReport,
} from "../../lib/cli-reports.js";

export function processSample(
  pid: number,
  ppid: number,
  changes: Partial<ProcessReport> = {},
): ProcessReport {
  const program = `program-${pid}`;
  return {
    pid,
    ppid,
    pgid: pid,
    sid: pid,
    uid: 1000,
    program,
    argv: [program, "--acp"],
    token: "",
    ...changes,
  };
}

export function recordedSample(changes: Partial<LeaseReport> = {}): LeaseReport {
  return {
    leaseId: "3f2a9c01-0d7e-4c55-9a41-3c1f6d2f9e10",
    sessionKey: "agent:codex:acp:main",
    state: "open",
    revision: 3,
    launch: "wrapper",
    startedAt: 1_790_000_000_000,
    ageMs: 7_500_000,
    rootPid: 4200,
    adapterPid: 4201,
    processGroupId: 4201,
    wrapperPath: "/srv/wrappers/codex-wrapper",
    gatewayInstanceId: "8c6c2f0e-53a5-4f0e-bb6e-52d9a5a4c9f1",
    owner: { pid: 4100, liveness: "alive", because: "its gateway (pid 4100) lives" },
    ...changes,
  };
}

export function leaseSample(changes: Partial<LiveLeaseReport> = {}): LiveLeaseReport {
  return {
    ...recordedSample(),
    verdict: { kind: "owned", because: "It is the very process that the lease names." },
    members: [
      processSample(4202, 4201),
      processSample(4203, 4201),
      processSample(4201, 4200),
      processSample(4200, 4100, { program: "codex-wrapper" }),
    ],
    detached: [],
    unproven: [],
    unreadable: 0,
    ...changes,
  };
}

/** Its gateway and its wrapper are dead, two are left, and nothing proves one of them. */
export function orphanSample(changes: Partial<LiveLeaseReport> = {}): LiveLeaseReport {
  return leaseSample({
    owner: { pid: 4100, liveness: "dead", because: "its gateway (pid 4100) has ended" },
    verdict: { kind: "gone", because: "The kernel knows no process of that number." },
    members: [processSample(4202, 1)],
    unproven: [
      { ...processSample(4203, 1), verdict: { kind: "unknown", because: "Nothing proves whose it is." } },
    ],
    ...changes,
  });
}

const place = { stateDir: "/srv/state", wrapperRoots: ["/srv/wrappers"] };

export function statusSample(changes: Partial<StatusReport> = {}): StatusReport {
  return {
    schema: "acpx-lifecycle.status.v1",
    ...place,
    leases: [leaseSample()],
    ended: [],
    endedCount: 0,
    damaged: [],
    newer: [],
    unreadable: [],
    ...changes,
  };
}

export function inspectSample(lease: Partial<InspectedLease> = {}): InspectReport {
  return {
    schema: "acpx-lifecycle.inspect.v1",
    ...place,
    subject: "3f2a",
    kind: "lease",
    leases: [
      {
        ...leaseSample(),
        checks: [
          { name: "identity", outcome: "match", detail: "Process 4200 is the very process recorded." },
          { name: "uid", outcome: "mismatch", detail: "Expected uid 1000, read 0." },
        ],
        ...lease,
      },
    ],
    ended: [],
  };
}

export function sweepSample(changes: Partial<SweepReport> = {}): SweepReport {
  return {
    schema: "acpx-lifecycle.reap.v1",
    ...place,
    dryRun: false,
    kind: "swept",
    planned: [],
    settled: [],
    left: [],
    held: [],
    notInspected: [],
    deaths: 0,
    ...changes,
  };
}
