/**
 * The launches of this process, from the lease that precedes the spawn to the end that its parent's wait observes.
 * acpx drives them through its hooks, `lifecycle.launch` by hand; both go through the same five steps.
 */
import { randomUUID } from "node:crypto";

import { startAdapter } from "./adapter-start.js";
import { announce } from "./diagnostics.js";
import { LifecycleError } from "./errors.js";
import type { Observed } from "./evidence.js";
import type { ProcessIdentity } from "./identity.js";
import { openLease, type AcpxProcessLease, type LeaseEvent } from "./lease.js";
import { advance } from "./lease-store.js";
import type { ProcessHandle } from "./native.js";
import { commandHash } from "./process.js";
import {
  settleLost,
  settleLease,
  settleProven,
  settledByEnding,
  type SettleContext,
  type Settlement,
} from "./settle.js";
import type { WayOfEnding } from "./terminate.js";
import type { InstalledWrapper } from "./wrapper.js";
import type { WrapperPort } from "./wrapper-port.js";

/** What is about to be started. */
export interface LaunchRequest {
  /** The host's name for this launch; unique. */
  readonly launchId: string;
  readonly sessionKey: string;
  /** A path under the wrapper root makes it a wrapped launch, anything else a direct one. */
  readonly command: string;
  readonly args: readonly string[];
}

export interface LaunchContext extends SettleContext {
  readonly owner: AcpxProcessLease["owner"];
  /** Real path. */
  readonly wrapperRoot: string;
  /** A session runs under this lease now. */
  readonly noteLease: (sessionKey: string, leaseId: string) => Promise<void>;
  /** Collects the images that were installed, for the verdicts. */
  readonly wrapperImages: string[];
  readonly wrapper: WrapperPort;
}

/** A prepared lease whose spawn is never heard of again is given up after this long (monotonic), milliseconds. */
const PREPARED_MS = 60_000;

interface Launch {
  /** As this process published it last: a store that fails meanwhile takes no agent out of our sight. */
  lease: AcpxProcessLease;
  readonly preparedAt: number;
  readonly wrapper?: InstalledWrapper;
  readonly ending: PromiseWithResolvers;
  handle?: ProcessHandle;
  adapter?: ProcessHandle;
  /** Monotonic, when the lease was last told that the adapter lives. */
  seenAt?: number;
}

interface PromiseWithResolvers {
  readonly promise: Promise<WayOfEnding>;
  readonly resolve: (ending: WayOfEnding) => void;
}

/** A spawned process, pinned in the same turn of the event loop as the spawn was reported. */
export interface PinnedLaunch {
  readonly launchId: string;
  readonly pid: number;
  readonly opened: Observed<ProcessHandle>;
}

export class Launches {
  readonly #launches = new Map<string, Launch>();
  readonly #settling = new Map<string, Promise<Settlement | undefined>>();

  #disposed = false;

  constructor(private readonly context: LaunchContext) {}

