/**
 * Ending a tree that is provably ours. A live supervisor does the work and its way of ending is the proof; where
 * there is none, members are ended one by one, each with its own proof, until two looks in a row find nobody.
 */
import { setTimeout as delay } from "node:timers/promises";

import { LifecycleError } from "./errors.js";
import type { Observed } from "./evidence.js";
import type { ProcessIdentity } from "./identity.js";
import type { OwnedMember, OwnedProcessTree, UnprovenProcess } from "./ownership.js";
import { signalProven } from "./process.js";

export interface TerminationPolicy {
  /** Between TERM and KILL, milliseconds. */
  readonly termGraceMs: number;
  /** From the first signal until whoever is left is reported as a survivor, milliseconds. */
  readonly budgetMs: number;
}

/** What acpx waits for an agent after SIGTERM before it sends SIGKILL; a longer grace would never be used up. */
export const ACPX_TERM_GRACE_MS = 1_500;
export const DEFAULT_TERM_GRACE_MS = 1_000;
export const MAX_TERM_GRACE_MS = 1_200;
/** The supervisor gives up on unkillable descendants this long after the grace. */
const SUPERVISOR_BOUND_MS = 3_000;
const KILL_ROUND_MS = 250;

/** grace < acpx's own fixed wait; grace + the supervisor's bound < our budget: each bound is inside the next. */
export function terminationPolicy(termGraceMs: number = DEFAULT_TERM_GRACE_MS): TerminationPolicy {
  if (!Number.isInteger(termGraceMs) || termGraceMs < 0 || termGraceMs > MAX_TERM_GRACE_MS) {
    throw new LifecycleError(
      "ERR_INVALID_OPTION",
      `termGraceMs is ${String(termGraceMs)}: give a whole number of milliseconds from 0 to ${MAX_TERM_GRACE_MS} (acpx sends SIGKILL after ${ACPX_TERM_GRACE_MS}).`,
    );
  }
  return { termGraceMs, budgetMs: termGraceMs + SUPERVISOR_BOUND_MS + 1_000 };
}

export interface Survivor extends ProcessIdentity {
  /** `denied`: another uid. `unproven`: may be the lease's, and nothing proves it. `unkillable`: got SIGKILL and is still there. `budget`: time ran out before SIGKILL. */
  readonly reason: "denied" | "unproven" | "unkillable" | "budget";
}

/** How a child of ours ended, as only its parent's wait can tell. */
export interface WayOfEnding {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type Termination =
  | {
      readonly ended: true;
      /** `subreaper`: the kernel told the supervisor that no descendant is left. `search`: two looks found nobody. */
      readonly proof: "subreaper" | "search";
      /** Deaths that were observed after a signal of ours. */
      readonly deaths: readonly ProcessIdentity[];
      /** Alive, and left alone at their own request. */
      readonly detached: readonly ProcessIdentity[];
      /** Why the search may not have seen everybody; none where the proof is the subreaper's. */
      readonly doubts: readonly string[];
    }
  | {
      readonly ended: false;
      readonly because: string;
      readonly survivors: readonly Survivor[];
      readonly deaths: readonly ProcessIdentity[];
    };

/** Signals that the supervisor handles: dying by one of them (or by an exit code) follows only after ECHILD. */
const HANDLED: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGHUP",
  "SIGINT",
  "SIGTERM",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
]);

/** Whether this end of a supervisor proves that none of its descendants was left (opted-out ones excepted). */
export function provesEmptyTree(ending: WayOfEnding): boolean {
  return ending.signal === null ? ending.code !== null : HANDLED.has(ending.signal);
}

/**
 * TERM to a live, owned supervisor, and the wait for its end.
 *
 * @param ending resolves with the way it ended, where it is a child of ours
 * @returns undefined when its end was not seen in time or proves nothing: then only a search can tell
 */
export async function terminateSupervisor(
  supervisor: OwnedMember,
  policy: TerminationPolicy,
  ending?: Promise<WayOfEnding>,
): Promise<{ readonly deaths: readonly ProcessIdentity[]; readonly proven: boolean }> {
  const sent = terminate(supervisor);
  if (!sent.ok && sent.reason !== "gone") return { deaths: [], proven: false };
  if (!(await allExited([supervisor], policy.budgetMs))) return { deaths: [], proven: false };
  const deaths = [identityOf(supervisor)];
  if (ending === undefined) return { deaths, proven: false };
  // The kernel has told us of the death; the parent's wait follows within one turn of the event loop.
  const way = await Promise.race([ending, delay(policy.budgetMs, undefined, { ref: false })]);
  return { deaths, proven: way !== undefined && provesEmptyTree(way) };
}

/** A fresh look; `known` are members of earlier ones. */
type Search = (known: readonly OwnedMember[]) => Promise<Observed<OwnedProcessTree>>;

/**
 * Whoever was proven once is followed to its end: to lose its parent takes nobody out of the tree. Nor is somebody
 * who may be the lease's forgotten when the parent that made it look so has ended.
 */
class Pursuit implements Disposable {
  readonly #known = new Map<string, OwnedMember>();
  readonly #doubtful = new Map<string, UnprovenProcess>();
  readonly #detached = new Map<string, ProcessIdentity>();
  readonly #trees: OwnedProcessTree[] = [];

  constructor(private readonly search: Search) {}

