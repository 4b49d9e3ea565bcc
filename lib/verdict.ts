/**
 * Is this process ours? Pure: a lease and evidence in, a verdict with its reasons out. The only place where an
 * `OwnershipProof` is made, and functions that signal take nothing else.
 */
import {
  checkArgv,
  checkDetach,
  checkIdentity,
  checkInstanceId,
  checkLeaseId,
  checkProcessGroup,
  checkScope,
  checkUid,
  matchIdentity,
  type Check,
} from "./checks.js";
import type { Evidence, LiveEvidence } from "./evidence.js";
import type { ProcessIdentity } from "./identity.js";
import { checkExecutable, type Images } from "./image-check.js";
import { relate, type Kinship } from "./kinship.js";
import type { AcpxProcessLease } from "./lease.js";

export type { Check, CheckName } from "./checks.js";
export type { Evidence, LiveEvidence, Observer } from "./evidence.js";

declare const minted: unique symbol;

/** Permission to signal exactly the process behind `pin`. Made only in this file. */
export interface OwnershipProof {
  readonly [minted]: true;
  readonly leaseId: string;
  readonly identity: ProcessIdentity;
  readonly pin: object;
  readonly basis: "identity" | "environment" | "descendant" | "session";
}

export type Verdict =
  | { readonly kind: "owned"; readonly proof: OwnershipProof; readonly checks: readonly Check[] }
  | {
      readonly kind: "gone" | "foreign" | "unknown";
      readonly because: string;
      readonly checks: readonly Check[];
    };

export interface JudgeOptions extends Images {
  /** The handle that was opened at the launch of this lease and has been held since: it cannot have changed hands. */
  readonly launchPin?: object;
}

/** Judges the root that a lease names. Never throws. */
export function judge(lease: AcpxProcessLease, evidence: Evidence, options: JudgeOptions): Verdict {
  if (evidence.kind === "live") return judgeRoot(lease, evidence, options);
  if (lease.rootPid <= 0) return undecided("The lease does not name a process yet.", []);
  return judgeUnseen(lease, evidence);
}

function judgeRoot(lease: AcpxProcessLease, evidence: LiveEvidence, options: JudgeOptions): Verdict {
  const { reading } = evidence;
  const match = matchIdentity({ pid: lease.rootPid, token: lease.rootToken }, reading);
  const scope = checkScope(lease, reading.token);
  const identity = checkIdentity(match, lease.rootPid, reading);
  const uid = checkUid(evidence.observer.uid, reading);
  const ids = [checkLeaseId(lease, reading), checkInstanceId(lease, reading)];
  const executable = checkExecutable(lease, reading, options);
  const isWrapper = lease.launch === "wrapper";
  const reports = [checkArgv(lease, evidence.commandHash), checkProcessGroup(lease, reading, isWrapper)];
  const checks = [scope, identity, uid, ...ids, executable, ...reports];

  if (scope.outcome !== "match") return undecided(scope.detail, checks);
  if (match === "different") return foreign(identity.detail, checks);
  const strong = match === "same" || (match === "same-weak" && options.launchPin === evidence.pin);
  const elsewhere = ids.find(mismatches);
  // Another lease in the environment of a process that only looks like ours: it is the other lease's.
  if (elsewhere !== undefined && !strong) return foreign(elsewhere.detail, checks);
  const veto = [uid, ...ids, executable].find(mismatches);
  if (veto !== undefined) return undecided(veto.detail, checks);

  const carries = ids.every(matches);
  switch (match) {
    case "same":
      return owned(lease, evidence, "identity", checks);
    case "same-weak":
      // The image alone does not tell two wrappers of ours apart that started in one tick; the ids do.
      if (strong || carries) return owned(lease, evidence, "identity", checks);
      return undecided(
        "Start ticks alone may be shared by two processes, and nothing else speaks for it.",
        checks,
      );
    case "not-recorded":
      if (carries && matches(executable)) return owned(lease, evidence, "environment", checks);
      return undecided("No identity was recorded, and environment and executable do not both match.", checks);
    case "not-comparable":
      return undecided(identity.detail, checks);
  }
}

