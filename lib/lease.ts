/**
 * The lease: what this gateway claims about one launch, written before the agent runs. How it may change is a
 * table; how it is written down is lease-format.ts.
 */
import type { ProcessIdentity } from "./identity.js";

/** Stable per installation (state directory); a discriminator, not a secret. UUID. */
export type GatewayInstanceId = string;

export type LeaseState = "open" | "closing" | "closed" | "lost";

/** How the end was proven: by the subreaper's ECHILD, or by two searches that found nobody. */
export type EndProof = "subreaper" | "search";

export interface AcpxProcessLease {
  readonly schema: "acpx.process-lease.v1";
  /** UUID. */
  readonly leaseId: string;
  /** 1 for the first published version; each published change adds one. */
  readonly revision: number;
  readonly gatewayInstanceId: GatewayInstanceId;
  readonly sessionKey: string;
  /** "" for a direct launch. */
  readonly wrapperRoot: string;
  readonly wrapperPath: string;
  /** 0: not yet known. */
  readonly rootPid: number;
  readonly rootToken?: string;
  /** The adapter's group, never the wrapper's. */
  readonly processGroupId?: number;
  readonly adapterPid?: number;
  readonly adapterToken?: string;
  /** Boot clock ticks when the adapter was last seen alive through a handle. */
  readonly seenTicks?: number;
  /** "argv0:" + hex sha256 over the NUL-joined argv. */
  readonly commandHash: string;
  /** Epoch milliseconds, for people only. */
  readonly startedAt: number;
  readonly state: LeaseState;
  readonly launch: "wrapper" | "direct";
  /** The host's name for this launch (acpx launchId). */
  readonly launchId: string;
  /** The gateway process that launched it. `host`: hash of the machine id. */
  readonly owner: ProcessIdentity & { readonly host?: string };
  readonly proof?: EndProof;
  readonly updatedAt: number;
  readonly endedAt?: number;
  readonly reason?: string;
}

/** What is known before the spawn. */
export type LeaseFields = Pick<
  AcpxProcessLease,
  | "leaseId"
  | "gatewayInstanceId"
  | "sessionKey"
  | "wrapperRoot"
  | "wrapperPath"
  | "commandHash"
  | "startedAt"
  | "launch"
  | "launchId"
  | "owner"
>;

/** What can happen to a lease. `closed` needs its proof, so that "probably gone" does not type-check. */
export type LeaseEvent =
  | { readonly type: "spawned"; readonly rootPid: number; readonly rootToken: string }
  | {
      readonly type: "reported";
      readonly adapterPid: number;
      readonly adapterToken: string;
      readonly processGroupId: number;
      readonly seenTicks: number;
    }
  | { readonly type: "seen"; readonly seenTicks: number }
  | { readonly type: "closing"; readonly reason?: string }
  | (Ended & { readonly state: "closed"; readonly proof: EndProof })
  | (Ended & { readonly state: "lost"; readonly proof?: EndProof });

interface Ended {
  readonly type: "ended";
  readonly reason: string;
  /** Whom the look was for that found nobody. Left out: the end holds whoever the lease names. */
  readonly lookedFor?: NamedProcesses;
}

/** The two processes that a lease learns of during its launch; each is named once. */
export type NamedProcesses = Pick<AcpxProcessLease, "rootPid" | "adapterPid">;

/** Whether nobody was named between two revisions of a lease. */
export function namesTheSame(one: NamedProcesses, other: NamedProcesses): boolean {
  return one.rootPid === other.rootPid && one.adapterPid === other.adapterPid;
}

export type Advance =
  { readonly ok: true; readonly lease: AcpxProcessLease } | { readonly ok: false; readonly because: string };

/**
 * State x event. A closing lease still takes `spawned` and `reported`: whoever ends the tree must know whom to
 * look for, however late the news is. Ended ones take nothing, so no late report ever reopens one.
 */
