/**
 * The native layer: loads the addon and gives it a type. A handle is the only way to ask about or act on a
 * process. Importing never throws: without an addon every verb answers `unsupported` and `backend()` says why.
 */
import type { Fault, Observed, ProcessReading, Snapshot } from "./evidence.js";

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
  read(environmentNames: readonly string[]): Observed<ProcessReading>;
  /** Throws RangeError `ERR_PROTECTED_PROCESS` for pid 1 and ourselves, before any system call. */
  signal(signal: Signal): Observed<Delivery>;
  /** The group led by this process; refuses pid 1 and our own group likewise. */
  signalGroup(signal: Signal): Observed<Delivery>;
  /**
   * Resolves with "exited" when every thread of the process has ended (a zombie has), "closed" when the handle is
   * closed first. Keeps the event loop alive while pending. No polling, no thread.
   */
  exited(): Promise<"exited" | "closed" | Fault>;
  /** Idempotent; every later verb answers `gone`... except that a closed handle is misuse and throws. */
  close(): void;
}

/** A lock on a file that lasts until `release()`, the end of this environment, or the end of this process. */
export interface FileLock {
  release(): void;
}

/**
 * - `held`: ours now (also when this process held it already)
 * - `busy`: another process holds it
 */
export type LockOutcome = { readonly ok: true; readonly value: { readonly held: FileLock } | { readonly busy: true } };

/** What this kernel and sandbox can do. Probed once. */
export interface Backend {
  readonly platform: string;
  readonly supported: boolean;
  /** Why not, when `supported` is false. */
  readonly reason?: string;
  readonly pinnedHandles: boolean;
  readonly pinnedSignals: boolean;
  readonly groupSignals: boolean;
  readonly uniqueIdentity: boolean;
  /** Our own start token: its scope is what every token read here is comparable with. */
  readonly selfToken: Observed<string>;
}

/** The verbs of the addon. */
export interface Native {
  open(pid: number): Observed<ProcessHandle>;
  /** Reads many processes in one call off the main thread; one answer per pid, in order. */
  readMany(pids: readonly number[], environmentNames: readonly string[]): Promise<readonly Observed<ProcessReading>[]>;
  /** The process table, read off the main thread. */
  snapshot(): Promise<Observed<Snapshot>>;
  /** For hosts that spawn by themselves: own children only; fails (EACCES) once the child has called exec. */
  setProcessGroup(pid: number, pgid: number): Observed<number>;
  /** Takes (`exclusive`) or only tries (`probe`: taken and given back at once) an flock on a local file. */
  holdLock(path: string, mode: "exclusive" | "probe"): LockOutcome | Fault;
  backend(): Backend;
}
