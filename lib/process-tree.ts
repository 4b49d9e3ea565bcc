/**
 * Who belongs to a lease: from the table the numbers worth a look, from what was then read the members with their
 * proofs. A table never proves anything; it only says where to look.
 */
import type { Evidence, Fault, LiveEvidence, ProcessReading, Snapshot } from "./evidence.js";
import { startNumber } from "./identity.js";
import { byParent, optedOut, sessionKinship, strangersAmong, type Kinship } from "./kinship.js";
import type { AcpxProcessLease } from "./lease.js";
import {
  isOwnershipProof,
  judge,
  judgeMember,
  optsOut,
  type JudgeOptions,
  type OwnershipProof,
  type Verdict,
} from "./verdict.js";

type Parents = Pick<Snapshot, "pid" | "ppid">;

/** A sweep asks one table about a thousand leases. */
const childrenOfTable = new WeakMap<Parents, ReadonlyMap<number, readonly number[]>>();

function childrenIn(snapshot: Parents): ReadonlyMap<number, readonly number[]> {
  const known = childrenOfTable.get(snapshot);
  if (known !== undefined) return known;
  const children = new Map<number, number[]>();
  snapshot.pid.forEach((pid, row) => {
    const ppid = snapshot.ppid[row] ?? 0;
    const siblings = children.get(ppid);
    if (siblings === undefined) children.set(ppid, [pid]);
    else siblings.push(pid);
  });
  childrenOfTable.set(snapshot, children);
  return children;
}

/** Everybody below `pids` (who are left out themselves). A stale table may show loops. */
export function descendantsOf(snapshot: Parents, pids: readonly number[]): number[] {
  const children = childrenIn(snapshot);
  const family = new Set(pids);
  // A set iterates over what is added on the way, and takes nobody twice: a loop ends.
  for (const pid of family) for (const child of children.get(pid) ?? []) family.add(child);
  for (const pid of pids) family.delete(pid);
  return [...family];
}

/**
 * Orders so that nobody comes before a child of theirs; members of a loop come last. Orphans show no parent, so of
 * those the younger come first: they may be children of the older.
 */
export function childrenFirst<T extends { readonly reading: Pick<ProcessReading, "pid" | "ppid" | "token"> }>(
  members: readonly T[],
): T[] {
  const born = new Map(members.map((member) => [member, startNumber(member.reading.token) ?? 0]));
  const youngestFirst = [...members].sort((a, b) => (born.get(b) ?? 0) - (born.get(a) ?? 0));
  const byPid = new Map(members.map((member) => [member.reading.pid, member]));
  const parentOf = ({ reading }: T) => (reading.ppid === reading.pid ? undefined : byPid.get(reading.ppid));
  const childrenLeft = new Map<T | undefined, number>();
  for (const member of members)
    childrenLeft.set(parentOf(member), (childrenLeft.get(parentOf(member)) ?? 0) + 1);

  const ordered = new Set(youngestFirst.filter((member) => !childrenLeft.has(member)));
  // A set iterates over what is added on the way: parents join when the last of their children has.
  for (const member of ordered) {
    const parent = parentOf(member);
    const left = (childrenLeft.get(parent) ?? 0) - 1;
    childrenLeft.set(parent, left);
    if (parent !== undefined && left === 0) ordered.add(parent);
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
 * session, or as the child of one that is proven. Withholding evidence proves nobody else, unless it is evidence that
 * speaks against a proof: somebody else's session, or a parent that opted out.
 */
export function proveTree(
  lease: AcpxProcessLease,
  evidence: {
    readonly root: Evidence;
    readonly others: readonly Evidence[];
    /** Members of an earlier gathering, read again through the handles that their proofs are bound to. */
    readonly known?: readonly { readonly evidence: Evidence; readonly proof: OwnershipProof }[];
  },
  options: JudgeOptions,
): ProvenTree {
  const root = judge(lease, evidence.root, options);
  const rootLook = evidence.root.kind === "live" ? evidence.root : undefined;
  // Another process has the root's number. It may be one of ours all the same, by its environment or session.
  const impostor = root.kind === "foreign" ? rootLook : undefined;
  const family = evidence.others
    .filter((other) => other.kind === "live")
    .filter(({ reading }) => reading.pid !== rootLook?.reading.pid)
    .concat(impostor ?? []);
  const proven = new Map<LiveEvidence, OwnershipProof>();
  if (root.kind === "owned" && rootLook !== undefined) proven.set(rootLook, root.proof);
  for (const { evidence: look, proof } of evidence.known ?? []) {
    const isSame = isOwnershipProof(proof) && proof.leaseId === lease.leaseId;
    if (isSame && look.kind === "live" && look.pin === proof.pin) proven.set(look, proof);
  }
  const detached = extend(lease, proven, family);
  const strangers = strangersAmong(lease, family, impostor);
  return {
    root,
    members: inEndingOrder(proven, root.kind === "owned" ? rootLook : undefined),
    detached: [...detached].map(({ reading }) => reading),
    unproven: family
      .filter((member) => member !== impostor && !proven.has(member) && !detached.has(member))
      .map((member) => {
        const verdict = judgeMember(lease, member, strangers.get(member) ?? { kind: "none" });
        return { reading: member.reading, verdict };
      }),
    unreadable: evidence.others.flatMap((other) => (other.kind === "unreadable" ? [other.fault] : [])),
  };
}

/** The root last, whatever parent it shows: it is the one that everybody else descends from. */
function inEndingOrder(
  proven: ReadonlyMap<LiveEvidence, OwnershipProof>,
  root?: LiveEvidence,
): ProvenMember[] {
  const all = [...proven].map(([look, proof]) => ({ look, member: { reading: look.reading, proof } }));
  const below = all.filter(({ look }) => look !== root).map(({ member }) => member);
  return [...childrenFirst(below), ...all.filter(({ look }) => look === root).map(({ member }) => member)];
}

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
  const session = sessionKinship(lease, [...proven.keys(), ...family]);
  for (const member of family) consider(member, session(member));
  const children = byParent(family);
  // Maps and sets iterate over what is added on the way: this goes on until nobody new is found.
  for (const [parent, proof] of proven) {
    const kinship: Kinship = { kind: "descendant", parent };
    for (const child of children.get(parent.reading.pid) ?? []) consider(child, kinship, proof);
  }
  for (const parent of detached) {
    for (const child of children.get(parent.reading.pid) ?? []) if (!proven.has(child)) detached.add(child);
  }
  return detached;
}
