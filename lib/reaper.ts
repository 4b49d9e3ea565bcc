/**
 * The sweep: from the leases of this installation whose gateway is dead, to processes that are provably theirs.
 * It never starts from what looks like an agent.
 */
import { eachOf } from "./concurrency.js";
import { announce } from "./diagnostics.js";
import { sameScope, type ProcessIdentity } from "./identity.js";
import type { AcpxProcessLease } from "./lease.js";
import type { OwnerLiveness } from "./owner-lock.js";
import { examineTree, TREES_AT_ONCE } from "./ownership.js";
import type { UnleasedEnding } from "./session-close.js";
import { candidatesFor } from "./process-tree.js";
import { settleLease, settleLost, type SettleContext, type Settlement } from "./settle.js";

export interface ReapOptions {
  /** Leases not yet begun are left for the next sweep. */
  readonly signal?: AbortSignal;
  /** The same after this many milliseconds; default 60,000. */
  readonly deadlineMs?: number;
  /** Look and report; signal nobody, write nothing. */
  readonly dryRun?: boolean;
}

/** A lease that the sweep did not end, and why. */
export interface LeftLease {
  readonly leaseId: string;
  readonly sessionKey: string;
  readonly because: string;
}

/** A dry run's view of a lease that a sweep would settle. */
export interface PlannedEnd {
  readonly leaseId: string;
  readonly sessionKey: string;
  /** Would be ended, in this order. */
  readonly pids: readonly number[];
}

export interface ReapReport {
  /** `busy`: another sweep of this state directory is under way, so nothing was done here. */
  readonly kind: "swept" | "busy";
  /** Ended in this sweep: closed or lost. */
  readonly settled: readonly Settlement[];
  /** Inspected, and left open because something could not be proven or ended. */
  readonly left: readonly LeftLease[];
  /** Not ours to end: the owner lives, or nobody can tell. */
  readonly held: readonly LeftLease[];
  /** Deadline or abort came first, or the lease could not be read. */
  readonly notInspected: readonly { readonly leaseId: string; readonly because: string }[];
  /** Only from a dry run. */
  readonly planned: readonly PlannedEnd[];
  /** Processes that were seen to die after a signal of this sweep. */
  readonly deaths: number;
  /** Only where processes without a lease are looked for by their command line. */
  readonly unleased?: readonly UnleasedEnding[];
}

export interface ReapContext extends SettleContext {
  /** This gateway process. */
  readonly owner: ProcessIdentity;
  readonly livenessOf: (lease: AcpxProcessLease) => Promise<OwnerLiveness>;
  /** Runs alone among all sweeps of the state directory, or answers `busy`. */
  readonly alone: <T>(sweep: () => Promise<T>) => Promise<T | "busy">;
  /** What dead gateways left in the state directory besides leases. */
  readonly tidy: () => Promise<void>;
}

const DEADLINE_MS = 60_000;
/** Between two tables the work on so many leases is done in one go; more would hold up the event loop. */
const DESERTED_AT_ONCE = 250;

export class Reaper {
  constructor(private readonly context: ReapContext) {}

