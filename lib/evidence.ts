/**
 * What can be known about a live process, as values: every property is either what the kernel said or the
 * reason why it could not be read. "Could not look" is never turned into a default.
 */

/** Why something could not be read or done. */
export type Reason = "denied" | "gone" | "unsupported" | "garbled";

/** `call` names the system call or file, `errno` its symbolic error where there was one. */
export interface Fault {
  readonly ok: false;
  readonly reason: Reason;
  readonly call: string;
  readonly errno?: string;
}

export type Observed<T> = { readonly ok: true; readonly value: T } | Fault;

export interface Executable {
  /** Absolute path as the kernel names the running image. */
  readonly path: string;
  /** The image was unlinked (or replaced) while it runs. */
  readonly deleted: boolean;
  /** `<device>:<inode>` of the running image, decimal. */
  readonly fileId: string;
}

/** One living process, read through a handle that the kernel pins to it. */
export interface ProcessReading {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number;
  /** Effective uid. */
  readonly uid: number;
  readonly state: string;
  /** Start token, see identity.ts. */
  readonly token: string;
  /** Boot clock in the unit of the token's ticks, just before the process was proven alive. */
  readonly readAtTicks: number;
  readonly executable: Observed<Executable>;
  readonly argv: Observed<readonly string[]>;
  /** Only the names that were asked for; `null`: readable, and there is no such variable. */
  readonly environment: Observed<Readonly<Record<string, string | null>>>;
}

/** The process table as columns of equal length; see `snapshot` in native.ts. */
export interface Snapshot {
  /** False when the table was cut short, a row failed for another reason than exit, or our own pid is missing. */
  readonly complete: boolean;
  readonly pid: Int32Array;
  readonly ppid: Int32Array;
  readonly pgid: Int32Array;
  readonly sid: Int32Array;
  readonly uid: Uint32Array;
  readonly startTicks: Float64Array;
  /** Character code of the state letter. */
  readonly state: Uint8Array;
}

/** Who looks: numbers and ticks mean something only in the observer's boot and namespaces. */
export interface Observer {
  /** The observer's own start token. */
  readonly token: string;
  /** Effective uid. */
  readonly uid: number;
}

export interface LiveEvidence {
  readonly kind: "live";
  readonly observer: Observer;
  /** The handle through which it was read; a proof is bound to it. Opaque to the rules. */
  readonly pin: object;
  readonly reading: ProcessReading;
  /** "argv0:" + sha256, when argv was readable. */
  readonly commandHash?: string;
  /** Opened before, and in possession of its number after, every other reading of the same gathering. */
  readonly confirmed: boolean;
}

export type Evidence =
  | LiveEvidence
  /** `open` answered ESRCH. */
  | { readonly kind: "absent"; readonly observer: Observer }
  | { readonly kind: "unreadable"; readonly observer: Observer; readonly fault: Fault };
