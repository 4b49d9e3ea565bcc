/**
 * The native layer: loads the addon and gives it a type. A handle is the only way to ask about or act on a
 * process. Importing never throws: without an addon every verb answers `unsupported` and `backend()` says why.
 */
import { constants } from "node:os";

import { loadAddon } from "./addon.js";
import { LifecycleError } from "./errors.js";
import type { Fault, Observed, ProcessReading, Snapshot } from "./evidence.js";

export { supervisorImage } from "./addon.js";
export type { Executable, Fault, Observed, ProcessReading, Reason, Snapshot } from "./evidence.js";

/** A signal name that os.constants.signals knows, or 0 to ask without sending. */
export type Signal = NodeJS.Signals | 0;

/** `pinned`: the kernel guaranteed that nobody but the process of the handle could be reached. */
export interface Delivery {
  readonly pinned: boolean;
}

/** Pinned to one process until `close()`; answers `gone` for ever once that process is dead. */
export interface ProcessHandle {
  readonly pid: number;
  /** Start token read at open, see identity.ts. */
  readonly token: string;
  /** Everything at once, from one living process between two execs; a zombie is `gone`. */
  read(environmentNames: readonly string[]): Observed<ProcessReading>;
  /**
   * Throws `ERR_PROTECTED_PROCESS` for pid 1 and ourselves, before any system call. Where pidfds are denied
   * the answer is `unsupported`: no signal is ever sent to a number.
   */
  signal(signal: Signal): Observed<Delivery>;
  /**
   * The group led by this process, also when its leader has ended and been reaped; refuses pid 1 and our own
   * group likewise. Before Linux 6.9 its members one by one, and `unsupported` once the leader was reaped.
   */
  signalGroup(signal: Signal): Observed<Delivery>;
  /**
   * Resolves with "exited" when every thread of the process has ended (a zombie has), "closed" when the handle is
   * closed first. Keeps the event loop alive while pending. No polling, no thread.
   */
  exited(): Promise<"exited" | "closed" | Fault>;
  /** Idempotent. Using a closed handle is misuse and throws `ERR_INVALID_OPTION`. */
  close(): void;
}

/** A lock on a file that lasts until `release()`, the end of this environment, or the end of this process. */
export interface FileLock {
  /** Idempotent. */
  release(): void;
}

/**
 * - `held`: ours now (also when this process held it already); after a `probe`: nobody else holds it
 * - `busy`: another process holds it
 */
export type LockOutcome = {
  readonly ok: true;
  readonly value: { readonly held: FileLock } | { readonly busy: true };
};

/** What this kernel and sandbox can do. Probed once. */
export interface Backend {
  readonly platform: string;
  readonly supported: boolean;
  /** Why not, and what to do about it, when `supported` is false. */
  readonly reason?: string;
  readonly pinnedHandles: boolean;
  readonly pinnedSignals: boolean;
  readonly groupSignals: boolean;
  readonly uniqueIdentity: boolean;
  /** Our own start token: its scope is what every token read here is comparable with. */
  readonly selfToken: Observed<string>;
}

/** The verbs of the addon. Wrong arguments are a TypeError. */
export interface Native {
  /** Any pid from 1. `gone`: there is no such process in our PID namespace; a thread's number is none. */
  open(pid: number): Observed<ProcessHandle>;
  /** Reads many processes in one call off the main thread; one answer per pid, in order. */
  readMany(
    pids: readonly number[],
    environmentNames: readonly string[],
  ): Promise<readonly Observed<ProcessReading>[]>;
  /** The process table, read off the main thread. Rows are candidates, never proof. */
  snapshot(): Promise<Observed<Snapshot>>;
  /** For hosts that spawn by themselves: own children only; fails (EACCES) once the child has called exec. */
  setProcessGroup(pid: number, pgid: number): Observed<number>;
  /**
   * Takes (`exclusive`, creating the file) or only tries (`probe`: taken and given back at once) an flock.
   * `unsupported` on network and FUSE file systems.
   */
  holdLock(path: string, mode: "exclusive" | "probe"): LockOutcome | Fault;
  backend(): Backend;
}

/** Opaque to JavaScript: the addon's own pointer. */
type RawHandle = object;

/** What native/addon.cc exports. It does not check arguments: that is done here. */
interface Addon {
  open(pid: number): Observed<{ readonly handle: RawHandle; readonly token: string }>;
  read(handle: RawHandle, environmentNames: readonly string[]): Observed<ProcessReading>;
  signal(handle: RawHandle, signal: number): Observed<Delivery>;
  signalGroup(handle: RawHandle, signal: number): Observed<Delivery>;
  exited(handle: RawHandle): Promise<"exited" | "closed" | Fault>;
  close(handle: RawHandle): void;
  readMany(
    pids: readonly number[],
    environmentNames: readonly string[],
  ): Promise<readonly Observed<ProcessReading>[]>;
  snapshot(): Promise<Observed<Snapshot>>;
  setProcessGroup(pid: number, pgid: number): Observed<number>;
  ownGroup(): number;
  /** A number for releaseLock, 0 for a lock that was found free, null for a busy one. */
  takeLock(path: string, exclusive: boolean): Observed<number | null>;
  releaseLock(lock: number): void;
  backend(): Omit<Backend, "reason">;
}

const { addon, reason } = loadAddon<Addon>();
const unavailable: Fault = { ok: false, reason: "unsupported", call: "native addon" };

