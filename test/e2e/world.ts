/**
 * One gateway's world for a test: a directory, the lifecycle of this process on it, acpx runtimes, and the fixture
 * agent. Every process that belongs to it works in a directory of its own, so that what is left over can be seen
 * without asking the package.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type AcpRuntimeHandle,
  type AcpRuntimeOptions,
  type AcpRuntimeTurnResult,
  type AcpxRuntime,
  createAcpRuntime,
  createAgentRegistry,
  createFileSessionStore,
} from "acpx/runtime";
import { Gateway } from "../../examples/demo/gateway.mjs";
import { DIAGNOSTICS_CHANNEL, type LifecycleEvent } from "../../lib/diagnostics.js";
import { openAcpxLifecycle, type AcpxLifecycle, type AcpxLifecycleOptions } from "../../lib/lifecycle.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import { createLeaseStore } from "../../lib/lease-store.js";
import { open, type ProcessHandle } from "../../lib/native.js";

const fixture = fileURLToPath(new URL("../fixtures/agent-acp.mjs", import.meta.url));
const GRACE_MS = 300;
const PATIENCE_MS = 20_000;

/** Waits for something that a test lets happen, or that a hook reports. */
export class Gate {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

export class World implements AsyncDisposable {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), "acpx-world-")));
  readonly stateDir = join(this.directory, "state");
  readonly wrapperRoot = join(this.directory, "wrappers");
  readonly workDir = join(this.directory, "work");
  readonly record = join(this.directory, "record");
  readonly #runtimes: AcpxRuntime[] = [];
  readonly #lifecycles: AcpxLifecycle[] = [];
  readonly #gateways: Gateway[] = [];
  #turns = 0;

  constructor() {
    mkdirSync(this.workDir);
  }

  /** A command of the fixture agent that belongs to this world. */
  agent(...switches: string[]): string[] {
    const own = [`--sessions=${join(this.directory, "sessions")}`, `--record=${this.record}`];
    return [process.execPath, fixture, ...own, ...switches];
  }

  async lifecycle(options: Partial<AcpxLifecycleOptions> = {}): Promise<AcpxLifecycle> {
    const { stateDir, wrapperRoot } = this;
    const lifecycle = await openAcpxLifecycle({ stateDir, wrapperRoot, termGraceMs: GRACE_MS, ...options });
    this.#lifecycles.push(lifecycle);
    return lifecycle;
  }

  /** What a host passes to acpx, before this package has added its part. */
  hostOptions(agent: string[], changes: Partial<AcpRuntimeOptions> = {}): AcpRuntimeOptions {
    return {
      cwd: this.workDir,
      sessionStore: createFileSessionStore({ stateDir: join(this.directory, "acpx") }),
      agentRegistry: createAgentRegistry({ overrides: { fixture: agent } }),
      permissionMode: "approve-all",
      timeoutMs: 30_000,
      ...changes,
    };
  }

  /** The reference gateway as a process of its own; it knows the fixture agent as codex. */
  async gateway(switches: string[] = [], config: object = {}, env: NodeJS.ProcessEnv = {}): Promise<Gateway> {
    const { stateDir, wrapperRoot, workDir: cwd } = this;
    const agents = { codex: this.agent(...switches) };
    const own = { stateDir, wrapperRoot, cwd, agents, termGraceMs: GRACE_MS, permissionMode: "approve-all" };
    const gateway = await Gateway.start("test", { ...own, ...config }, { ...process.env, ...env });
    this.#gateways.push(gateway);
    return gateway;
  }

  runtime(options: AcpRuntimeOptions): AcpxRuntime {
    const runtime = createAcpRuntime(options);
    this.#runtimes.push(runtime);
    return runtime;
  }

  /** A whole turn; resolves with how it ended. */
  async turn(runtime: AcpxRuntime, handle: AcpRuntimeHandle, text: string): Promise<AcpRuntimeTurnResult> {
    return await this.beginTurn(runtime, handle, text).result;
  }

  beginTurn(runtime: AcpxRuntime, handle: AcpRuntimeHandle, text: string, signal?: AbortSignal) {
    this.#turns += 1;
    const requestId = `turn-${this.#turns}`;
    const turn = runtime.startTurn({ handle, text, mode: "prompt", requestId, ...(signal && { signal }) });
    // A turn that is cancelled before its prompt never starts; whoever cares looks at the result.
    turn.promptStarted.catch(() => undefined);
    return turn;
  }

  /** Open leases, oldest first. */
  async openLeases(sessionKey?: string): Promise<readonly AcpxProcessLease[]> {
    const store = await createLeaseStore({ stateDir: this.stateDir });
    const { leases } = await store.listOpen();
    return leases.filter((lease) => sessionKey === undefined || lease.sessionKey === sessionKey);
  }

  /** Open leases once this process has settled what ended: acpx tells of an exit without waiting for our hook. */
  async leftOpen(): Promise<readonly AcpxProcessLease[]> {
    const deadline = AbortSignal.timeout(20_000);
    for (;;) {
      const ended = new Gate();
      subscribe(DIAGNOSTICS_CHANNEL, ended.open);
      deadline.addEventListener("abort", ended.open, { once: true });
      const leases = await this.openLeases();
      if (leases.length > 0 && !deadline.aborted) await ended.opened;
      unsubscribe(DIAGNOSTICS_CHANNEL, ended.open);
      if (leases.length === 0 || deadline.aborted) return leases;
    }
  }

  /** The one open lease. */
  async lease(): Promise<AcpxProcessLease> {
    const [lease, ...others] = await this.openLeases();
    if (lease === undefined || others.length > 0)
      throw new Error(`${others.length + (lease ? 1 : 0)} open leases`);
    return lease;
  }

  /** A lease as it stands now, open or ended. */
  async stateOf({ leaseId }: AcpxProcessLease): Promise<AcpxProcessLease | undefined> {
    return await (await createLeaseStore({ stateDir: this.stateDir })).load(leaseId);
  }

  /** Resolves with the lease when this process has ended it, or with the lease as it stands when that takes too long. */
  async ended(lease: AcpxProcessLease): Promise<AcpxProcessLease | undefined> {
    const ended = new Gate();
    const listener = (message: unknown) => {
      const event = message as LifecycleEvent;
      if (event.type === "lease-ended" && event.leaseId === lease.leaseId) ended.open();
    };
    subscribe(DIAGNOSTICS_CHANNEL, listener);
    await Promise.race([ended.opened, delay(PATIENCE_MS, undefined, { ref: false })]);
    unsubscribe(DIAGNOSTICS_CHANNEL, listener);
    return await this.stateOf(lease);
  }

  /** What the fixture agents of this world have heard, in order. */
  heard(method: string): unknown[] {
    const lines = readFileSync(this.record, "utf8").trim().split("\n");
    const messages = lines.map((line) => JSON.parse(line) as { method: string; params: unknown });
    return messages.filter((message) => message.method === method).map(({ params }) => params);
  }

  /** Pids of this world's living processes, as /proc shows them. */
  processes(): number[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/u.test(name) && this.#isMine(Number(name)))
      .map(Number);
  }

  /** A dead process that nobody has waited for has no directory any more. */
  #isMine(pid: number): boolean {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === this.workDir;
    } catch {
      return false;
    }
  }

  /** Handles on all processes of this world that live now. */
  pinAll(): ProcessHandle[] {
    return this.processes().flatMap((pid) => {
      const opened = open(pid);
      // The number may have changed hands since it was listed; whose it is is asked again through the handle.
      return opened.ok && this.#isMine(pid) && opened.value.read([]).ok ? [opened.value] : [];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#gateways.map((gateway) => gateway.kill()));
    await Promise.all(this.#runtimes.map((runtime) => runtime.shutdown()));
    for (const lifecycle of this.#lifecycles) await lifecycle[Symbol.asyncDispose]();
    for (const handle of this.pinAll()) {
      handle.signal("SIGKILL");
      await handle.exited();
      handle.close();
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}
