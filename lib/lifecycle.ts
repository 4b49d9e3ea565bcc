/**
 * The lifecycle of one gateway process: opens the state directory, says who it is, and composes launches, closing
 * and reaping into what a host uses. `control` puts the five methods of a controller on top.
 */
import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

import type { AcpRuntime, AcpRuntimeEnsureInput, AcpRuntimeOptions } from "./acpx.js";
import { mergedRuntimeOptions } from "./acpx-options.js";
import { mapOf } from "./concurrency.js";
import { announce } from "./diagnostics.js";
import { LifecycleError } from "./errors.js";
import type { ProcessReading } from "./evidence.js";
import { resolveGatewayInstanceId } from "./gateway-instance.js";
import { Launches, type LaunchContext } from "./launches.js";
import type { AcpxProcessLease, GatewayInstanceId } from "./lease.js";
import { openLegacy, type Legacy, type LegacyOptions } from "./legacy.js";
import { createLeaseStore, type LeaseStore } from "./lease-store.js";
import * as addon from "./native.js";
import { holdOwnerLock, hostId } from "./owner-lock.js";
import { examineRoot, examineTree, TREES_AT_ONCE, type OwnedProcessTree } from "./ownership.js";
import { observe, sharedCensus } from "./process.js";
import type { Reaper, ReapOptions, ReapReport } from "./reaper.js";
import { ownedSessions, type OwnedSessions } from "./owned-sessions.js";
import type { AcpSessionRow } from "./session-row-format.js";
import { openSessionRows } from "./session-rows.js";
import { controllerOf, type AcpxLifecycleController } from "./controller.js";
import { closeSession, type CloseOutcome, type CloseRequest } from "./session-close.js";
import type { Settlement } from "./settle.js";
import { spawnAgent, type AgentRequest, type LaunchedAgent } from "./spawn-agent.js";
import { openStateDir, type StateDir } from "./state-dir.js";
import { reaperOf } from "./state-dir-reaper.js";
import { terminationPolicy, type TerminationPolicy } from "./terminate.js";
import type { Verdict } from "./verdict.js";
import { installWrapper } from "./wrapper.js";
import { openWrapperPort } from "./wrapper-port.js";

export interface AcpxLifecycleOptions {
  /** Where leases live; one installation, possibly several gateway processes. */
  readonly stateDir: string;
  /** Where the wrapper images are installed; on a file system that allows execution. */
  readonly wrapperRoot: string;
  /** Between TERM and KILL, 0 to 1,200 milliseconds; default 1,000. */
  readonly termGraceMs?: number;
  /** Where leases are kept; default: files in the state directory, where claims, locks and the instance id stay. */
  readonly leaseStore?: LeaseStore;
  /** Sessions and lease files from before leases; `false`: there are none any more. */
  readonly legacy?: false | LegacyOptions;
}

export interface RuntimeOptionsRequest {
  /** Wrap exactly these agents; left out: all but those that a wrapper would take something away from. */
  readonly agents?: readonly string[];
}

export interface LeaseStatus {
  readonly lease: AcpxProcessLease;
  readonly verdict: Verdict;
  /** Provably ours and alive, children first. */
  readonly members: readonly ProcessReading[];
}

const lifecycles = new Map<string, Promise<AcpxLifecycle>>();

/**
 * Opens the lifecycle of this process for a state directory; later calls for the same directory join. Throws
 * LifecycleError: ERR_ADDON_UNAVAILABLE, ERR_STATE_DIR, ERR_WRAPPER_ROOT, ERR_INVALID_OPTION.
 */
export async function openAcpxLifecycle(options: AcpxLifecycleOptions): Promise<AcpxLifecycle> {
  for (const name of ["stateDir", "wrapperRoot"] as const)
    checkPath(name, (options as Partial<AcpxLifecycleOptions> | undefined)?.[name]);
  const policy = terminationPolicy(options.termGraceMs);
  const backend = addon.backend();
  if (!backend.supported) {
    throw new LifecycleError("ERR_ADDON_UNAVAILABLE", backend.reason ?? "The native addon is not available.");
  }
  const stateDir = await openStateDir(options.stateDir);
  const joined = lifecycles.get(stateDir.path);
  if (joined !== undefined) {
    const lifecycle = await joined;
    lifecycle.join(options);
    return lifecycle;
  }
  const opening = AcpxLifecycle.open(stateDir, options, policy);
  lifecycles.set(stateDir.path, opening);
  opening.catch(() => lifecycles.delete(stateDir.path));
  return await opening;
}