  async sweep(options: ReapOptions): Promise<ReapReport> {
    const report = await this.context.alone(() => this.#sweep(options));
    return report === "busy" ? { ...emptyReport(), kind: "busy" } : report;
  }

  /** Whether a lease of another gateway process may be settled by this one. */
  async mayEnd(lease: AcpxProcessLease): Promise<boolean> {
    if (lease.gatewayInstanceId !== this.context.gatewayInstanceId) return false;
    const { kind } = await this.context.livenessOf(lease);
    return kind === "dead" || kind === "dead-elsewhere";
  }

  /** Settles one lease of a dead owner; leaves every other one as it is. */
  async settle(
    lease: AcpxProcessLease,
    reason: string,
    spared?: readonly ProcessIdentity[],
  ): Promise<Settlement | undefined> {
    const { context } = this;
    if (lease.gatewayInstanceId !== context.gatewayInstanceId) return undefined;
    const liveness = await context.livenessOf(lease);
    switch (liveness.kind) {
      case "alive":
      case "unknown":
        return undefined;
      case "dead-elsewhere":
        // Its supervisor saw the parent die over there; numbers of another boot or namespace mean nothing here.
        return await settleLost(context, lease, liveness.because);
      case "dead": {
        const live = spared ?? (await this.#liveGateways((await context.store.listOpen()).leases));
        return await settleLease(context, lease, { whenNothingLived: "lost", reason, spared: live });
      }
    }
  }

  /** An agent may have started a gateway: what it has inherited makes it nobody's leftover. Ourselves first of all. */
  async #liveGateways(leases: readonly AcpxProcessLease[]): Promise<ProcessIdentity[]> {
    const owners = new Map(leases.map((lease) => [`${lease.owner.pid} ${lease.owner.token}`, lease]));
    const live: ProcessIdentity[] = [this.context.owner];
    for (const lease of owners.values()) {
      // A number of another namespace means somebody else here.
      if (!sameScope(lease.owner.token, this.context.owner.token)) continue;
      const { kind } = await this.context.livenessOf(lease);
      if (kind === "alive") live.push(lease.owner);
    }
    return live;
  }

  async #sweep({ signal, deadlineMs = DEADLINE_MS, dryRun = false }: ReapOptions): Promise<ReapReport> {
    const deadline = performance.now() + deadlineMs;
    const stopped = () => signal?.aborted === true || performance.now() > deadline;
    const report = emptyReport();
    const { leases, setAside, newer, unreadable } = await this.context.store.listOpen();
    const skip = (because: string) => (leaseId: string) => report.notInspected.push({ leaseId, because });
    setAside.forEach(skip("its files were damaged, and are set aside"));
    newer.forEach(skip("it was written by a newer version"));
    unreadable.forEach(skip("its files could not be read"));
    const inspect = async (lease: AcpxProcessLease) => {
      if (stopped()) skip("the sweep was stopped before")(lease.leaseId);
      else
        await this.#inspect(lease, { dryRun, spared }, report).catch((error: unknown) => {
          // One lease that fails must not keep the others from being looked at.
          skip(error instanceof Error ? error.message : String(error))(lease.leaseId);
        });
    };
    const spared = await this.#liveGateways(leases);
    const deserted = stopped() ? new Set<AcpxProcessLease>() : await this.#deserted(leases);
    const others = leases.filter((lease) => !deserted.has(lease));
    await Promise.all([eachOf(deserted, DESERTED_AT_ONCE, inspect), eachOf(others, TREES_AT_ONCE, inspect)]);
    if (!dryRun && !stopped()) {
      await this.#tidy();
    }
    return report;
  }

  /**
   * Leases of which a table shows nobody. They take no descriptors and nobody's end is waited for, so that many can
   * share the same few tables. Only an order of work: each is still settled by looks of its own.
   */
  async #deserted(leases: readonly AcpxProcessLease[]): Promise<ReadonlySet<AcpxProcessLease>> {
    const census = leases.length > TREES_AT_ONCE ? await this.context.census() : undefined;
    if (census?.ok !== true) return new Set();
    const { snapshot, carriers } = census.value;
    const taken = new Set(snapshot.pid);
    const isDeserted = (lease: AcpxProcessLease) =>
      !taken.has(lease.rootPid) &&
      !carriers.has(lease.leaseId) &&
      candidatesFor(lease, snapshot).length === 0;
    return new Set(leases.filter(isDeserted));
  }

  /** What is not swept today is swept tomorrow: no report is lost for it. */
  async #tidy(): Promise<void> {
    try {
      await this.context.store.prune();
      await this.context.tidy();
    } catch (error) {
      announce({ type: "warning", message: error instanceof Error ? error.message : String(error) });
    }
  }

  async #inspect(
    lease: AcpxProcessLease,
    { dryRun, spared }: { readonly dryRun: boolean; readonly spared: readonly ProcessIdentity[] },
    report: MutableReport,
  ): Promise<void> {
    const { leaseId, sessionKey } = lease;
    const held = await this.#whyHeld(lease);
    if (held !== undefined) {
      report.held.push({ leaseId, sessionKey, because: held });
      return;
    }
    if (dryRun) {
      const examined = await examineTree(this.context, lease, { spared });
      if (!examined.ok) {
        report.left.push({ leaseId, sessionKey, because: `could not look: ${examined.call}` });
        return;
      }
      using tree = examined.value;
      report.planned.push({ leaseId, sessionKey, pids: tree.members.map(({ reading }) => reading.pid) });
      return;
    }
    const settlement = await this.settle(lease, "its gateway is dead", spared);
    if (settlement === undefined) return;
    report.deaths += settlement.deaths.length;
    if (settlement.state === "closed" || settlement.state === "lost") report.settled.push(settlement);
    else report.left.push({ leaseId, sessionKey, because: settlement.because });
  }

  async #whyHeld(lease: AcpxProcessLease): Promise<string | undefined> {
    if (lease.gatewayInstanceId !== this.context.gatewayInstanceId)
      return "it belongs to another gateway instance";
    const { kind, because } = await this.context.livenessOf(lease);
    return kind === "alive" || kind === "unknown" ? because : undefined;
  }
}

type MutableReport = {
  -readonly [Key in keyof ReapReport]: ReapReport[Key] extends readonly (infer T)[] ? T[] : ReapReport[Key];
};

function emptyReport(): MutableReport {
  return { kind: "swept", settled: [], left: [], held: [], notInspected: [], planned: [], deaths: 0 };
}
