/**
 * A gateway of the simulated machine: the real lifecycle with its real launches, verdicts, endings and sweeps, over
 * a machine, a store and a wrapper that are simulated. It can die before any of its acts.
 */
import { AsyncLocalStorage } from "node:async_hooks";

import { LifecycleError } from "../../lib/errors.js";
import { startTicks, type ProcessIdentity } from "../../lib/identity.js";
import { AcpxLifecycle } from "../../lib/lifecycle.js";
import { Launches, type LaunchContext } from "../../lib/launches.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import type { ProcessHandle, Signal } from "../../lib/native.js";
import { ownedSessions } from "../../lib/owned-sessions.js";
import { ownerLiveness, type OwnerView } from "../../lib/owner-liveness.js";
import { observe, sharedCensus } from "../../lib/process.js";
import { Reaper } from "../../lib/reaper.js";
import type { AcpSessionRow } from "../../lib/session-row-format.js";
import type { SessionRows } from "../../lib/session-rows.js";
import { terminationPolicy } from "../../lib/terminate.js";
import type { WrapperPort } from "../../lib/wrapper-port.js";
import { Acpx } from "./acpx.js";
import { LeaseTable, leaseStoreOver, type Access } from "./lease-table.js";
import type { Machine, Process } from "./machine.js";
import { nativeView } from "./native-view.js";
import { claimKey, ClaimsDirectory, GRACE_MS } from "./supervisor.js";

/** What several gateway processes of one installation share. */
export class Installation {
  readonly table = new LeaseTable();
  readonly claims = new ClaimsDirectory();
  readonly rows = memoryRows();
  readonly wrapperRoot: string;
  /** What a look at the lock of an owner finds, where the lock decides. */
  lockOf: (owner: AcpxProcessLease["owner"]) => OwnerView["lock"] = () => "missing";
  sweeping = false;

  constructor(
    readonly name: string,
    readonly gatewayInstanceId: string,
  ) {
    this.wrapperRoot = `/srv/${name}/wrappers`;
  }
}

/** What a gateway is doing: the name of the request that led to a signal. */
export type Intent = "ensure" | "close" | "reap" | "cancel" | "exit" | "look";

export interface LifecycleSignal {
  readonly gateway: Gateway;
  readonly intent: Intent | undefined;
  readonly sessionKey: string | undefined;
  readonly to: Process;
  readonly signal: Signal;
}

const doing = new AsyncLocalStorage<{ readonly intent: Intent; readonly sessionKey?: string }>();

export class Gateway {
  readonly lifecycle: AcpxLifecycle;
  readonly acpx: Acpx;
  readonly handles = new Set<ProcessHandle>();
  /** Writing anything fails, as on a full disk. */
  diskFull = false;
  /** Dies before the act of that number, counted from now. */
  #actsLeft = Infinity;