export interface CloseOwnedRequest extends Omit<CloseRequest, "handle"> {
  /** The owner. */
  readonly sessionKey: string;
}

/** Stands for a runtime that knows a session no more. */
const NOTHING_TO_CLOSE: CloseRequest["runtime"] = { close: () => Promise.resolve() };

function checkPath(name: string, value: unknown): void {
  if (typeof value === "string" && value !== "" && !value.includes("\0")) return;
  throw new TypeError(`openAcpxLifecycle needs ${name}: the path of a directory.`);
}

interface Parts {
  readonly options?: Pick<AcpxLifecycleOptions, "leaseStore" | "legacy">;
  readonly stateDir: string;
  readonly sessions: OwnedSessions;
  readonly context: LaunchContext;
  readonly launches: Launches;
  readonly reaper: Reaper;
  readonly ownerLock: { release(): void };
  readonly legacy?: Legacy | undefined;
}

export class AcpxLifecycle implements AsyncDisposable {
  readonly gatewayInstanceId: GatewayInstanceId;
  readonly stateDir: string;
  readonly wrapperRoot: string;
  readonly #opened: Parts;
  readonly #closing = new Map<string, Promise<CloseOutcome>>();
  #users = 1;

  /** @internal */
  static async open(
    stateDir: StateDir,
    options: AcpxLifecycleOptions,
    policy: TerminationPolicy,
  ): Promise<AcpxLifecycle> {
    // Run once here, so that a root which forbids execution shows at start-up and not at the first session.
    const installed = await installWrapper({ wrapperRoot: options.wrapperRoot, name: "acpx-wrapper" });
    const wrapperRoot = dirname(installed.realPath);
    const host = hostId();
    const observer = observe(addon);
    const owner = { pid: process.pid, token: observer.token, ...(host === undefined ? {} : { host }) };
    for (const message of stateDir.warnings) announce({ type: "warning", message });
    const warned = new Set<string>();
    const warnOnce = (message: string) => {
      if (!warned.has(message)) announce({ type: "warning", message });
      warned.add(message);
    };
    const store = options.leaseStore ?? (await createLeaseStore({ stateDir: stateDir.path }));
    const gatewayInstanceId = await resolveGatewayInstanceId({ stateDir: stateDir.path });
    const ownerLock = await holdOwnerLock(stateDir.path, owner);
    const sessions = ownedSessions(await openSessionRows(stateDir.path), gatewayInstanceId);
    const context: LaunchContext = {
      noteLease: (sessionKey, leaseId) => sessions.noteLease(sessionKey, leaseId),
      native: addon,
      census: sharedCensus(addon, observer),
      launchHandle: (leaseId) => launches.handleOf(leaseId),
      wrapperRoots: [wrapperRoot],
      wrapperImages: [installed.fileId],
      store,
      policy,
      gatewayInstanceId,
      owner,
      wrapperRoot,
      wrapper: openWrapperPort({
        wrapperRoot,
        claimsDir: stateDir.claims,
        gateway: owner,
        termGraceMs: policy.termGraceMs,
      }),
    };
    const launches = new Launches(context);
    const reaper = reaperOf(stateDir, { ...context, owner, warn: warnOnce });
    // An old command line names the root as it was configured then, which may be through a link.
    const wrapperRoots = [wrapperRoot, resolve(options.wrapperRoot)];
    const legacy =
      options.legacy === false
        ? undefined
        : await openLegacy({ ...context, wrapperRoots, warn: warnOnce }, stateDir.path, options.legacy);
    const opened = { options, sessions, context, launches, reaper, ownerLock, legacy };
    return new AcpxLifecycle({ stateDir: stateDir.path, ...opened });
  }

  /** @internal `open` gathers the parts of a real machine, a simulator its own. */
  constructor(parts: Parts) {
    this.#opened = parts;
    this.stateDir = parts.stateDir;
    this.gatewayInstanceId = parts.context.gatewayInstanceId;
    this.wrapperRoot = parts.context.wrapperRoot;
  }

