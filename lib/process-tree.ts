/**
 * Who belongs to a lease: from the table the numbers worth a look, from what was then read the members with their
 * proofs. A table never proves anything; it only says where to look.
 */
import type { Evidence, Fault, LiveEvidence, ProcessReading, Snapshot } from "./evidence.js";
import { byParent, optedOut, sessionKinship, strangersAmong, type Kinship } from "./kinship.js";
import type { AcpxProcessLease } from "./lease.js";
import {
  judge,
  judgeMember,
  optsOut,
  type JudgeOptions,
  type OwnershipProof,
  type Verdict,
} from "./verdict.js";

/** Everybody below `pids` (which are left out themselves). Loops, as stale tables show them, end. */
export function descendantsOf(snapshot: Pick<Snapshot, "pid" | "ppid">, pids: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  snapshot.pid.forEach((pid, row) => {
    const ppid = snapshot.ppid[row] ?? 0;
    const siblings = children.get(ppid);
    if (siblings === undefined) children.set(ppid, [pid]);
    else siblings.push(pid);
  });
  const family = new Set(pids);
  // A set iterates over what is added on the way, and takes nobody twice.
  for (const pid of family) for (const child of children.get(pid) ?? []) family.add(child);
  for (const pid of pids) family.delete(pid);
  return [...family];
}

/** Orders so that nobody comes before a child of theirs; members of a loop come last. */
export function childrenFirst<T extends { readonly reading: Pick<ProcessReading, "pid" | "ppid"> }>(
  members: readonly T[],
): T[] {
  const byPid = new Map(members.map((member) => [member.reading.pid, member]));
  const children = new Map<T, number>(members.map((member) => [member, 0]));
  const parentOf = (member: T) =>
    member.reading.ppid === member.reading.pid ? undefined : byPid.get(member.reading.ppid);
  const count = (member: T | undefined, step: 1 | -1): number => {
    if (member === undefined) return -1;
    const left = (children.get(member) ?? 0) + step;
    children.set(member, left);
    return left;
  };
  for (const member of members) count(parentOf(member), 1);
  const ordered = new Set(members.filter((member) => children.get(member) === 0));
  for (const member of ordered) {
    const parent = parentOf(member);
    if (parent !== undefined && count(parent, -1) === 0) ordered.add(parent);
  }
  return [...ordered, ...members.filter((member) => !ordered.has(member))];
}

/** Numbers worth opening, besides the root's own and whoever carries the lease in the environment. */
export function candidatesFor(lease: AcpxProcessLease, snapshot: Snapshot): number[] {
  const { rootPid, adapterPid = 0, processGroupId = 0 } = lease;
  // Everybody descends from 0 and 1, and kernel threads have session and group 0: never a way to find anyone.
  const ancestors = [rootPid, adapterPid].filter((pid) => pid > 1);
  const candidates = new Set(descendantsOf(snapshot, ancestors));
  snapshot.pid.forEach((pid, row) => {
    const inSession = adapterPid > 1 && (pid === adapterPid || snapshot.sid[row] === adapterPid);
    const inGroup = processGroupId > 1 && snapshot.pgid[row] === processGroupId;
    if (inSession || inGroup) candidates.add(pid);
  });
  candidates.delete(rootPid);
  return [...candidates].filter((pid) => pid > 1);
}

export interface ProvenMember {
  readonly reading: ProcessReading;
  readonly proof: OwnershipProof;
}

export interface UnprovenMember {
  readonly reading: ProcessReading;
  readonly verdict: Verdict;
}

export interface ProvenTree {
  readonly root: Verdict;
  /** Children first; the root, when it is owned, comes last. */
  readonly members: readonly ProvenMember[];
  /** Ours, and left alone at their own request (with everybody below them). */
  readonly detached: readonly ProcessReading[];
  /** Looked related, and nothing proves it: `foreign` to the lease, or `unknown`. */
  readonly unproven: readonly UnprovenMember[];
  /** Candidates that could not be looked at: as long as there are any, nobody can say that all are gone. */
  readonly unreadable: readonly Fault[];
}

/**
 * All members that can be proven from one gathering: each by its own environment or identity, by the adapter's
 * session, or as the child of one that is proven. Withholding evidence never proves more.
 */
export function proveTree(
  lease: AcpxProcessLease,
  evidence: { readonly root: Evidence; readonly others: readonly Evidence[] },
  options: JudgeOptions,
): ProvenTree {
  const root = judge(lease, evidence.root, options);
  const rootPid = evidence.root.kind === "live" ? evidence.root.reading.pid : 0;
  const family = evidence.others.filter(
    (other) => other.kind === "live" && other.reading.pid !== rootPid,
  ) as LiveEvidence[];
  const proven = new Map<LiveEvidence, OwnershipProof>();
  let impostor: LiveEvidence | undefined;
  if (evidence.root.kind === "live") {
    if (root.kind === "owned") proven.set(evidence.root, root.proof);
    // Another process has the root's number. It may be one of ours all the same, by its environment or session.
    if (root.kind === "foreign") family.push((impostor = evidence.root));
  }
  const detached = extend(lease, proven, family);
  const strangers = strangersAmong(lease, family, impostor);
  const unproven = family
    .filter((member) => member !== impostor && !proven.has(member) && !detached.has(member))
    .map((member) => ({
      reading: member.reading,
      verdict: judgeMember(lease, member, strangers.get(member) ?? NONE),
    }));
  // The root was entered first; it ends last, because everybody below it may be its child.
  const members = [...proven].map(([{ reading }, proof]) => ({ reading, proof }));
  const last = root.kind === "owned" ? members.splice(0, 1) : [];
  return {
    root,
    members: [...childrenFirst(members), ...last],
    detached: [...detached].map(({ reading }) => reading),
    unproven,
    unreadable: evidence.others.flatMap((other) => (other.kind === "unreadable" ? [other.fault] : [])),
  };
}

const NONE: Kinship = { kind: "none" };

/** Adds to `proven` everybody of the family who can be, and returns those who are ours but opted out. */
function extend(
  lease: AcpxProcessLease,
  proven: Map<LiveEvidence, OwnershipProof>,
  family: readonly LiveEvidence[],
): Set<LiveEvidence> {
  const out = optedOut(family);
  const detached = new Set<LiveEvidence>();
  const consider = (member: LiveEvidence, kinship: Kinship, parent?: OwnershipProof) => {
    if (proven.has(member) || detached.has(member)) return;
    const verdict = judgeMember(lease, member, kinship, parent);
    if (verdict.kind === "owned" && !out.has(member)) proven.set(member, verdict.proof);
    else if (verdict.kind === "owned" || optsOut(verdict)) detached.add(member);
  };
  const session = sessionKinship(lease, family);
  for (const member of family) consider(member, session(member));
  const children = byParent(family);
  // Maps and sets iterate over what is added on the way: this goes on until nobody new is found.
  for (const [parent, proof] of proven) {
    for (const child of children.get(parent.reading.pid) ?? [])
      consider(child, { kind: "descendant", parent }, proof);
  }
  for (const parent of detached) {
    for (const child of children.get(parent.reading.pid) ?? []) if (!proven.has(child)) detached.add(child);
  }
  return detached;
}