/**
 * Judges a process other than the root. Never throws.
 *
 * @param parent the proof of the parent, where the kinship is `descendant`; without it that kinship does not count
 */
export function judgeMember(
  lease: AcpxProcessLease,
  evidence: Evidence,
  kinship: Kinship,
  parent?: OwnershipProof,
): Verdict {
  if (evidence.kind !== "live") return judgeUnseen(lease, evidence);
  return judgeRelative(lease, evidence, isBacked(lease, kinship, parent) ? kinship : { kind: "none" });
}

function judgeRelative(lease: AcpxProcessLease, evidence: LiveEvidence, kinship: Kinship): Verdict {
  const { reading } = evidence;
  const scope = checkScope(lease, reading.token);
  const uid = checkUid(evidence.observer.uid, reading);
  const ids = [checkLeaseId(lease, reading), checkInstanceId(lease, reading)];
  const relation = relate(lease, reading, kinship);
  const checks = [scope, uid, ...ids, checkProcessGroup(lease, reading, false), relation.check];

  if (scope.outcome !== "match") return undecided(scope.detail, checks);
  const elsewhere = ids.find(mismatches);
  if (elsewhere !== undefined) return foreign(elsewhere.detail, checks);
  const basis = ids.every(matches) ? "environment" : relation.basis;
  if (basis === undefined) {
    return mismatches(relation.check)
      ? foreign(relation.check.detail, checks)
      : undecided(relation.check.detail, checks);
  }
  if (mismatches(uid)) return undecided(uid.detail, checks);
  const detach = checkDetach(reading);
  return detach === undefined
    ? owned(lease, evidence, basis, checks)
    : undecided(detach.detail, [...checks, detach]);
}

/** Ours in every other respect, and left alone because it asked for it. */
export function optsOut(verdict: Verdict): boolean {
  return verdict.kind === "unknown" && verdict.checks.some(({ name }) => name === "detach");
}

function isBacked(lease: AcpxProcessLease, kinship: Kinship, parent: OwnershipProof | undefined): boolean {
  if (kinship.kind !== "descendant") return true;
  return isOwnershipProof(parent) && parent.leaseId === lease.leaseId && parent.pin === kinship.parent.pin;
}

/** Only the kernel's "no such process", heard where the lease's numbers mean something, says that it is gone. */
function judgeUnseen(lease: AcpxProcessLease, evidence: Exclude<Evidence, LiveEvidence>): Verdict {
  if (evidence.kind === "unreadable") {
    const { call, reason } = evidence.fault;
    return undecided(`It could not be looked at: ${call} answered ${reason}.`, []);
  }
  const scope = checkScope(lease, evidence.observer.token);
  if (scope.outcome !== "match") return undecided(scope.detail, [scope]);
  return { kind: "gone", because: "The kernel knows no process of that number.", checks: [scope] };
}

const proofs = new WeakSet();

function owned(
  lease: AcpxProcessLease,
  { pin, reading }: LiveEvidence,
  basis: OwnershipProof["basis"],
  checks: readonly Check[],
): Verdict {
  const identity = Object.freeze({ pid: reading.pid, token: reading.token });
  const proof = Object.freeze({ leaseId: lease.leaseId, identity, pin, basis }) as OwnershipProof;
  proofs.add(proof);
  return { kind: "owned", proof, checks };
}

/** Whether a value was made by a verdict in here; what merely looks like a proof is none. */
export function isOwnershipProof(value: unknown): value is OwnershipProof {
  return typeof value === "object" && value !== null && proofs.has(value);
}

function foreign(because: string, checks: readonly Check[]): Verdict {
  return { kind: "foreign", because, checks };
}

function undecided(because: string, checks: readonly Check[]): Verdict {
  return { kind: "unknown", because, checks };
}

function matches({ outcome }: Check): boolean {
  return outcome === "match";
}

function mismatches({ outcome }: Check): boolean {
  return outcome === "mismatch";
}
