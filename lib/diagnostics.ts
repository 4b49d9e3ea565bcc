/**
 * What happened, for whoever subscribes: one `node:diagnostics_channel` channel, ids and pids only. Nothing here
 * ever carries argv, environment or output of an agent.
 */
import { channel } from "node:diagnostics_channel";

import type { LeaseState } from "./lease.js";

export const DIAGNOSTICS_CHANNEL = "acpx-lifecycle";

export type LifecycleEvent =
  | { readonly type: "lease-opened"; readonly leaseId: string; readonly sessionKey: string }
  | {
      readonly type: "launch-admitted";
      readonly leaseId: string;
      readonly rootPid: number;
      readonly adapterPid?: number;
    }
  | {
      readonly type: "lease-ended";
      readonly leaseId: string;
      readonly state: LeaseState;
      readonly deaths: number;
    }
  | { readonly type: "lease-left"; readonly leaseId: string; readonly because: string }
  | { readonly type: "warning"; readonly leaseId?: string; readonly message: string };

const events = channel(DIAGNOSTICS_CHANNEL);

export function announce(event: LifecycleEvent): void {
  if (events.hasSubscribers) events.publish(event);
}
