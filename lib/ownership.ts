/**
 * From a lease to the live processes that are provably its own: gathers evidence, lets the pure rules judge it,
 * and keeps the handles, so that a proof can still be used when the verdict is in.
 */
import type { Observed, ProcessReading } from "./evidence.js";
import type { AcpxProcessLease } from "./lease.js";
import type { Native, ProcessHandle } from "./native.js";
import { confirm, lookAt, lookAtAll, observe, type Census, type Look } from "./process.js";
import { candidatesFor, proveTree, type UnprovenMember } from "./process-tree.js";
import { judge, type JudgeOptions, type OwnershipProof, type Verdict } from "./verdict.js";

/** What every judgement of one lifecycle shares. */
export interface OwnershipContext extends JudgeOptions {
  readonly native: Native;
  /** A table that was begun after the call; see `sharedCensus`. */
  readonly census: () => Promise<Observed<Census>>;
}

export interface OwnedMember {
  readonly reading: ProcessReading;
  readonly proof: OwnershipProof;
  readonly handle: ProcessHandle;
}

/** Live processes with their proofs, pinned until `release()`. */
export interface OwnedProcessTree extends Disposable {
  readonly lease: AcpxProcessLease;
  readonly root: Verdict;
  /** Children first; the root, when it is owned, comes last. */
  readonly members: readonly OwnedMember[];
  /** Related in some way, but not provably ours: never signalled. */
  readonly unproven: readonly UnprovenMember[];
  release(): void;
}

/** The verdict on the root alone: one process is read, no table. */
export function examineRoot(context: OwnershipContext, lease: AcpxProcessLease): OwnedProcessTree {
  const look = lookAtRoot(context, lease);
  const root = judge(lease, look.evidence, context);
  const members: OwnedMember[] =
    root.kind === "owned" && look.evidence.kind === "live" && look.handle !== undefined
      ? [{ reading: look.evidence.reading, proof: root.proof, handle: look.handle }]
      : [];
  return ownedTree(lease, root, members, [], [look]);
}

/** The root and everybody who can be proven to belong to it. A fault when the table could not be read whole. */
export async function examineTree(
  context: OwnershipContext,
  lease: AcpxProcessLease,
): Promise<Observed<OwnedProcessTree>> {
  const census = await context.census();
  if (!census.ok) return census;
  const { snapshot, carriers } = census.value;
  const observer = observe(context.native);

  const pinnedRoot = lookAtRoot(context, lease);
  const pids = new Set([...candidatesFor(lease, snapshot), ...(carriers.get(lease.leaseId) ?? [])]);
  pids.delete(lease.rootPid);
  pids.delete(process.pid);
  pids.delete(1);
  const others = lookAtAll(context.native, observer, [...pids]);
  // Opened before the others were read; the parent numbers they show are its own if it holds its number even now.
  const root = confirm(pinnedRoot);
  const looks = [root, ...others];
  const handles = new Map<object, ProcessHandle>();
  for (const { handle } of looks) if (handle !== undefined) handles.set(handle, handle);
  const evidence = { root: root.evidence, others: others.map((look) => look.evidence) };
  const proven = proveTree(lease, evidence, context);
  const members = proven.members.flatMap(({ reading, proof }) => {
    const handle = handles.get(proof.pin);
    return handle === undefined ? [] : [{ reading, proof, handle }];
  });
  return { ok: true, value: ownedTree(lease, proven.root, members, proven.unproven, looks) };
}

function lookAtRoot(context: OwnershipContext, lease: AcpxProcessLease): Look {
  const observer = observe(context.native);
  // A prepared lease names nobody yet; "nobody" is not evidence that somebody is gone.
  if (lease.rootPid === 0) {
    return {
      evidence: {
        kind: "unreadable",
        observer,
        fault: { ok: false, reason: "unsupported", call: "no root recorded" },
      },
    };
  }
  return lookAt(context.native, observer, lease.rootPid);
}

function ownedTree(
  lease: AcpxProcessLease,
  root: Verdict,
  members: readonly OwnedMember[],
  unproven: readonly UnprovenMember[],
  looks: readonly Look[],
): OwnedProcessTree {
  const release = () => {
    for (const look of looks) look.handle?.close();
  };
  return { lease, root, members, unproven, release, [Symbol.dispose]: release };
}