  get #parts(): Parts {
    if (this.#users > 0) return this.#opened;
    throw new LifecycleError(
      "ERR_DISPOSED",
      `The lifecycle of ${this.stateDir} was disposed of: open it again with openAcpxLifecycle.`,
    );
  }

  /** @internal */
  join(options: AcpxLifecycleOptions): void {
    const { context, options: opened = {} } = this.#parts;
    const differing = [
      ...(terminationPolicy(options.termGraceMs).termGraceMs === context.policy.termGraceMs
        ? []
        : ["termGraceMs"]),
      ...(realPathOf(options.wrapperRoot) === this.wrapperRoot ? [] : ["wrapperRoot"]),
      ...(options.leaseStore === opened.leaseStore ? [] : ["leaseStore"]),
      ...(JSON.stringify(options.legacy) === JSON.stringify(opened.legacy) ? [] : ["legacy"]),
    ];
    if (differing.length > 0) {
      throw new LifecycleError(
        "ERR_INVALID_OPTION",
        `The lifecycle of ${this.stateDir} is open in this process with another ${differing.join(" and ")}: use the same, or another state directory.`,
      );
    }
    this.#users += 1;
  }

  /** What a host passes to acpx's createAcpRuntime: its own options with ours merged in. */
  runtimeOptions<O extends AcpRuntimeOptions>(options: O, request: RuntimeOptionsRequest = {}): O {
    const { context, launches, legacy } = this.#parts;
    const { environment } = context.wrapper;
    legacy?.watch(options.sessionStore);
    return mergedRuntimeOptions(options, launches, {
      ...request,
      environment,
      wrapperRoot: this.wrapperRoot,
    });
  }

  /** The controller of one runtime that was made with `runtimeOptions`. */
  control<E extends AcpRuntimeEnsureInput>(runtime: AcpRuntime<E>): AcpxLifecycleController<E> {
    return controllerOf(runtime, {
      ensure: async (input, start) => {
        await this.#settleLeftovers(input.sessionKey);
        return await this.#parts.sessions.ensure(input, start);
      },
      close: (request) => this.close(request),
      reap: () => this.reap(),
      verifyOwnedTree: (lease) => this.verifyOwnedTree(lease),
    });
  }

