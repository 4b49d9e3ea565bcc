/**
 * Is this process ours? Pure: a lease and evidence in, a verdict with its reasons out. The only place where an
 * `OwnershipProof` is made, and functions that signal take nothing else.
 */
import type { Fault, ProcessReading } from "./evidence.js";
import type { ProcessIdentity } from "./identity.js";

/** Who looks: numbers and ticks mean something only in the observer's boot and namespaces. */
export interface Observer {
  /** The observer's own start token. */
  readonly token: string;
  /** Effective uid. */
  readonly uid: number;
}

export type Evidence =
  | {
      readonly kind: "live";
      readonly observer: Observer;
      /** The handle through which it was read; a proof is bound to it. Opaque here. */
      readonly pin: object;
      readonly reading: ProcessReading;
      /** "argv0:" + sha256, when argv was readable. */
      readonly commandHash?: string;
      /** Opened before, and alive after, every other reading of the same gathering. */
      readonly confirmed: boolean;
    }
  /** `open` answered ESRCH. */
  | { readonly kind: "absent"; readonly observer: Observer }
  | { readonly kind: "unreadable"; readonly observer: Observer; readonly fault: Fault };

export type CheckName = "identity" | "uid" | "lease-id" | "instance-id" | "executable" | "argv" | "process-group";

export interface Check {
  readonly name: CheckName;
  readonly outcome: "match" | "mismatch" | "unreadable" | "not-recorded";
  /** One sentence: what was expected, what was read. */
  readonly detail: string;
}

declare const minted: unique symbol;

/** Permission to signal exactly the process behind `pin`. Made only in this file. */
export interface OwnershipProof {
  readonly [minted]: true;
  readonly leaseId: string;
  readonly identity: ProcessIdentity;
  readonly pin: object;
  readonly basis: "identity" | "environment" | "descendant" | "session";
}

export type Verdict =
  | { readonly kind: "owned"; readonly proof: OwnershipProof; readonly checks: readonly Check[] }
  | { readonly kind: "gone" | "foreign" | "unknown"; readonly because: string; readonly checks: readonly Check[] };

export interface JudgeOptions {
  /** Real paths of the configured wrapper roots. */
  readonly wrapperRoots: readonly string[];
  /** `<device>:<inode>` of installed wrapper images. */
  readonly wrapperImages?: readonly string[];
}
