/**
 * From a lease to the live processes that are provably its own: gathers evidence, lets the pure rules judge it,
 * and keeps the handles, so that a proof can still be used when the verdict is in.
 */
import type { Fault, Observed, ProcessReading } from "./evidence.js";
import { startTicks, type ProcessIdentity } from "./identity.js";
import type { AcpxProcessLease, GatewayInstanceId } from "./lease.js";
import type { Native, ProcessHandle } from "./native.js";
import { confirm, lookAt, lookAtAll, lookThrough, observe, type Census, type Look } from "./process.js";
import {
  candidatesFor,
  descendantsOf,
  proveTree,
  type ProvenTree,
  type UnprovenMember,
} from "./process-tree.js";
import { judge, type JudgeOptions, type OwnershipProof, type Verdict } from "./verdict.js";

/** What every judgement of one lifecycle shares. */
export interface OwnershipContext extends Omit<JudgeOptions, "launchPin"> {
  readonly native: Native;
  readonly gatewayInstanceId: GatewayInstanceId;
  /** A table that was begun after the call; see `sharedCensus`. */
  readonly census: () => Promise<Observed<Census>>;
  /** The handle held since the launch of a lease, where this process launched it. */
  readonly launchHandle: (leaseId: string) => ProcessHandle | undefined;
}

/** Each tree under way holds two descriptors per member; many gateways run with a limit of 1,024. */
export const TREES_AT_ONCE = 16;

export interface OwnedMember {
  readonly reading: ProcessReading;
  readonly proof: OwnershipProof;
  readonly handle: ProcessHandle;
}

export interface UnprovenProcess extends UnprovenMember {
  readonly handle: ProcessHandle;
}

/** Live processes with their proofs, pinned until `release()`. */
export interface OwnedProcessTree extends Disposable {
  readonly lease: AcpxProcessLease;
  readonly root: Verdict;
  /** Children first; the root, when it is owned, comes last. */
  readonly members: readonly OwnedMember[];
  /** Ours, and left alone at their own request. */
  readonly detached: readonly ProcessReading[];
  /** Related in some way, but not provably ours: never signalled. */
  readonly unproven: readonly UnprovenProcess[];
  /** As long as there are any, nobody can say that all are gone. */
  readonly unreadable: readonly Fault[];
  /** Why a search that finds nobody would still not have seen everybody: one sentence each. */
  readonly doubts: readonly string[];
  release(): void;
}

const NOBODY = { detached: [], unproven: [], unreadable: [], doubts: [] };

/** What one examination adds to the context of all. */
export interface ExamineOptions {
  /** Members of an earlier tree, not released yet: they, and whoever descends from them, still belong to it. */
  readonly known?: readonly OwnedMember[];
  /** Live gateways: they and whoever descends from them are nobody's leftovers, whatever they have inherited. */
  readonly spared?: readonly ProcessIdentity[];
}

/** The verdict on the root alone: one process is read, no table. */
export function examineRoot(context: OwnershipContext, lease: AcpxProcessLease): OwnedProcessTree {
  if (lease.gatewayInstanceId !== context.gatewayInstanceId) return foreignTree(context, lease);
  const look = lookAtRoot(context, lease);
  const root = judge(lease, look.evidence, judgeOptions(context, lease));
  const members: OwnedMember[] =
    root.kind === "owned" && look.evidence.kind === "live" && look.handle !== undefined
      ? [{ reading: look.evidence.reading, proof: root.proof, handle: look.handle }]
      : [];
  return pinnedTree(context, [look], { lease, root, members, ...NOBODY });
}

/**
 * The root and everybody who can be proven to belong to it. A fault when the table could not be read whole.
 */
export async function examineTree(
  context: OwnershipContext,
  lease: AcpxProcessLease,
  { known = [], spared = [] }: ExamineOptions = {},
): Promise<Observed<OwnedProcessTree>> {
  if (lease.gatewayInstanceId !== context.gatewayInstanceId) {
    return { ok: true, value: foreignTree(context, lease) };
  }
  const census = await context.census();
  if (!census.ok) return census;
  const { snapshot, carriers } = census.value;
  const observer = observe(context.native);

  const pinnedRoot = lookAtRoot(context, lease);
  const pinnedKnown = known
    .filter(({ reading }) => reading.pid !== lease.rootPid)
    .map(({ handle, proof }) => ({ handle, proof, evidence: lookThrough(observer, handle) }))
    .filter(({ evidence }) => evidence.kind === "live");
  const knownPids = pinnedKnown.map(({ handle }) => handle.pid);
  const pids = new Set([
    ...candidatesFor(lease, snapshot),
    ...descendantsOf(snapshot, knownPids),
    ...(carriers.get(lease.leaseId) ?? []),
  ]);
  for (const never of [lease.rootPid, process.pid, 1, ...knownPids]) pids.delete(never);
  // A namespace's first process was started by no agent in it, and inherits the orphans of everybody.
  const sparedPids = spared.map(({ pid }) => pid).filter((pid) => pid !== 1);
  const exempt = [...sparedPids, ...descendantsOf(snapshot, sparedPids)].filter((pid) => pids.delete(pid));
  const others = lookAtAll(context.native, observer, [...pids]);
  // Opened before the others were read; the parent numbers they show are its own if it holds its number even now.
  const root = confirm(pinnedRoot);
  const followed = pinnedKnown.map((look) => ({ proof: look.proof, ...confirm(look) }));
  const looks = [root, ...others];
  const evidence = { root: root.evidence, others: others.map((look) => look.evidence), known: followed };
  const proven = proveTree(lease, evidence, judgeOptions(context, lease));
  const members = proven.members.flatMap(({ reading, proof }) => {
    const handle = [...looks, ...followed].find((look) => look.handle === proof.pin)?.handle;
    return handle === undefined ? [] : [{ reading, proof, handle }];
  });
  const unproven = proven.unproven.flatMap((member) => {
    const handle = looks.find(
      ({ evidence }) => evidence.kind === "live" && evidence.reading === member.reading,
    )?.handle;
    return handle === undefined ? [] : [{ ...member, handle }];
  });
  const doubts = [
    ...exempt.map((pid) => `process ${pid} looks like one of its own and runs under a live gateway`),
    ...unproven
      .filter(isRelatedUnderOtherName)
      .map(({ reading }) => `process ${reading.pid} is a relative that names another lease`),
    ...withheldSince(context, lease, census.value, proven).map(
      (pid) => `process ${pid} does not show its environment`,
    ),
  ];
  return { ok: true, value: pinnedTree(context, looks, { ...proven, lease, members, unproven, doubts }) };
}

