/**
 * A lease and readings that agree with it; a row changes the one thing that it is about.
 */
import { DETACH, INSTANCE_ID, LEASE_ID, NIL_ID } from "../../lib/environment.js";
import type {
  Executable,
  Fault,
  LiveEvidence,
  Observed,
  ProcessReading,
  Snapshot,
} from "../../lib/evidence.js";
import type { AcpxProcessLease } from "../../lib/lease.js";

export const BOOT = "0a1b2c3d-0000-4000-8000-00000000b007";
export const OTHER_BOOT = "0a1b2c3d-0000-4000-8000-0000000b0072";
export const SCOPE = `linux;boot=${BOOT};pidns=4026531836;timens=4026531834`;
export const LEASE = "11111111-1111-4111-8111-111111111111";
export const INSTANCE = "22222222-2222-4222-8222-222222222222";
export const OTHER_LEASE = "33333333-3333-4333-8333-333333333333";
export const OTHER_INSTANCE = "44444444-4444-4444-8444-444444444444";
export const ROOT = "/srv/openclaw/wrappers";
export const NIL = NIL_ID;
export const COMMAND_HASH = `argv0:${"5".repeat(64)}`;
export const UID = 1000;

/** Ticks are a process's place on the boot clock; the inode tells two of the same tick apart. */
export function token(ticks: number, inode?: number): string {
  return `${SCOPE};ticks=${ticks}${inode === undefined ? "" : `;inode=${inode}`}`;
}

export const OBSERVER = { token: token(500, 9), uid: UID };

/** Root 100 (ticks 1000), adapter 200 (ticks 1010), adapter last seen alive in tick 2000. */
export const LEASED: AcpxProcessLease = {
  schema: "acpx.process-lease.v1",
  leaseId: LEASE,
  revision: 3,
  gatewayInstanceId: INSTANCE,
  sessionKey: "agent:codex:acp:1",
  wrapperRoot: ROOT,
  wrapperPath: `${ROOT}/codex-wrapper`,
  rootPid: 100,
  rootToken: token(1000, 70100),
  processGroupId: 200,
  adapterPid: 200,
  adapterToken: token(1010, 70200),
  seenTicks: 2000,
  commandHash: COMMAND_HASH,
  startedAt: 1_780_000_000_000,
  state: "open",
  launch: "wrapper",
  launchId: "launch-1",
  owner: { pid: 50, token: token(500, 70050) },
  updatedAt: 1_780_000_000_000,
};

type Unset<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** `undefined` takes a property away. */
export function leased(changes: Unset<AcpxProcessLease> = {}): AcpxProcessLease {
  const merged = Object.entries({ ...LEASED, ...changes }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(merged) as unknown as AcpxProcessLease;
}

export function seen<T>(value: T): Observed<T> {
  return { ok: true, value };
}

export const DENIED: Fault = { ok: false, reason: "denied", call: "open", errno: "EACCES" };

export function image(path: string, changes: Partial<Executable> = {}): Observed<Executable> {
  return seen({ path, deleted: false, fileId: "8:4711", ...changes });
}

export function environment(
  leaseId: string | null,
  instanceId: string | null,
  more = {},
): ProcessReading["environment"] {
  return seen({ [LEASE_ID]: leaseId, [INSTANCE_ID]: instanceId, [DETACH]: null, ...more });
}

export const CARRIES = environment(LEASE, INSTANCE);
export const CLEARED = environment(null, null);

export const ROOT_READING: ProcessReading = {
  pid: 100,
  ppid: 50,
  pgid: 100,
  sid: 100,
  uid: UID,
  state: "S",
  token: token(1000, 70100),
  readAtTicks: 3000,
  executable: image(`${ROOT}/codex-wrapper`),
  argv: seen([`${ROOT}/codex-wrapper`, "--", "codex-acp"]),
  environment: CARRIES,
};

/** A member in the adapter's session with a cleared environment, as codex starts its MCP servers. */
export const MEMBER_READING: ProcessReading = {
  ...ROOT_READING,
  pid: 300,
  ppid: 1,
  pgid: 300,
  sid: 200,
  token: token(1500, 70300),
  executable: image("/usr/bin/node"),
  argv: seen(["node", "mcp.js"]),
  environment: CLEARED,
};

/** The pin is an object of its own for each call, as a handle is. */
export function live(reading: ProcessReading, changes: Partial<LiveEvidence> = {}): LiveEvidence {
  return {
    kind: "live",
    observer: OBSERVER,
    pin: {},
    reading,
    commandHash: COMMAND_HASH,
    confirmed: true,
    ...changes,
  };
}

/** Rows of [pid, ppid, pgid, sid] as the columns of a table. */
export function table(
  rows: readonly (readonly [number, number, number, number])[],
  complete = true,
): Snapshot {
  return {
    complete,
    pid: Int32Array.from(rows, ([pid]) => pid),
    ppid: Int32Array.from(rows, ([, ppid]) => ppid),
    pgid: Int32Array.from(rows, ([, , pgid]) => pgid),
    sid: Int32Array.from(rows, ([, , , sid]) => sid),
    uid: Uint32Array.from(rows, () => UID),
    startTicks: Float64Array.from(rows, () => 1000),
    state: Uint8Array.from(rows, () => 83),
  };
}
