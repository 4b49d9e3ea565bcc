/**
 * Brings one lease to its end: signals what is provably its own, and writes down what was proven. Whatever could not
 * be looked at leaves the lease as it is, with a reason.
 */
import { announce } from "./diagnostics.js";
import type { ProcessIdentity } from "./identity.js";
import {
  hasEnded,
  namesTheSame,
  type AcpxProcessLease,
  type EndProof,
  type LeaseEvent,
  type LeaseState,
} from "./lease.js";
import { advance, type AdvanceOutcome, type LeaseStore } from "./lease-store.js";
import { examineRoot, examineTree, type OwnedMember, type OwnershipContext } from "./ownership.js";
import {
  provesEmptyTree,
  terminateBySearch,
  terminateSupervisor,
  type Survivor,
  type Termination,
  type TerminationPolicy,
  type WayOfEnding,
} from "./terminate.js";
import type { WrapperPort } from "./wrapper-port.js";

export interface SettleContext extends OwnershipContext {
  readonly store: LeaseStore;
  readonly policy: TerminationPolicy;
  readonly wrapper: Pick<WrapperPort, "detached">;
}

export interface SettleOptions {
  /** How the root ended, where this process is its parent. */
  readonly ending?: Promise<WayOfEnding>;
  /** The state of a lease of which nothing was found alive any more. */
  readonly whenNothingLived: "closed" | "lost";
  readonly reason: string;
  /** Live gateways, see ExamineOptions. */
  readonly spared?: readonly ProcessIdentity[];
}

export interface Settlement {
  readonly leaseId: string;
  readonly sessionKey: string;
  /** `open` and `closing`: it was left as it is, `because` says why. */
  readonly state: LeaseState;
  readonly because: string;
  readonly proof?: EndProof;
  /** Deaths that were observed after a signal of ours; not the number of signals. */
  readonly deaths: readonly ProcessIdentity[];
  readonly survivors: readonly Survivor[];
  /** Alive, and left alone at their own request. */
  readonly detached: readonly ProcessIdentity[];
}

/**
 * Idempotent: a lease that has ended is reported as it stands. Sends a signal only to what is proven in here.
 *
 * @param known the lease as the caller knows it; stands in for one whose files cannot be read or were damaged
 */
export async function settleLease(
  context: SettleContext,
  known: AcpxProcessLease,
  options: SettleOptions,
): Promise<Settlement> {
  let lease = await latest(context, known);
  let deaths: readonly ProcessIdentity[] = [];
  for (;;) {
    const settled = await settleAsNamed(context, lease, options, deaths);
    if (hasEnded(settled)) return settled;
    const now = await latest(context, lease);
    // A launch under way may have named somebody meanwhile: twice at most, so this ends.
    if (namesTheSame(now, lease)) return settled;
    ({ deaths } = settled);
    lease = now;
  }
}

async function latest(
  { store }: Pick<SettleContext, "store">,
  known: AcpxProcessLease,
): Promise<AcpxProcessLease> {
  return (await store.load(known.leaseId).catch(() => undefined)) ?? known;
}

/**
 * Ends whom this revision of a lease names, and the lease unless a later one names more.
 *
 * @param before deaths that were seen under earlier revisions
 */
async function settleAsNamed(
  context: SettleContext,
  lease: AcpxProcessLease,
  options: SettleOptions,
  before: readonly ProcessIdentity[],
): Promise<Settlement> {
  if (hasEnded(lease)) return { ...asItStands(lease), deaths: before };
  if (lease.rootPid === 0) return await end(context, lease, "lost", "no process was recorded for it");

  const terminated = await terminate(context, lease, options);
  const termination = { ...terminated, deaths: [...before, ...terminated.deaths] };
  if (!termination.ended) return left(lease, termination.because, { ...termination, detached: [] });
  const doubts = [...termination.doubts, ...blindness(lease, termination.proof)];
  // Whoever may not have seen everybody must not say that nobody is left.
  if (doubts.length > 0)
    return await end(context, lease, "lost", [options.reason, ...doubts].join("; "), termination);
  const lived = termination.deaths.length > 0 || termination.proof === "subreaper";
  return await end(context, lease, lived ? "closed" : options.whenNothingLived, options.reason, termination);
}

/** Without the adapter's identity a search knows neither its session nor its group. */
function blindness(lease: AcpxProcessLease, proof: EndProof): string[] {
  if (lease.launch === "direct" || proof === "subreaper" || lease.adapterPid !== undefined) return [];
  return ["its adapter was never recorded, so a search could not find everybody"];
}

/** The root's end was seen and proves by itself that nobody is left. */
export async function settleProven(
  context: Pick<SettleContext, "store" | "native" | "wrapper">,
  lease: AcpxProcessLease,
  reason: string,
): Promise<Settlement> {
  const detached = await detachedFrom(context, lease);
  return await end(context, lease, "closed", reason, { proof: "subreaper", deaths: [], detached });
}