  /** Ends a session and says what happened. Idempotent; concurrent calls for one session join. */
  close(request: CloseRequest): Promise<CloseOutcome> {
    const key = JSON.stringify([request.handle.sessionKey, request.discardPersistentState === true]);
    const running = this.#closing.get(key);
    if (running !== undefined) return running;
    const { context, legacy } = this.#parts;
    const closing = closeSession(
      {
        store: context.store,
        leasesOf: (sessionKey) => this.#leasesOf(sessionKey),
        settle: (lease, reason) => this.#settle(lease, reason),
        ...(legacy && { unleased: (handle) => legacy.processOf(handle) }),
      },
      request,
    ).finally(() => this.#closing.delete(key));
    this.#closing.set(key, closing);
    return closing;
  }

  /** Closes every session that `sessionKey` owns or has spawned; not itself, and nobody who only names it as parent. */
  async closeOwnedBy(request: CloseOwnedRequest): Promise<readonly CloseOutcome[]> {
    const { sessionKey, runtime, ...close } = request;
    const rows = await this.#parts.sessions.ownedBy(sessionKey);
    return await Promise.all(
      rows.map(async (row) => {
        const handle = await runtime.findSession?.({ sessionKey: row.sessionKey, agent: row.agentId });
        // Without a session in the runtime its processes are ended all the same.
        const stored = { sessionKey: row.sessionKey, backend: row.backend, runtimeSessionName: "" };
        return await this.close({
          ...close,
          runtime: handle ? runtime : NOTHING_TO_CLOSE,
          handle: handle ?? stored,
        });
      }),
    );
  }

  /** Rows as session tools filter them by visibility: whose session each is, and the lease that it runs under. */
  async sessionRows(): Promise<readonly (AcpSessionRow & { readonly key: string })[]> {
    const rows = await this.#parts.sessions.list();
    return rows.map((row) => ({ key: row.sessionKey, ...row }));
  }

  /** Ends what dead gateways of this instance left behind, and nothing else. */
  async reap(options: ReapOptions = {}): Promise<ReapReport> {
    const { reaper, legacy } = this.#parts;
    const report = await reaper.sweep(options);
    const endings = report.kind === "swept" ? await legacy?.sweep(options) : undefined;
    return endings === undefined ? report : { ...report, unleased: endings };
  }

  /** Starts an agent outside acpx, leased and under the wrapper. */
  async launch(request: AgentRequest): Promise<LaunchedAgent> {
    return await spawnAgent(this.#parts.context, this.#parts.launches, request);
  }

  /** The open leases with live verdicts; of one session, or all. */
  async status(sessionKey?: string): Promise<readonly LeaseStatus[]> {
    const { context } = this.#parts;
    const { leases } = await context.store.listOpen();
    const asked = (lease: AcpxProcessLease) => sessionKey === undefined || lease.sessionKey === sessionKey;
    return await mapOf(leases.filter(asked), TREES_AT_ONCE, async (lease) => {
      const examined = await examineTree(context, lease);
      using tree = examined.ok ? examined.value : examineRoot(context, lease);
      return { lease, verdict: tree.root, members: tree.members.map(({ reading }) => reading) };
    });
  }

  async verifyOwnedTree(lease: AcpxProcessLease): Promise<OwnedProcessTree | null> {
    const tree = await examineTree(this.#parts.context, lease);
    if (!tree.ok) return null;
    if (tree.value.members.length > 0) return tree.value;
    tree.value.release();
    return null;
  }

  /**
   * Leaves agents alone. Does nothing until every caller that opened or joined has disposed. The owner lock stays
   * taken while an agent of ours has an open lease: to other namespaces a free one says that it is an orphan.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#users -= 1;
    if (this.#users !== 0) return;
    lifecycles.delete(this.stateDir);
    const { launches, context, ownerLock } = this.#opened;
    await Promise.allSettled(this.#closing.values());
    await launches.dispose();
    context.wrapper.close();
    const left = await context.store.listOpen().catch(() => ({ leases: [] }));
    if (!left.leases.some((lease) => this.#isOwn(lease))) ownerLock.release();
  }

  /** Those that this process may end: its own, and those of dead owners. */
  async #leasesOf(sessionKey: string): Promise<readonly AcpxProcessLease[]> {
    const { context, launches } = this.#parts;
    const leases = await context.store.listOpen().then(
      (open) => open.leases.filter((lease) => lease.sessionKey === sessionKey),
      // What this process started it can end without the store.
      (error: unknown) => {
        announce({ type: "warning", message: error instanceof Error ? error.message : String(error) });
        return [];
      },
    );
    const listed = new Set(leases.map(({ leaseId }) => leaseId));
    const unlisted = launches.leasesOf(sessionKey).filter(({ leaseId }) => !listed.has(leaseId));
    const candidates = [...leases, ...unlisted];
    const own = candidates.map(
      async (lease) => this.#isOwn(lease) || (await this.#parts.reaper.mayEnd(lease)),
    );
    const mine = await Promise.all(own);
    return candidates.filter((_, index) => mine[index]);
  }

  async #settle(lease: AcpxProcessLease, reason: string): Promise<Settlement | undefined> {
    const { launches, reaper } = this.#parts;
    return this.#isOwn(lease)
      ? await launches.settle(lease.leaseId, reason)
      : await reaper.settle(lease, reason);
  }

  /** What a dead gateway left under a session ends before the session is started again. */
  async #settleLeftovers(sessionKey: string): Promise<void> {
    const leases = await this.#leasesOf(sessionKey);
    const leftovers = leases.filter((lease) => !this.#isOwn(lease));
    await Promise.all(leftovers.map((lease) => this.#settle(lease, "session started again")));
  }

  #isOwn(lease: AcpxProcessLease): boolean {
    const { owner } = this.#opened.context;
    const sameProcess = lease.owner.pid === owner.pid && lease.owner.token === owner.token;
    return sameProcess && lease.gatewayInstanceId === this.gatewayInstanceId;
  }
}

/** Of a directory that need not be there. */
function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
