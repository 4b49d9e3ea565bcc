/**
 * A place where supervisors run: the installed wrapper, the scripted adapter, and this process as their gateway.
 * Whatever was announced is pinned at once and ended by its handle when the place is left.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import * as native from "../../lib/native.js";
import type { ProcessHandle } from "../../lib/native.js";
import { publishClaim, watchClaims, type ClaimWatch } from "../../lib/claims.js";
import { installWrapper, wrapperEnvironment } from "../../lib/wrapper.js";
import { isAlive } from "./alive.js";
import { compile } from "./compile.js";

export const LEASE = "11111111-1111-4111-8111-111111111111";
export const INSTANCE = "22222222-2222-4222-8222-222222222222";

/** Far more than anything here takes; only a fault waits so long. */
const PATIENCE_MS = 30_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** Before the command. */
  readonly options?: readonly string[];
  /** In place of the scripted adapter: command and arguments. */
  readonly command?: readonly string[];
  readonly env?: Record<string, string>;
  readonly graceMs?: number;
  /** Starts the supervisor, which must become what is behind its arguments: `via` + wrapper + arguments. */
  readonly via?: readonly string[];
  /** Words for a scripted process that becomes the supervisor. */
  readonly before?: readonly string[];
  readonly detached?: boolean;
}

export class Stage implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "acpx-supervisor-"));
  readonly claimsDir = join(this.directory, "claims");
  readonly script = compile("adapter-script");
  readonly claims: ClaimWatch;
  readonly #started: Supervised[] = [];
  readonly #handles: ProcessHandle[] = [];
  #wrapper: string | undefined;

  private constructor() {
    mkdirSync(this.claimsDir, { mode: 0o700 });
    this.claims = watchClaims(this.claimsDir);
  }

  static async open(): Promise<Stage> {
    const stage = new Stage();
    const wrapperRoot = join(stage.directory, "wrappers");
    try {
      stage.#wrapper = (await installWrapper({ wrapperRoot, name: "test-wrapper" })).path;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
    return stage;
  }

  get wrapper(): string {
    if (this.#wrapper === undefined) throw new Error("not installed yet");
    return this.#wrapper;
  }

  /** The gateway's part of the environment. */
  environment(graceMs = 1000): Record<string, string> {
    const self = native.backend().selfToken;
    if (!self.ok) throw new Error("this process has no start token");
    return wrapperEnvironment({
      claimsDir: this.claimsDir,
      gateway: { pid: process.pid, token: self.value },
      termGraceMs: graceMs,
    });
  }

  /** Started by hand, without a lease. */
  start(words: readonly string[], options: StartOptions = {}): Supervised {
    const [file = "", ...args] = [
      ...(options.via ?? []),
      ...(options.before === undefined ? [] : [this.script, ...options.before, "exec"]),
      this.wrapper,
      ...(options.options ?? []),
      "--",
      ...(options.command ?? [this.script, ...words]),
    ];
    const child = spawn(file, args, {
      stdio: "pipe",
      detached: options.detached ?? false,
      env: { ...process.env, ...options.env },
    });
    const supervised = new Supervised(child, this);
    this.#started.push(supervised);
    return supervised;
  }

  /** Started under a claim that is not published yet. */
  startUnclaimed(words: readonly string[], options: StartOptions = {}): Supervised {
    return this.start(words, {
      ...options,
      env: { ...options.env, ...this.environment(options.graceMs) },
    });
  }

  /** Started, claimed, and reported by the supervisor. */
  async startLeased(words: readonly string[], options: StartOptions = {}): Promise<Leased> {
    const supervised = this.startUnclaimed(words, options);
    using report = this.claims.expectReport(supervised.root);
    await publishClaim(this.claimsDir, supervised.root, { leaseId: LEASE, instanceId: INSTANCE });
    const adapter = this.pin(await soon(report.arrived, "no report"));
    return { supervised, adapter };
  }

  pin(pid: number): ProcessHandle {
    const opened = native.open(pid);
    if (!opened.ok) throw new Error(`process ${pid}: ${opened.reason}`);
    this.#handles.push(opened.value);
    return opened.value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const supervised of this.#started) await supervised.finish();
      for (const handle of this.#handles) await endPinned(handle);
    } finally {
      this.claims.close();
      rmSync(this.directory, { recursive: true });
    }
  }
}

async function endPinned(handle: ProcessHandle): Promise<void> {
  if (handle.pid !== process.pid && isAlive(handle)) {
    handle.signal("SIGKILL");
    await hasEnded(handle);
  }
  handle.close();
}

export interface Leased {
  readonly supervised: Supervised;
  readonly adapter: ProcessHandle;
}

/** One running supervisor and what its tree says. */
export class Supervised {
  readonly root: ProcessHandle;
  readonly ended: Promise<Ended>;
  /** Resolves when nobody holds the output any more. */
  readonly silent: Promise<void>;
  readonly #lines: string[] = [];
  readonly #pinned = new Map<string, ProcessHandle>();
  readonly #waiting = new Set<() => void>();
  #stderr = "";

  constructor(
    readonly child: ChildProcess,
    stage: Stage,
  ) {
    const { stdout, stderr, pid } = child;
    if (stdout === null || stderr === null || pid === undefined) throw new Error("no supervisor was started");
    this.root = stage.pin(pid);
    this.ended = once(child, "exit").then(([code, signal]: unknown[]) => ({ code, signal }) as Ended);
    const output = createInterface({ input: stdout });
    this.silent = once(output, "close").then(() => undefined);
    output.on("line", (line) => {
      const [, name, pid] = /^(\w+) ([1-9]\d*)$/.exec(line) ?? [];
      if (name !== undefined) this.#pin(name, Number(pid), stage);
      this.#lines.push(line);
      for (const wake of this.#waiting) wake();
      this.#waiting.clear();
    });
    stderr.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
  }

  /** Only what runs the script: a number from another PID namespace names a stranger in ours. */
  #pin(name: string, pid: number, stage: Stage): void {
    const opened = native.open(pid);
    if (!opened.ok) return;
    const handle = opened.value;
    // While a main thread is exiting the kernel has no executable to name, for a moment.
    for (let attempt = 0; attempt < 100; attempt++) {
      const reading = handle.read([]);
      if (!reading.ok) break;
      const { executable } = reading.value;
      if (!executable.ok) continue;
      if (executable.value.path === stage.script) this.#pinned.set(name, stage.pin(pid));
      break;
    }
    handle.close();
  }

  /** Everything that was said so far. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  get stderr(): string {
    return this.#stderr;
  }

  async says(line: RegExp): Promise<void> {
    while (!this.#lines.some((one) => line.test(one))) await this.saysMore(String(line));
  }

  /** Waits for the next line. */
  async saysMore(expected = "a line"): Promise<void> {
    await soon(new Promise<void>((resolve) => this.#waiting.add(resolve)), `${expected} is not said`);
  }

  /** The process that announced itself so, pinned. */
  async announced(name: string): Promise<ProcessHandle> {
    await this.says(new RegExp(`^${name} \\d+$`));
    const handle = this.#pinned.get(name);
    if (handle === undefined)
      throw new Error(`${name} was gone when it was heard, or is not of this namespace`);
    return handle;
  }

  async end(): Promise<Ended> {
    return await soon(this.ended, "the supervisor does not end");
  }

  async finish(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill("SIGKILL");
    await this.ended;
  }
}

/** Waits for the end of a process. */
export async function hasEnded(handle: ProcessHandle): Promise<void> {
  await soon(handle.exited(), `process ${handle.pid} does not end`);
}

export async function soon<T>(promise: Promise<T>, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${complaint} (${PATIENCE_MS} ms)`));
    }, PATIENCE_MS);
  });
  return await Promise.race([promise, late]).finally(() => {
    clearTimeout(timer);
  });
}