/** Writes down that nothing can be running any more, without a look at any process. */
export async function settleLost(
  context: Pick<SettleContext, "store">,
  lease: AcpxProcessLease,
  reason: string,
): Promise<Settlement> {
  return await end(context, lease, "lost", reason);
}

/** The supervisor's list is a hint: who is named in it is looked at here before it is told on. */
async function detachedFrom(
  { native, wrapper }: Pick<SettleContext, "native" | "wrapper">,
  { rootPid, rootToken = "" }: AcpxProcessLease,
): Promise<ProcessIdentity[]> {
  // It ended before anybody could read who it was, so nothing ran below it.
  if (rootPid === 0) return [];
  const named = await wrapper.detached({ pid: rootPid, token: rootToken });
  return named.filter(({ pid, token }) => {
    const opened = native.open(pid);
    if (!opened.ok) return false;
    const reading = opened.value.read([]);
    opened.value.close();
    return reading.ok && reading.value.uid === process.geteuid?.() && reading.value.token === token;
  });
}

async function terminate(
  context: SettleContext,
  lease: AcpxProcessLease,
  options: SettleOptions,
): Promise<Termination> {
  let deaths: readonly ProcessIdentity[] = [];
  using root = examineRoot(context, lease);
  if (root.root.kind === "unknown")
    return { ended: false, because: root.root.because, survivors: [], deaths };
  const supervisor = lease.launch === "wrapper" ? root.members.at(-1) : undefined;
  if (supervisor !== undefined) {
    const ended = await terminateSupervisor(supervisor, context.policy, options.ending);
    if (ended.proven) {
      const detached = await detachedFrom(context, lease);
      return { ended: true, proof: "subreaper", deaths: ended.deaths, detached, doubts: [] };
    }
    deaths = ended.deaths;
  }
  const { spared = [] } = options;
  const search = (known: readonly OwnedMember[]) => examineTree(context, lease, { known, spared });
  const searched = await terminateBySearch(search, context.policy);
  return { ...searched, deaths: [...deaths, ...searched.deaths] };
}

/** Whether a root's observed end settles its lease without any look at the process table. */
export function settledByEnding(lease: AcpxProcessLease, ending: WayOfEnding): boolean {
  return lease.launch === "wrapper" && provesEmptyTree(ending);
}

/** A lease without a root is only ever `lost`: nobody's end could have been seen. */
async function end(
  context: Pick<SettleContext, "store">,
  lease: AcpxProcessLease,
  wanted: "closed" | "lost",
  reason: string,
  found?: Pick<Extract<Termination, { ended: true }>, "proof" | "deaths" | "detached">,
): Promise<Settlement> {
  const { deaths = [], detached = [] } = found ?? {};
  // The subreaper's word holds for everybody, whoever was looked for.
  const ended = {
    type: "ended",
    reason,
    ...(found?.proof === "subreaper" ? {} : { lookedFor: lease }),
  } as const;
  const event: LeaseEvent =
    wanted === "closed" && found !== undefined && lease.rootPid !== 0
      ? { ...ended, state: "closed", proof: found.proof }
      : { ...ended, state: "lost" };
  let advanced: AdvanceOutcome;
  try {
    advanced = await advance(context.store, lease.leaseId, event);
  } catch (error) {
    // A full or read-only disk must not keep anybody from being ended; the next sweep writes it down.
    const detail = error instanceof Error ? error.message : String(error);
    return left(lease, `ended, but not written down: ${detail}`, { deaths, detached, survivors: [] });
  }
  if (!advanced.ok) {
    // Somebody else ended it in the meantime: theirs is the truth in the store, the deaths are ours all the same.
    const now = await context.store.load(lease.leaseId).catch(() => undefined);
    if (now !== undefined && hasEnded(now)) return { ...asItStands(now), deaths, detached };
    const because =
      advanced.because === "refused" ? advanced.detail : `ended, but not written down: ${advanced.detail}`;
    return left(lease, because, { deaths, detached, survivors: [] });
  }
  announce({ type: "lease-ended", leaseId: lease.leaseId, state: event.state, deaths: deaths.length });
  return { ...asItStands(advanced.lease), deaths, detached };
}

function left(
  lease: AcpxProcessLease,
  because: string,
  facts: Pick<Settlement, "deaths" | "survivors" | "detached">,
): Settlement {
  announce({ type: "lease-left", leaseId: lease.leaseId, because });
  const { leaseId, sessionKey, state } = lease;
  return { leaseId, sessionKey, state, because, ...facts };
}

function asItStands(lease: AcpxProcessLease): Settlement {
  const { leaseId, sessionKey, state } = lease;
  const proof = lease.proof === undefined ? {} : { proof: lease.proof };
  return {
    leaseId,
    sessionKey,
    state,
    because: lease.reason ?? "",
    ...proof,
    deaths: [],
    survivors: [],
    detached: [],
  };
}
