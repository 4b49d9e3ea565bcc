/** Leases for tests: whole ones, of which each test changes what it is about. */
import { randomUUID } from "node:crypto";
import type { AcpxProcessLease, LeaseEvent, LeaseFields } from "../../lib/lease.js";
import { openLease } from "../../lib/lease.js";

const BOOT = "5f0c1b2a-0d7e-4c55-9a41-3c1f6d2f9e10";

/** A start token in the scope of namespace `pidns` in boot `boot`. */
export function tokenOf(ticks: number, { boot = BOOT, pidns = 4026531836, inode = ticks + 7 } = {}): string {
  return `linux;boot=${boot};pidns=${pidns};timens=4026531834;ticks=${ticks};inode=${inode}`;
}

export function preparedLease(changes: Partial<LeaseFields> = {}): AcpxProcessLease {
  return openLease({
    leaseId: randomUUID(),
    gatewayInstanceId: "8c6c2f0e-53a5-4f0e-bb6e-52d9a5a4c9f1",
    sessionKey: "agent:codex:acp:main",
    wrapperRoot: "/var/lib/openclaw/wrappers",
    wrapperPath: "/var/lib/openclaw/wrappers/codex-wrapper",
    commandHash: `argv0:${"0".repeat(64)}`,
    startedAt: 1_790_000_000_000,
    launch: "wrapper",
    launchId: "launch-1",
    owner: { pid: 4100, token: tokenOf(1000), host: "e".repeat(64) },
    ...changes,
  });
}

export const SPAWNED: LeaseEvent = { type: "spawned", rootPid: 4200, rootToken: tokenOf(2000) };
export const REPORTED: LeaseEvent = {
  type: "reported",
  adapterPid: 4201,
  adapterToken: tokenOf(2001),
  processGroupId: 4201,
  seenTicks: 2500,
};
export const SEEN: LeaseEvent = { type: "seen", seenTicks: 3000 };
export const CLOSING: LeaseEvent = { type: "closing", reason: "closed by its user" };
export const CLOSED = {
  type: "ended",
  state: "closed",
  proof: "subreaper",
  reason: "root exited",
} as const satisfies LeaseEvent;
export const LOST = {
  type: "ended",
  state: "lost",
  reason: "its process was gone",
} as const satisfies LeaseEvent;
