/**
 * How a process other than the root is related to a lease. A claim of kinship is an assertion by whoever walked the
 * tree; `relate` checks it against the readings before it counts.
 */
import { anchorsSession, disownsSession, followsAnchor, isRecordedAdapter } from "./adapter-session.js";
import { asksToDetach, type Check } from "./checks.js";
import type { LiveEvidence, ProcessReading } from "./evidence.js";
import { notYounger, type ProcessIdentity } from "./identity.js";
import type { AcpxProcessLease } from "./lease.js";

export type Kinship =
  | { readonly kind: "none" }
  /** Child of a process that is itself proven to be the lease's. */
  | { readonly kind: "descendant"; readonly parent: LiveEvidence }
  /** In the session of `anchor`, whose own birth or identity shows that it is the adapter's. */
  | { readonly kind: "session"; readonly anchor: LiveEvidence }
  /** Related only through a number that another process has by now. */
  | { readonly kind: "stranger"; readonly of: ProcessIdentity };

export interface Relation {
  readonly check: Check;
  /** Absent: nothing relates it provably. */
  readonly basis?: "identity" | "descendant" | "session";
}

export function relate(lease: AcpxProcessLease, reading: ProcessReading, kinship: Kinship): Relation {
  const { pid } = reading;
  if (isRecordedAdapter(lease, reading))
    return related("identity", `Process ${pid} is the recorded adapter.`);
  switch (kinship.kind) {
    case "descendant":
      if (isChildOf(kinship.parent, reading)) {
        return related("descendant", `Process ${pid} is a child of ${reading.ppid}, which is proven.`);
      }
      break;
    case "session":
      if (isInSessionOf(lease, kinship.anchor, reading)) {
        return related(
          "session",
          `Process ${pid} is in the adapter's session ${reading.sid}, which never ended.`,
        );
      }
      break;
    case "stranger":
      return unrelated(
        "mismatch",
        `Process ${pid} belongs to ${kinship.of.pid}, a number that is not the lease's any more.`,
      );
    case "none":
      break;
  }
  return disownsSession(lease, reading)
    ? unrelated(
        "mismatch",
        `Number ${lease.adapterPid ?? 0} is not the adapter's any more; process ${pid} has it now.`,
      )
    : unrelated("not-recorded", `Nothing that proves whose it is relates process ${pid} to the lease.`);
}

/** A process speaks for its own session at the moment of its reading; for another's only if it lived on. */
function isInSessionOf(lease: AcpxProcessLease, anchor: LiveEvidence, reading: ProcessReading): boolean {
  return (anchor.confirmed || anchor.reading === reading) && followsAnchor(lease, anchor.reading, reading);
}

/** Its parent number means that parent only if the parent had it before and after; reparenting goes to the older. */
function isChildOf(parent: LiveEvidence, reading: ProcessReading): boolean {
  return (
    parent.confirmed &&
    parent.reading.pid === reading.ppid &&
    notYounger(parent.reading.token, reading.token) === true
  );
}

/**
 * The claim that each member of a family can make on the adapter's session: by its own birth, else by a relative who
 * lived through the whole gathering. None at all once anybody shows that the number is somebody else's.
 */
export function sessionKinship(
  lease: AcpxProcessLease,
  family: readonly LiveEvidence[],
): (member: LiveEvidence) => Kinship {
  if (family.some(({ reading }) => disownsSession(lease, reading))) return () => ({ kind: "none" });
  const anchors = family.filter(({ reading, confirmed }) => confirmed && anchorsSession(lease, reading));
  // The later an anchor was read, the more births it speaks for; the adapter itself speaks for all.
  const witness =
    anchors.find(({ reading }) => isRecordedAdapter(lease, reading)) ??
    anchors.reduce<LiveEvidence | undefined>(
      (latest, next) => (latest && latest.reading.readAtTicks >= next.reading.readAtTicks ? latest : next),
      undefined,
    );
  return (member) => {
    const anchor = anchorsSession(lease, member.reading) ? member : witness;
    return anchor === undefined ? { kind: "none" } : { kind: "session", anchor };
  };
}

/**
 * Those whose only link to the lease is a number that another process has by now.
 *
 * @param impostor who has the root's number, where that is not the root
 */
export function strangersAmong(
  lease: AcpxProcessLease,
  family: readonly LiveEvidence[],
  impostor?: LiveEvidence,
): Map<LiveEvidence, Kinship> {
  const founder = family.find(({ reading }) => disownsSession(lease, reading));
  const inSession = ({ reading }: LiveEvidence) => reading.sid === lease.adapterPid;
  const inGroup = ({ reading }: LiveEvidence) =>
    reading.pgid === lease.processGroupId &&
    ![impostor, founder].some((look) => look?.reading.pid === reading.pgid);
  const strangers = new Map<LiveEvidence, Kinship>();
  const add = (member: LiveEvidence, of: LiveEvidence) =>
    strangers.set(member, { kind: "stranger", of: of.reading });
  if (founder !== undefined) {
    for (const member of family.filter(inSession)) if (member !== founder) add(member, founder);
  }
  const children = byParent(family);
  const below = new Set([impostor, founder].filter((member) => member !== undefined));
  for (const parent of below) {
    for (const child of children.get(parent.reading.pid) ?? []) {
      // Another link that may still hold keeps the question open.
      const linked = inGroup(child) || (founder === undefined && inSession(child));
      if (linked || !isChildOf(parent, child.reading)) continue;
      below.add(child);
      add(child, parent);
    }
  }
  return strangers;
}

/**
 * Everybody who asks to be left alone, and everybody below. Unlike a proof this needs no certainty: a parent number
 * that may be stale takes a process out of the clean-up rather than into it.
 */
export function optedOut(family: readonly LiveEvidence[]): Set<LiveEvidence> {
  const children = byParent(family);
  const out = new Set(family.filter(({ reading }) => asksToDetach(reading)));
  // A set iterates over what is added on the way, and takes nobody twice: a loop in a stale table ends.
  for (const member of out) for (const child of children.get(member.reading.pid) ?? []) out.add(child);
  return out;
}

export function byParent(family: readonly LiveEvidence[]): Map<number, LiveEvidence[]> {
  const children = new Map<number, LiveEvidence[]>();
  for (const member of family) {
    const siblings = children.get(member.reading.ppid);
    if (siblings === undefined) children.set(member.reading.ppid, [member]);
    else siblings.push(member);
  }
  return children;
}

function related(basis: "identity" | "descendant" | "session", detail: string): Relation {
  return { basis, check: { name: "kinship", outcome: "match", detail } };
}

function unrelated(outcome: "mismatch" | "not-recorded", detail: string): Relation {
  return { check: { name: "kinship", outcome, detail } };
}
