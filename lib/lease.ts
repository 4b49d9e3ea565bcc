/**
 * The lease: what this gateway claims about one launch, written before the agent runs.
 */
import type { ProcessIdentity } from "./identity.js";

/** Stable per installation (state directory); a discriminator, not a secret. UUID. */
export type GatewayInstanceId = string;

export type LeaseState = "open" | "closing" | "closed" | "lost";

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
  /** How the end was proven: by the subreaper's ECHILD, or by two searches that found nobody. */
  readonly proof?: "subreaper" | "search";
  readonly updatedAt: number;
  readonly endedAt?: number;
  readonly reason?: string;
}
