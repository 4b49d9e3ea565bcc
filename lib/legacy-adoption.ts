/**
 * A process without a lease, once it is verified: it gets a lease that is never published and names it for as long
 * as its ending takes, and is then judged and ended like a direct launch whose handle has been held since.
 */
import { randomUUID } from "node:crypto";

import type { LegacyProcess } from "./legacy-record.js";
import { openLease, type AcpxProcessLease } from "./lease.js";
import type { ProcessHandle } from "./native.js";
import { examineRoot, examineTree, type OwnedMember } from "./ownership.js";
import type { UnleasedEnding } from "./session-close.js";
import type { SettleContext } from "./settle.js";
import { terminateBySearch } from "./terminate.js";

export interface LegacyContext extends Omit<SettleContext, "wrapper"> {
  readonly owner: AcpxProcessLease["owner"];
  /** Says it once, however often it is asked to. */
  readonly warn: (message: string) => void;
}

export function adoption(
  { gatewayInstanceId, owner }: LegacyContext,
  sessionKey: string,
  { pid, argv, startedAt }: LegacyProcess,
): AcpxProcessLease {
  const lease = openLease({
    leaseId: randomUUID(),
    gatewayInstanceId,
    sessionKey,
    wrapperRoot: "",
    wrapperPath: argv[0] ?? "",
    commandHash: "",
    startedAt,
    launch: "direct",
    launchId: `legacy:${pid}`,
    owner,
  });
  return { ...lease, rootPid: pid };
}

/** Ends the process behind `pinned`, which the lease names by pid and token, and everybody below it. */
export async function endAdopted(
  context: LegacyContext,
  lease: AcpxProcessLease,
  pinned: ProcessHandle,
): Promise<UnleasedEnding> {
  const pid = lease.rootPid;
  const launchHandle = (leaseId: string) =>
    leaseId === lease.leaseId ? pinned : context.launchHandle(leaseId);
  const own = { ...context, launchHandle };
  using verified = examineRoot(own, lease);
  const { root } = verified;
  if (root.kind === "unknown" || root.kind === "foreign") return leaveAlone(context, pid, root.because);
  const search = (known: readonly OwnedMember[]) => examineTree(own, lease, { known });
  const termination = await terminateBySearch(search, context.policy);
  const { ended, deaths } = termination;
  return ended
    ? { pid, ended, because: ["Verified and ended", ...termination.doubts].join("; "), deaths, survivors: [] }
    : { pid, ended, because: termination.because, deaths, survivors: termination.survivors };
}

export function leaveAlone({ warn }: LegacyContext, pid: number, because: string): UnleasedEnding {
  warn(`Process ${pid}, which has no lease, is left alone: ${because}`);
  return { pid, ended: false, because, deaths: [], survivors: [] };
}