  constructor(
    readonly name: string,
    readonly installation: Installation,
    readonly machine: Machine,
    readonly process: Process,
    private readonly hear: (signal: LifecycleSignal) => void,
  ) {
    const { wrapperRoot, gatewayInstanceId, table, claims } = installation;
    const native = nativeView({
      machine,
      self: process,
      handles: this.handles,
      act: () => {
        this.#act();
      },
      promise: (_, work) => this.#promise(work),
      sent: (to, signal) => {
        const { intent, sessionKey } = doing.getStore() ?? {};
        this.hear({ gateway: this, intent, sessionKey, to, signal });
        machine.send(this.name, to, signal);
      },
    });
    const access: Access = (verb, operation) =>
      this.#promise(() => {
        const writes = verb === "create" || verb === "publish";
        if (writes && this.diskFull)
          throw new LifecycleError("ERR_STATE_DIR", "the disk is full: free some space");
        return operation();
      });
    const store = leaseStoreOver(table, access);
    const owner = { ...machine.identityOf(process), host: "this-host" };
    const sessions = ownedSessions(installation.rows, gatewayInstanceId);
    const context: LaunchContext = {
      native,
      census: sharedCensus(native, observe(native)),
      launchHandle: (leaseId) => launches.handleOf(leaseId),
      wrapperRoots: [wrapperRoot],
      wrapperImages: [],
      store,
      policy: terminationPolicy(GRACE_MS),
      gatewayInstanceId,
      owner,
      wrapperRoot,
      wrapper: this.#wrapperPort(claims),
      noteLease: (sessionKey, leaseId) => sessions.noteLease(sessionKey, leaseId),
    };
    const launches = new Launches(context);
    const reaper = new Reaper({
      ...context,
      livenessOf: (lease) => this.#promise(() => ownerLiveness(this.#viewOf(lease.owner, owner))),
      alone: (sweep) => this.#alone(sweep),
      tidy: () => Promise.resolve(),
    });
    const stateDir = `/srv/${installation.name}/state`;
    const ownerLock = { release: () => undefined };
    this.lifecycle = new AcpxLifecycle({ stateDir, sessions, context, launches, reaper, ownerLock });
    this.acpx = new Acpx(this);
  }

  get isAlive(): boolean {
    return this.process.state === "running";
  }

  /** Runs a request so that every signal can be traced back to it. */
  does<T>(intent: Intent, sessionKey: string | undefined, work: () => Promise<T>): Promise<T> {
    return doing.run({ intent, ...(sessionKey === undefined ? {} : { sessionKey }) }, work);
  }

  crash(): void {
    this.machine.end(this.process, { code: null, signal: "SIGKILL" });
  }

  /** Dies before its n-th act from now: n = 0 is the very next one. */
  crashAfter(acts: number): void {
    this.#actsLeft = acts;
  }

  #act(): void {
    if (this.isAlive && this.#actsLeft-- <= 0) this.crash();
    if (!this.isAlive) throw new Crashed();
  }

  /** Never settles once the gateway is dead. */
  async #promise<T>(work: () => T): Promise<T> {
    await Promise.resolve();
    try {
      this.#act();
    } catch {
      return await new Promise<T>(() => undefined);
    }
    return work();
  }

  #viewOf(owner: AcpxProcessLease["owner"], self: AcpxProcessLease["owner"]): OwnerView {
    const found = this.machine.at(owner.pid);
    const lives = found?.state === "running";
    return {
      owner,
      self,
      process: lives ? { kind: "live", token: this.machine.tokenOf(found) } : { kind: "absent" },
      lock: this.installation.lockOf(owner),
    };
  }

  async #alone<T>(sweep: () => Promise<T>): Promise<T | "busy"> {
    const { installation } = this;
    if (installation.sweeping) return "busy";
    installation.sweeping = true;
    // The kernel gives the lock of a dead process back.
    const release = () => (installation.sweeping = false);
    this.process.onEnd.push(release);
    try {
      return await sweep();
    } finally {
      if (this.isAlive) release();
    }
  }

  #wrapperPort(directory: ClaimsDirectory): WrapperPort {
    const { wrapperRoot } = this.installation;
    return {
      environment: {},
      install: (name) => {
        const path = `${wrapperRoot}/${name}`;
        return this.#promise(() => ({ path, realPath: path, fileId: `8:${path.length}` }));
      },
      claim: (root, { leaseId, instanceId }) =>
        this.#promise(() => {
          if (this.diskFull) throw new LifecycleError("ERR_STATE_DIR", "the disk is full: free some space");
          directory.claims.set(claimKey(root), { leaseId, instanceId });
          directory.appeared();
        }),
      expectReport: (root) => expectReport(directory, root),
      detached: (root) => this.#promise(() => directory.detached.get(claimKey(root)) ?? []),
      forget: (root) =>
        this.#promise(() => {
          directory.remove(claimKey(root));
        }),
      sweep: (isStale) =>
        this.#promise(() => {
          for (const key of directory.keys()) {
            const [pid = "", token = ""] = key.split(" ");
            if (isStale({ pid: Number(pid), ticks: startTicks(token) ?? 0 })) directory.remove(key);
          }
        }),
      close: () => undefined,
    };
  }
}

/** Thrown at whatever a dead gateway would still do; nobody is left to see it. */
export class Crashed extends Error {}

function expectReport(directory: ClaimsDirectory, root: ProcessIdentity) {
  let stop: () => void = () => undefined;
  const arrived = new Promise<number>((resolve) => {
    stop = directory.watch(() => {
      const pid = directory.reports.get(claimKey(root));
      if (pid !== undefined) resolve(pid);
    });
  });
  return {
    arrived,
    [Symbol.dispose]: () => {
      stop();
    },
  };
}

function memoryRows(): SessionRows {
  const rows = new Map<string, AcpSessionRow>();
  return {
    get: (sessionKey) => Promise.resolve(rows.get(sessionKey)),
    change: (sessionKey, change) => {
      const row = change(rows.get(sessionKey));
      if (row !== undefined) rows.set(sessionKey, row);
      return Promise.resolve();
    },
    list: () => Promise.resolve([...rows.values()]),
    remove: (sessionKey) => {
      rows.delete(sessionKey);
      return Promise.resolve();
    },
  };
}