/**
 * A nested gateway's agent, or one that gave itself an id, in the tree, the session or the group: never signalled, and
 * not nobody either, unless those numbers are seen to be somebody else's by now.
 */
function isRelatedUnderOtherName({ verdict: { kind, checks } }: UnprovenMember): boolean {
  return (
    kind === "foreign" && !checks.some(({ name, outcome }) => name === "kinship" && outcome === "mismatch")
  );
}

/**
 * Those who may be descendants and show no environment to tell: younger than the root, accounted for by nothing else
 * in the tree, and orphaned to where orphans of ours go (the first process, or an ancestor of the gateway). Whoever
 * still has another parent was born to that parent. A second look spares those who were only caught in an exec.
 */
function withheldSince(
  context: OwnershipContext,
  lease: AcpxProcessLease,
  { snapshot, withheld }: Census,
  proven: ProvenTree,
): number[] {
  const since = startTicks(lease.rootToken ?? lease.owner.token) ?? 0;
  const accounted = new Set([...proven.members, ...proven.unproven].map(({ reading }) => reading.pid));
  const parents = new Map(Array.from(snapshot.pid, (pid, row) => [pid, snapshot.ppid[row] ?? 0]));
  const adopters = new Set([1]);
  for (let pid = process.ppid; pid > 1 && !adopters.has(pid); pid = parents.get(pid) ?? 0) adopters.add(pid);
  return withheld
    .filter(({ pid, startTicks }) => !accounted.has(pid) && !(startTicks < since))
    .filter(({ pid }) => adopters.has(parents.get(pid) ?? 0))
    .map(({ pid }) => pid)
    .filter((pid) => hidesItsEnvironment(context, pid));
}

function hidesItsEnvironment({ native }: OwnershipContext, pid: number): boolean {
  const { evidence, handle } = lookAt(native, observe(native), pid);
  handle?.close();
  return evidence.kind === "unreadable" || (evidence.kind === "live" && !evidence.reading.environment.ok);
}

/** Nothing that another installation started is ever proven here, whatever the kernel says of it. */
function foreignTree(context: OwnershipContext, lease: AcpxProcessLease): OwnedProcessTree {
  const because = `The lease belongs to gateway instance ${lease.gatewayInstanceId}, not to this one.`;
  const root: Verdict = { kind: "foreign", because, checks: [] };
  return pinnedTree(context, [], { lease, root, members: [], ...NOBODY });
}

/** A prepared lease names nobody yet, and "nobody" is not evidence that somebody is gone. */
function lookAtRoot(context: OwnershipContext, lease: AcpxProcessLease): Look {
  const observer = observe(context.native);
  // Nor is this process, should it have that number by now, a wrapper of its own.
  if (lease.rootPid === 0 || lease.rootPid === process.pid) return { evidence: { kind: "absent", observer } };
  const held = context.launchHandle(lease.leaseId);
  if (held === undefined) return lookAt(context.native, observer, lease.rootPid);
  return { evidence: lookThrough(observer, held), handle: held };
}

function judgeOptions(context: OwnershipContext, lease: AcpxProcessLease): JudgeOptions {
  const launchPin = context.launchHandle(lease.leaseId);
  return launchPin === undefined ? context : { ...context, launchPin };
}

function pinnedTree(
  context: OwnershipContext,
  looks: readonly Look[],
  tree: Omit<OwnedProcessTree, "release" | typeof Symbol.dispose>,
): OwnedProcessTree {
  const held = context.launchHandle(tree.lease.leaseId);
  const release = () => {
    for (const { handle } of looks) if (handle !== held) handle?.close();
  };
  return { ...tree, release, [Symbol.dispose]: release };
}
