/**
 * Does the gateway that holds a lease still live? Pure: what was seen of its process and of its lock in, an
 * answer with its sentence out.
 */
import { compareStartTokens, sameScope } from "./identity.js";
import type { AcpxProcessLease } from "./lease.js";

export type LeaseOwner = AcpxProcessLease["owner"];

export interface OwnerView {
  readonly owner: LeaseOwner;
  /** Who looks. */
  readonly self: LeaseOwner;
  /** Who has the owner's pid where we look; means something only in the owner's own scope. */
  readonly process:
    | { readonly kind: "live"; readonly token: string }
    | { readonly kind: "absent" }
    | { readonly kind: "unreadable"; readonly detail: string };
  /** `unknown`: it could not be tried, as on network file systems. */
  readonly lock: "held" | "free" | "missing" | "unknown";
  /** Milliseconds since its lease last changed; left out: none. */
  readonly silentMs?: number;
}

/**
 * Nobody here can ever tell whether a gateway of another host, or one without a lock, still lives. Its leases end
 * after so long a silence, else they would pile up for good. A living one of which this is believed loses the record
 * of a session that nobody has used for a month; no process is signalled.
 */
export const SILENCE_MS = 30 * 24 * 3600 * 1000;

export type OwnerLiveness =
  /** `copied`: the lock beside the lease is not the one that the living owner holds. */
  | { readonly kind: "alive"; readonly because: string; readonly copied: boolean }
  /** Dead here: its trees can be looked for. */
  | { readonly kind: "dead"; readonly because: string }
  /** Dead in another boot or namespace, or believed so: its numbers mean nothing here. */
  | { readonly kind: "dead-elsewhere"; readonly because: string }
  | { readonly kind: "unknown"; readonly because: string };

export function ownerLiveness(view: OwnerView): OwnerLiveness {
  const { owner, self } = view;
  // The scope names boot and namespace, so that equal scopes are the same host whatever its machine id says.
  if (sameScope(owner.token, self.token)) return byIdentity(view);
  const elsewhere = fromElsewhere(view);
  return elsewhere.kind === "unknown" && (view.silentMs ?? 0) > SILENCE_MS
    ? { kind: "dead-elsewhere", because: `${elsewhere.because}, and its lease has not changed for a month` }
    : elsewhere;
}

function fromElsewhere(view: OwnerView): OwnerLiveness {
  const { owner, self } = view;
  if (owner.host === undefined || self.host === undefined)
    return { kind: "unknown", because: "its gateway runs in a place that cannot be told from another host" };
  if (owner.host !== self.host) return { kind: "unknown", because: "its gateway runs on another host" };
  return byLock(view);
}

/** The lock says nothing here: a copied directory brings a free one along while the owner lives. */
function byIdentity({ owner, process, lock }: OwnerView): OwnerLiveness {
  const gateway = `its gateway (pid ${owner.pid})`;
  switch (process.kind) {
    case "absent":
      return { kind: "dead", because: `${gateway} has ended` };
    case "unreadable":
      return { kind: "unknown", because: `${gateway} could not be looked at: ${process.detail}` };
    case "live":
      break;
  }
  switch (compareStartTokens(owner.token, process.token)) {
    case "different":
      return { kind: "dead", because: `${gateway} has ended; its number belongs to another process` };
    case "not-comparable":
      return { kind: "unknown", because: `${gateway} could not be compared with what runs under its number` };
    case "same":
    case "same-weak":
      return lock === "free"
        ? {
            kind: "alive",
            because: `${gateway} lives, and holds no lock here: a copied state directory?`,
            copied: true,
          }
        : { kind: "alive", because: `${gateway} lives`, copied: false };
  }
}

function byLock({ lock }: OwnerView): OwnerLiveness {
  switch (lock) {
    case "held":
      return { kind: "alive", because: "its gateway, in another namespace, holds its lock", copied: false };
    case "free":
      return { kind: "dead-elsewhere", because: "its gateway ended in another namespace or before a reboot" };
    case "missing":
      return { kind: "unknown", because: "its gateway left no lock that could tell" };
    case "unknown":
      return { kind: "unknown", because: "the lock of its gateway could not be tried on this file system" };
  }
}