  async look(): Promise<Observed<OwnedProcessTree>> {
    const looked = await this.search([...this.#known.values()]);
    if (!looked.ok) return looked;
    this.#trees.push(looked.value);
    for (const member of looked.value.members) {
      const key = keyOf(identityOf(member));
      if (!this.#known.has(key)) this.#known.set(key, member);
    }
    for (const { pid, token } of looked.value.detached)
      this.#detached.set(keyOf({ pid, token }), { pid, token });
    for (const process of looked.value.unproven) this.#doubtful.set(keyOf(process.reading), process);
    return looked;
  }

  /**
   * Related, and nobody can say that they are not the lease's: they count as left, and nobody may signal them. Those
   * that the latest verdict calls foreign are no survivors.
   */
  unproven(): Survivor[] {
    return [...this.#doubtful.values()]
      .filter(({ reading, verdict, handle }) => {
        return verdict.kind === "unknown" && !this.#known.has(keyOf(reading)) && handle.read([]).ok;
      })
      .map(({ reading, verdict }) => {
        const otherUid = verdict.checks.some(({ name, outcome }) => name === "uid" && outcome === "mismatch");
        return { pid: reading.pid, token: reading.token, reason: otherUid ? "denied" : "unproven" };
      });
  }

  /** Found in any look: who was seen to opt out is told of even when only a dead parent had made it ours. */
  detached(): ProcessIdentity[] {
    return [...this.#detached.values()];
  }

  [Symbol.dispose](): void {
    for (const tree of this.#trees) tree.release();
  }
}

/**
 * Ends whoever can be found and proven, to a bounded fixed point.
 *
 * @param search trees are released here
 */
export async function terminateBySearch(search: Search, policy: TerminationPolicy): Promise<Termination> {
  using pursuit = new Pursuit(search);
  // From the first signal on: a table that takes long to read must not use up the grace.
  let started: number | undefined;
  const termed = new Set<string>();
  const deaths = new Map<string, ProcessIdentity>();
  let emptyLooks = 0;
  for (;;) {
    const looked = await pursuit.look();
    if (!looked.ok) {
      return {
        ended: false,
        because: `could not look: ${looked.call}`,
        survivors: [],
        deaths: [...deaths.values()],
      };
    }
    const tree = looked.value;
    const unproven = pursuit.unproven();
    if (tree.members.length === 0) {
      if (unproven.length > 0)
        return survived("related processes are left that cannot be proven", unproven, deaths);
      const [unreadable] = tree.unreadable;
      if (unreadable !== undefined)
        return survived(`a candidate could not be read: ${unreadable.call}`, [], deaths);
      emptyLooks += 1;
      if (emptyLooks === 2) {
        const { doubts } = tree;
        return {
          ended: true,
          proof: "search",
          deaths: [...deaths.values()],
          detached: pursuit.detached(),
          doubts,
        };
      }
      continue;
    }
    emptyLooks = 0;
    started ??= performance.now();
    const elapsed = performance.now() - started;
    const kill = elapsed >= policy.termGraceMs;
    if (elapsed >= policy.budgetMs) {
      const reason = kill ? "unkillable" : "budget";
      return survived(
        "members outlived the budget",
        [...tree.members.map((m) => ({ ...identityOf(m), reason }) as const), ...unproven],
        deaths,
      );
    }
    const refused: Survivor[] = [];
    for (const member of tree.members) {
      const key = keyOf(identityOf(member));
      if (!kill && termed.has(key)) continue;
      const sent = kill ? signalProven(member.handle, member.proof, "SIGKILL") : terminate(member);
      termed.add(key);
      if (!sent.ok && sent.reason !== "gone") refused.push({ ...identityOf(member), reason: "denied" });
    }
    if (refused.length === tree.members.length)
      return survived("the kernel refused every signal", refused, deaths);
    // Whoever cannot be killed must not hide its newborn children until the budget is gone.
    const patience = kill ? Math.min(KILL_ROUND_MS, policy.budgetMs - elapsed) : policy.termGraceMs - elapsed;
    await allExited(tree.members, patience, (member) =>
      deaths.set(keyOf(identityOf(member)), identityOf(member)),
    );
  }
}

/** A stopped process would keep TERM pending for ever; CONT lets it obey. */
function terminate(member: OwnedMember): Observed<unknown> {
  const sent = signalProven(member.handle, member.proof, "SIGTERM");
  if (sent.ok) signalProven(member.handle, member.proof, "SIGCONT");
  return sent;
}

async function allExited(
  members: readonly OwnedMember[],
  patienceMs: number,
  onDeath?: (member: OwnedMember) => void,
): Promise<boolean> {
  const abort = new AbortController();
  const everyone = Promise.all(
    members.map(async (member) => {
      // A watch that cannot be kept says nothing: then only the time ends the wait.
      if ((await member.handle.exited()) !== "exited") await new Promise<never>(() => undefined);
      onDeath?.(member);
    }),
  ).then(() => true);
  try {
    return await Promise.race([everyone, delay(Math.max(0, patienceMs), false, { signal: abort.signal })]);
  } finally {
    abort.abort();
  }
}

function survived(
  because: string,
  survivors: readonly Survivor[],
  deaths: ReadonlyMap<string, ProcessIdentity>,
): Termination {
  return { ended: false, because, survivors, deaths: [...deaths.values()] };
}

/** Without pidfs two processes that start in one tick have the same token. */
function keyOf({ pid, token }: ProcessIdentity): string {
  return `${pid} ${token}`;
}

function identityOf(member: OwnedMember): ProcessIdentity {
  return member.proof.identity;
}