  /** Before the spawn: publishes the lease. No lease, no launch. */
  async prepare(request: LaunchRequest): Promise<AcpxProcessLease> {
    if (this.#disposed) {
      throw new LifecycleError(
        "ERR_DISPOSED",
        "Nothing was started: the lifecycle was disposed of. Open it again.",
      );
    }
    await this.giveUpPrepared();
    const { context } = this;
    const name = wrapperName(context.wrapperRoot, request.command);
    const wrapper = name === undefined ? undefined : await context.wrapper.install(name);
    if (wrapper !== undefined && !context.wrapperImages.includes(wrapper.fileId)) {
      context.wrapperImages.push(wrapper.fileId);
    }
    const lease = openLease({
      leaseId: randomUUID(),
      gatewayInstanceId: context.gatewayInstanceId,
      sessionKey: request.sessionKey,
      wrapperRoot: wrapper === undefined ? "" : context.wrapperRoot,
      wrapperPath: wrapper?.path ?? request.command,
      commandHash: commandHash([request.command, ...request.args]),
      startedAt: Date.now(),
      launch: wrapper === undefined ? "direct" : "wrapper",
      launchId: request.launchId,
      owner: context.owner,
    });
    try {
      await context.store.create(lease);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      throw new LifecycleError(
        "ERR_LAUNCH_REFUSED",
        `Nothing was started: the lease could not be written. ${detail}`,
        {
          cause: error,
        },
      );
    }
    this.#launches.set(request.launchId, {
      lease,
      preparedAt: performance.now(),
      ending: withResolvers(),
      ...(wrapper === undefined ? {} : { wrapper }),
    });
    announce({ type: "lease-opened", leaseId: lease.leaseId, sessionKey: lease.sessionKey });
    return lease;
  }

  /**
   * Must be the first statement after the spawn was reported: until this turn of the event loop ends, libuv cannot
   * reap the child, so its number is still its own.
   */
  pin(launchId: string, pid: number): PinnedLaunch {
    const opened = this.context.native.open(pid);
    const launch = this.#launches.get(launchId);
    if (opened.ok && launch === undefined) opened.value.close();
    if (opened.ok && launch !== undefined) launch.handle = opened.value;
    return { launchId, pid, opened };
  }

  /**
   * Records the identity, lets a wrapper go ahead, and waits until it has reported its adapter or has ended. Rejects
   * when the launch must not go on; the caller then ends the process that it spawned.
   */
  async admit(pinned: PinnedLaunch): Promise<void> {
    const launch = this.#launches.get(pinned.launchId);
    if (launch === undefined) throw refused(pinned, "it was never prepared here");
    if (!pinned.opened.ok) {
      // Dead already: the host reports that better than we could.
      if (pinned.opened.reason === "gone") return;
      throw refused(
        pinned,
        `it could not be pinned (${pinned.opened.call}: ${pinned.opened.errno ?? pinned.opened.reason})`,
      );
    }
    const handle = pinned.opened.value;
    const reading = handle.read([]);
    if (!reading.ok) {
      if (reading.reason === "gone") return;
      throw refused(pinned, `it could not be read (${reading.call}: ${reading.errno ?? reading.reason})`);
    }
    const root = reading.value;
    if (root.ppid !== process.pid) throw refused(pinned, "it is not a child of this process");
    if (root.uid !== process.geteuid?.()) throw refused(pinned, "it runs under another uid");
    const { wrapper } = launch;
    if (wrapper !== undefined && !(root.executable.ok && root.executable.value.fileId === wrapper.fileId)) {
      throw refused(pinned, `its executable is not the wrapper installed at ${wrapper.path}`);
    }
    const identity = { pid: root.pid, token: root.token };
    const leadsGroup = wrapper === undefined && root.pgid === root.pid;
    await this.#record(launch, {
      type: "spawned",
      rootPid: root.pid,
      rootToken: root.token,
      ...(leadsGroup ? { processGroupId: root.pgid } : {}),
    });
    const noted = this.context.noteLease(launch.lease.sessionKey, launch.lease.leaseId);
    if (wrapper !== undefined) await this.#startAdapter(launch, { ...identity, handle });
    await noted;
    announce({
      type: "launch-admitted",
      leaseId: launch.lease.leaseId,
      rootPid: root.pid,
      ...(launch.adapter === undefined ? {} : { adapterPid: launch.adapter.pid }),
    });
  }

  /** The spawn failed: nothing runs under this lease, unless it was spawned after all. */
  async failed(launchId: string): Promise<void> {
    const launch = this.#launches.get(launchId);
    if (launch === undefined) return;
    if (launch.handle === undefined) await this.#abandon(launchId, launch, "the spawn failed");
    else await this.settle(launch.lease.leaseId, "its spawn was reported as failed");
  }

  /** The parent's wait has seen the root end: the only place where its way of ending is known. */
  async exited(launchId: string, ending: WayOfEnding): Promise<Settlement | undefined> {
    const launch = this.#launches.get(launchId);
    if (launch === undefined) return undefined;
    launch.ending.resolve(ending);
    try {
      return await this.settle(launch.lease.leaseId, "its root ended", ending);
    } finally {
      await this.#forget(launchId, launch);
    }
  }

  /** Ends the tree of one lease of this process; concurrent calls join. */
  settle(leaseId: string, reason: string, ending?: WayOfEnding): Promise<Settlement | undefined> {
    const running = this.#settling.get(leaseId);
    if (running !== undefined) return running;
    const settling = this.#settle(leaseId, reason, ending).finally(() => this.#settling.delete(leaseId));
    this.#settling.set(leaseId, settling);
    return settling;
  }

  /**
   * The adapters of a session were alive just now: survivors that started before this moment can be told from a
   * stranger's later. Each note is a revision on disk, so an adapter is noted again only when it has lived an eighth
   * longer, at least a second and at most a minute.
   */
  async noteSeen(sessionKey: string): Promise<void> {
    const now = performance.now();
    for (const launch of this.#launches.values()) {
      const { adapter, seenAt, preparedAt } = launch;
      if (launch.lease.sessionKey !== sessionKey || adapter === undefined) continue;
      const pause = Math.min(Math.max((now - preparedAt) / 8, 1_000), 60_000);
      if (seenAt !== undefined && now - seenAt < pause) continue;
      const seen = adapter.read([]);
      if (!seen.ok) continue;
      launch.seenAt = now;
      await advance(this.context.store, launch.lease.leaseId, {
        type: "seen",
        seenTicks: seen.value.readAtTicks,
      });
    }
    await this.giveUpPrepared();
  }

  /** Ends prepared leases of which nothing was heard for a minute (or, at dispose, all of them). */
  async giveUpPrepared(olderThanMs = PREPARED_MS): Promise<void> {
    for (const [launchId, launch] of this.#launches) {
      if (launch.handle !== undefined || performance.now() - launch.preparedAt < olderThanMs) continue;
      await this.#abandon(launchId, launch, "no spawn was reported");
    }
  }

  /** The handle held since the launch of a lease. */
  handleOf(leaseId: string): ProcessHandle | undefined {
    return this.#byLease(leaseId)?.handle;
  }

  /** Those of a session that this process started and has not seen end. */
  leasesOf(sessionKey: string): AcpxProcessLease[] {
    const leases = [...this.#launches.values()].map(({ lease }) => lease);
    return leases.filter((lease) => lease.sessionKey === sessionKey);
  }

  /** Waits for endings under way; agents that still run are left alone. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await Promise.allSettled(this.#settling.values());
    await this.giveUpPrepared(0);
    for (const [launchId, launch] of this.#launches) await this.#forget(launchId, launch);
  }

  async #startAdapter(launch: Launch, root: ProcessIdentity & { handle: ProcessHandle }): Promise<void> {
    const adapter = await startAdapter(this.context, root, launch.lease.leaseId);
    if (adapter === undefined) return;
    launch.adapter = adapter.handle;
    await this.#record(launch, {
      type: "reported",
      adapterPid: adapter.reading.pid,
      adapterToken: adapter.reading.token,
      processGroupId: adapter.reading.pgid,
      seenTicks: adapter.reading.readAtTicks,
    });
  }

  async #record(launch: Launch, event: LeaseEvent): Promise<void> {
    const advanced = await advance(this.context.store, launch.lease.leaseId, event);
    if (advanced.ok) {
      launch.lease = advanced.lease;
      return;
    }
    throw new LifecycleError(
      "ERR_LAUNCH_REFUSED",
      `The launch under lease ${launch.lease.leaseId} must not go on: ${advanced.detail}. Start the session again.`,
    );
  }

  async #settle(leaseId: string, reason: string, ending?: WayOfEnding): Promise<Settlement | undefined> {
    const launch = this.#byLease(leaseId);
    const lease = launch?.lease ?? (await this.context.store.load(leaseId));
    if (lease === undefined) return undefined;
    if (ending !== undefined && settledByEnding(lease, ending)) {
      return await settleProven(this.context, lease, reason);
    }
    return await settleLease(this.context, lease, {
      whenNothingLived: "closed",
      reason,
      ...(launch === undefined ? {} : { ending: launch.ending.promise }),
    });
  }

  #byLease(leaseId: string): Launch | undefined {
    for (const launch of this.#launches.values()) if (launch.lease.leaseId === leaseId) return launch;
    return undefined;
  }

  async #abandon(launchId: string, launch: Launch, reason: string): Promise<void> {
    await settleLost(this.context, launch.lease, reason);
    await this.#forget(launchId, launch);
  }

  async #forget(launchId: string, { handle, adapter }: Launch): Promise<void> {
    this.#launches.delete(launchId);
    adapter?.close();
    handle?.close();
    if (handle !== undefined) await this.context.wrapper.forget(handle);
  }
}

/** `<wrapperRoot>/<name>` and nothing deeper; undefined for every other command. */
function wrapperName(wrapperRoot: string, command: string): string | undefined {
  if (!command.startsWith(`${wrapperRoot}/`)) return undefined;
  const name = command.slice(wrapperRoot.length + 1);
  return name === "" || name.includes("/") ? undefined : name;
}

function refused(pinned: PinnedLaunch, because: string): LifecycleError {
  return new LifecycleError(
    "ERR_LAUNCH_REFUSED",
    `Process ${pinned.pid} of launch ${pinned.launchId} is not accepted as the agent that was to be started: ${because}.`,
  );
}

function withResolvers(): PromiseWithResolvers {
  let resolve: (ending: WayOfEnding) => void = () => undefined;
  const promise = new Promise<WayOfEnding>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