export function open(pid: number): Observed<ProcessHandle> {
  requirePid(pid, "pid");
  if (addon === undefined) return unavailable;
  const opened = addon.open(pid);
  if (!opened.ok) return opened;
  return { ok: true, value: new PinnedProcess(addon, pid, opened.value.token, opened.value.handle) };
}

export async function readMany(
  pids: readonly number[],
  environmentNames: readonly string[],
): Promise<readonly Observed<ProcessReading>[]> {
  for (const pid of pids) requirePid(pid, "pids");
  requireNames(environmentNames);
  return addon === undefined ? pids.map(() => unavailable) : addon.readMany(pids, environmentNames);
}

export async function snapshot(): Promise<Observed<Snapshot>> {
  return addon === undefined ? unavailable : addon.snapshot();
}

export function setProcessGroup(pid: number, pgid: number): Observed<number> {
  requirePid(pid, "pid");
  requirePid(pgid, "pgid");
  if (pid === process.pid) throw protectedProcess("move", `this process (pid ${pid})`);
  return addon === undefined ? unavailable : addon.setProcessGroup(pid, pgid);
}

export function holdLock(path: string, mode: "exclusive" | "probe"): LockOutcome | Fault {
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new TypeError(`path must be the name of a file, not ${describe(path)}`);
  }
  if (addon === undefined) return unavailable;
  const taken = addon.takeLock(path, mode === "exclusive");
  if (!taken.ok) return taken;
  const lock = taken.value;
  return {
    ok: true,
    value:
      lock === null
        ? { busy: true }
        : {
            held: {
              release: () => {
                addon.releaseLock(lock);
              },
            },
          },
  };
}

export function backend(): Backend {
  if (addon === undefined) {
    return {
      platform: process.platform,
      supported: false,
      ...(reason !== undefined && { reason }),
      pinnedHandles: false,
      pinnedSignals: false,
      groupSignals: false,
      uniqueIdentity: false,
      selfToken: unavailable,
    };
  }
  const known = addon.backend();
  return known.selfToken.ok
    ? known
    : { ...known, platform: process.platform, reason: whyNot(known.selfToken) };
}

class PinnedProcess implements ProcessHandle {
  readonly #addon: Addon;
  #raw: RawHandle | undefined;
  #exit: Promise<"exited" | "closed" | Fault> | undefined;

  constructor(
    addon: Addon,
    readonly pid: number,
    readonly token: string,
    raw: RawHandle,
  ) {
    this.#addon = addon;
    this.#raw = raw;
  }

  read(environmentNames: readonly string[]): Observed<ProcessReading> {
    requireNames(environmentNames);
    return this.#addon.read(this.#open(), environmentNames);
  }

  signal(signal: Signal): Observed<Delivery> {
    const number = signalNumber(signal);
    if (this.pid === 1 || this.pid === process.pid) {
      throw protectedProcess("signal", this.pid === 1 ? "pid 1" : `this process (pid ${this.pid})`);
    }
    return this.#addon.signal(this.#open(), number);
  }

  signalGroup(signal: Signal): Observed<Delivery> {
    const number = signalNumber(signal);
    if (this.pid === 1 || this.pid === this.#addon.ownGroup()) {
      throw protectedProcess(
        "signal",
        this.pid === 1 ? "the group of pid 1" : `this process's own group (${this.pid})`,
      );
    }
    return this.#addon.signalGroup(this.#open(), number);
  }

  exited(): Promise<"exited" | "closed" | Fault> {
    this.#exit ??= this.#addon.exited(this.#open());
    return this.#exit;
  }

  close(): void {
    if (this.#raw === undefined) return;
    this.#addon.close(this.#raw);
    this.#raw = undefined;
  }

  #open(): RawHandle {
    if (this.#raw === undefined) {
      throw new LifecycleError(
        "ERR_INVALID_OPTION",
        `The handle of pid ${this.pid} is closed. Keep it open for as long as the process matters.`,
      );
    }
    return this.#raw;
  }
}

function protectedProcess(verb: string, target: string): LifecycleError {
  return new LifecycleError(
    "ERR_PROTECTED_PROCESS",
    `Refused to ${verb} ${target}: only processes of an agent's tree are ever touched. Check where the number comes from.`,
  );
}

function whyNot(fault: Fault): string {
  if (fault.call === "platform") {
    return `Nothing on ${process.platform} pins a process. Run the gateway on Linux for leases with proof.`;
  }
  const cause = fault.errno === undefined ? "" : ` (${fault.errno})`;
  return (
    `Processes cannot be told apart here: ${fault.call} cannot be used${cause}. ` +
    `Mount this PID namespace's own /proc, without subset=pid.`
  );
}

function signalNumber(signal: Signal): number {
  if (signal === 0) return 0;
  const number = Object.hasOwn(constants.signals, signal) ? constants.signals[signal] : undefined;
  if (number === undefined)
    throw new TypeError(`signal must be 0 or a name such as "SIGTERM", not ${describe(signal)}`);
  return number;
}

function requirePid(value: number, name: string): void {
  if (!Number.isInteger(value) || value < 1 || value > 0x7fff_ffff) {
    throw new TypeError(`${name} must be a whole number from 1 to 2147483647, not ${describe(value)}`);
  }
}

function requireNames(names: readonly string[]): void {
  for (const name of names) {
    if (typeof name !== "string" || !/^[^=\0]+$/.test(name)) {
      throw new TypeError(`environmentNames must be names of variables, not ${describe(name)}`);
    }
  }
}

function describe(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