const NEXT = {
  open: { spawned: "open", reported: "open", seen: "open", closing: "closing", ended: "as told" },
  closing: { spawned: "closing", reported: "closing", seen: "closing", closing: "closing", ended: "as told" },
  closed: { spawned: "never", reported: "never", seen: "never", closing: "never", ended: "never" },
  lost: { spawned: "never", reported: "never", seen: "never", closing: "never", ended: "never" },
} as const satisfies Record<LeaseState, Record<LeaseEvent["type"], LeaseState | "as told" | "never">>;

/** Closed and lost leases are over; nothing about them changes any more. */
export function hasEnded({ state }: Pick<AcpxProcessLease, "state">): boolean {
  return state === "closed" || state === "lost";
}

/** A prepared lease: nothing runs under it yet. */
export function openLease(fields: LeaseFields): AcpxProcessLease {
  return {
    ...fields,
    schema: "acpx.process-lease.v1",
    revision: 1,
    rootPid: 0,
    state: "open",
    updatedAt: fields.startedAt,
  };
}

/** The next revision of a lease, or a sentence why this event cannot happen to it. `now`: epoch milliseconds. */
export function advanceLease(lease: AcpxProcessLease, event: LeaseEvent, now: number): Advance {
  const next = NEXT[lease.state][event.type];
  if (next === "never")
    return refuse(`lease ${lease.leaseId} is ${lease.state}: ${event.type} comes too late`);
  const base = { ...lease, revision: lease.revision + 1, updatedAt: now };

  switch (event.type) {
    case "spawned": {
      const { rootPid, rootToken } = event;
      if (lease.rootPid !== 0 && (lease.rootPid !== rootPid || lease.rootToken !== rootToken))
        return refuse(`lease ${lease.leaseId} already names root ${lease.rootPid}, not ${rootPid}`);
      return accept({ ...base, rootPid, rootToken });
    }
    case "reported": {
      const { adapterPid, adapterToken, processGroupId, seenTicks } = event;
      if (lease.rootPid === 0)
        return refuse(`lease ${lease.leaseId} has no root that could report an adapter`);
      if (
        lease.adapterPid !== undefined &&
        (lease.adapterPid !== adapterPid || lease.adapterToken !== adapterToken)
      )
        return refuse(`lease ${lease.leaseId} already names adapter ${lease.adapterPid}, not ${adapterPid}`);
      return accept({
        ...base,
        adapterPid,
        adapterToken,
        processGroupId,
        seenTicks: latest(lease, seenTicks),
      });
    }
    case "seen":
      if (lease.adapterPid === undefined) return refuse(`lease ${lease.leaseId} names no adapter to be seen`);
      return accept({ ...base, seenTicks: latest(lease, event.seenTicks) });
    case "closing":
      return accept({ ...base, state: "closing", ...reasonOf(event.reason) });
    case "ended":
      // The launch went on during the look: nobody has looked for those that it named since.
      if (event.lookedFor !== undefined && !namesTheSame(event.lookedFor, lease))
        return refuse(`lease ${lease.leaseId} has come to name a process that was not looked for`);
      if (event.state === "closed" && lease.rootPid === 0)
        return refuse(
          `lease ${lease.leaseId} names no process whose end could have been seen: it can only be lost`,
        );
      return accept({
        ...base,
        state: event.state,
        endedAt: now,
        ...(event.proof && { proof: event.proof }),
        ...reasonOf(event.reason),
      });
  }
}

/** Two observers may report out of order: the later look counts. */
function latest(lease: AcpxProcessLease, seenTicks: number): number {
  return Math.max(lease.seenTicks ?? 0, seenTicks);
}

/** Reasons come from hosts and from the kernel: kept on one line and short, so that the lease stays readable. */
function reasonOf(text: string | undefined): { reason?: string } {
  if (text === undefined) return {};
  return {
    reason: text
      .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ")
      .slice(0, 500)
      .replace(/\p{Cs}$/u, ""),
  };
}

const accept = (lease: AcpxProcessLease): Advance => ({ ok: true, lease });
const refuse = (because: string): Advance => ({ ok: false, because });
