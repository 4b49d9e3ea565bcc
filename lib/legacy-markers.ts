/**
 * Wrappers that no lease names any more, found by their command line. The only place where looking like one of ours
 * is a reason to look closer; it is never a reason to signal.
 */
import { randomUUID } from "node:crypto";

import { checkInstanceId } from "./checks.js";
import { GATEWAY_PID, INSTANCE_ID, LEASE_ID, NIL_ID } from "./environment.js";
import type { ProcessReading } from "./evidence.js";
import { checkExecutable, isUnder } from "./image-check.js";
import { adoption, endAdopted, leaveAlone, type LegacyContext } from "./legacy-adoption.js";
import { hasEnded, type AcpxProcessLease } from "./lease.js";
import type { UnleasedEnding } from "./session-close.js";

/** Ends those that run an image under the wrapper root and carry our instance id, no live lease and no live gateway. */
export async function sweepMarkers(
  context: LegacyContext,
  signal?: AbortSignal,
): Promise<readonly UnleasedEnding[]> {
  const { native } = context;
  const table = await native.snapshot();
  if (!table.ok || !table.value.complete) return [];
  const endings: UnleasedEnding[] = [];
  for (const reading of await native.readMany(Array.from(table.value.pid), [])) {
    if (signal?.aborted === true) break;
    if (!reading.ok || !isMarked(context, reading.value)) continue;
    const ending = await endMarked(context, reading.value.pid);
    if (ending !== undefined) endings.push(ending);
  }
  return endings;
}

/** The program, or the script that it interprets, is under the wrapper root. Those of other roots are not ours. */
function isMarked({ wrapperRoots }: LegacyContext, { pid, argv }: ProcessReading): boolean {
  if (pid <= 1 || pid === process.pid || !argv.ok) return false;
  return argv.value.slice(0, 2).some((word) => wrapperRoots.some((root) => isUnder(word, root)));
}

async function endMarked(context: LegacyContext, pid: number): Promise<UnleasedEnding | undefined> {
  const opened = context.native.open(pid);
  if (!opened.ok) return undefined;
  const handle = opened.value;
  try {
    const reading = handle.read([LEASE_ID, INSTANCE_ID, GATEWAY_PID]);
    if (!reading.ok) return undefined;
    const lease = leaseFor(context, reading.value);
    if (await isAccountedFor(context, lease, reading.value)) return undefined;
    const asWrapper = { ...lease, launch: "wrapper" } as const;
    const checks = [
      checkInstanceId(lease, reading.value),
      checkExecutable(asWrapper, reading.value, context),
    ];
    const against = checks.find(({ outcome }) => outcome !== "match");
    if (against !== undefined) return leaveAlone(context, pid, against.detail);
    return await endAdopted(context, lease, handle);
  } finally {
    handle.close();
  }
}

/** Under the id that it carries, so that those below who carry it too are found wherever they went. */
function leaseFor(context: LegacyContext, { pid, token, environment }: ProcessReading): AcpxProcessLease {
  const lease = adoption(context, `marker:${pid}`, { pid, argv: [], startedAt: Date.now() });
  const carried = environment.ok ? (environment.value[LEASE_ID] ?? NIL_ID) : NIL_ID;
  const leaseId = carried === NIL_ID || carried === "" ? randomUUID() : carried;
  return { ...lease, leaseId, rootToken: token };
}

/**
 * A supervisor does not outlive its gateway for long, so that a parent with the gateway's number is the gateway: it
 * may be about to get its lease, or have one that was damaged.
 */
async function isAccountedFor(
  { store }: LegacyContext,
  { leaseId }: AcpxProcessLease,
  { ppid, environment }: ProcessReading,
): Promise<boolean> {
  const gateway = environment.ok ? (environment.value[GATEWAY_PID] ?? "") : "";
  if (gateway.startsWith(`${ppid} `)) return true;
  const named = await store.load(leaseId);
  return named !== undefined && !hasEnded(named);
}
