/**
 * What the command line found, as `--json` prints it. Text on a terminal is made from nothing else. Within one schema
 * number fields are only added. Absent: not known, or there is none.
 */
import type { Check } from "./checks.js";
import type { EndProof, LeaseState } from "./lease.js";

// #region schema
export interface ProcessReport {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number;
  /** Effective uid. */
  readonly uid: number;
  /** File name of the executable; behind an interpreter's that of the script. */
  readonly program: string;
  /** Absolute path. */
  readonly executable?: string;
  readonly argv?: readonly string[];
  /** Start token: which process it is for good, whoever has its number later. */
  readonly token: string;
}

export interface VerdictReport {
  readonly kind: "owned" | "gone" | "foreign" | "unknown";
  /** One sentence. */
  readonly because: string;
}

export interface LeaseReport {
  readonly leaseId: string;
  readonly sessionKey: string;
  readonly state: LeaseState;
  readonly revision: number;
  readonly launch: "wrapper" | "direct";
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly ageMs: number;
  /** 0: not yet known. */
  readonly rootPid: number;
  readonly adapterPid?: number;
  readonly processGroupId?: number;
  readonly wrapperPath: string;
  readonly gatewayInstanceId: string;
  /** The gateway process that launched it. */
  readonly owner: {
    readonly pid: number;
    readonly liveness: "alive" | "dead" | "dead-elsewhere" | "unknown";
    readonly because: string;
  };
  /** How the end was proven, of an ended lease. */
  readonly proof?: EndProof;
  /** Why it is in its state. */
  readonly reason?: string;
}

export interface LiveLeaseReport extends LeaseReport {
  /** On the root. */
  readonly verdict: VerdictReport;
  /** Provably the lease's, children first. */
  readonly members: readonly ProcessReport[];
  /** The lease's, and left alone at their own request. */
  readonly detached: readonly ProcessReport[];
  /** Related in some way and never signalled, because nothing proves it. */
  readonly unproven: readonly (ProcessReport & { readonly verdict: VerdictReport })[];
  /** Candidates that could not be looked at. */
  readonly unreadable: number;
}

/** Leases that no report can be made of, by their ids. */
export interface UnreportedLeases {
  readonly damaged: readonly string[];
  readonly newer: readonly string[];
  readonly unreadable: readonly string[];
}

interface StateDirReport {
  readonly stateDir: string;
  /** Absent: no gateway was ever opened here. */
  readonly gatewayInstanceId?: string;
  readonly wrapperRoots: readonly string[];
}

export interface StatusReport extends StateDirReport, UnreportedLeases {
  readonly schema: "acpx-lifecycle.status.v1";
  readonly leases: readonly LiveLeaseReport[];
  /** Kept for a week; all of them with --ended, else only their number. */
  readonly ended: readonly LeaseReport[];
  readonly endedCount: number;
}

export interface InspectedLease extends LiveLeaseReport {
  readonly checks: readonly Check[];
}

export interface InspectedProcess extends Partial<ProcessReport> {
  readonly pid: number;
  /** `gone`: there is no such process. `unreadable`: `because` says why. */
  readonly found: "live" | "gone" | "unreadable";
  /** By which it was judged. */
  readonly leaseId?: string;
  readonly verdict: VerdictReport;
  readonly checks: readonly Check[];
}

export interface InspectReport extends StateDirReport {
  readonly schema: "acpx-lifecycle.inspect.v1";
  readonly subject: string;
  /** `nothing`: no lease of that id or session. */
  readonly kind: "lease" | "session" | "process" | "nothing";
  readonly process?: InspectedProcess;
  readonly leases: readonly InspectedLease[];
  readonly ended: readonly LeaseReport[];
}

export interface ReapReportLine {
  readonly leaseId: string;
  readonly sessionKey: string;
  readonly because: string;
}

export interface SweepReport extends StateDirReport {
  readonly schema: "acpx-lifecycle.reap.v1";
  readonly dryRun: boolean;
  /** `busy`: another sweep is under way, and nothing was done here. */
  readonly kind: "swept" | "busy";
  /** Dry runs only: would be ended, in this order; without pids nothing of it was found alive. */
  readonly planned: readonly (Omit<ReapReportLine, "because"> & { readonly pids: readonly number[] })[];
  readonly settled: readonly (ReapReportLine & {
    readonly state: LeaseState;
    readonly proof?: EndProof;
    /** Seen to die after a signal. */
    readonly deaths: readonly number[];
    readonly detached: readonly number[];
  })[];
  /** Left open because something could not be proven or ended. */
  readonly left: readonly ReapReportLine[];
  /** Not to be ended: the gateway lives, or nobody can tell. */
  readonly held: readonly ReapReportLine[];
  readonly notInspected: readonly { readonly leaseId: string; readonly because: string }[];
  /** Processes that were seen to die after a signal, of leases that were left open too. */
  readonly deaths: number;
}

export interface DoctorReport extends StateDirReport {
  readonly schema: "acpx-lifecycle.doctor.v1";
  readonly checkups: readonly Checkup[];
}

export interface Checkup {
  readonly about: string;
  /** `note`: works, with less than it could have. `problem`: something does not work. */
  readonly outcome: "ok" | "note" | "problem";
  readonly found: string;
  readonly remedy?: string;
}

/** On standard error, after the command. */
export interface RunReport {
  readonly schema: "acpx-lifecycle.run.v1";
  readonly leaseId: string;
  readonly sessionKey: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly state: LeaseState;
  readonly because: string;
  readonly proof?: EndProof;
  /** Alive, and left alone at their own request. */
  readonly detached: readonly number[];
  /** Alive although they should not be. */
  readonly survivors: readonly number[];
}
// #endregion
