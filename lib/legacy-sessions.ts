/**
 * Sessions from before leases: the process that a session record names is pinned before the session is closed, and
 * ended afterwards if all that the record says agrees with it.
 */
import type { AcpRuntimeHandle } from "./acpx.js";
import { argvOf, withoutLease } from "./agent-command.js";
import { adoption, endAdopted, leaveAlone, type LegacyContext } from "./legacy-adoption.js";
import { verifyLegacy, type LegacyProcess } from "./legacy-record.js";
import type { AcpxProcessLease } from "./lease.js";
import { lookAt, observe } from "./process.js";
import type { UnleasedProcess } from "./session-close.js";

/** The fields of an acpx session record that say which process its agent was. */
export interface LegacySessionRecord {
  readonly agentCommand: string;
  readonly agentArgv?: readonly string[];
  readonly pid?: number;
  /** ISO 8601, taken by acpx just after the spawn. */
  readonly agentStartedAt?: string;
}

/** The half of a host's session store that is read here: records as they are on disk, with the agent's own command. */
export interface LegacySessionStore {
  load(sessionId: string): Promise<LegacySessionRecord | undefined>;
}

/**
 * The live process that the record of a session names and no lease does, pinned; whoever asks disposes of it.
 * `undefined`: there is none.
 */
export async function processOfSession(
  context: LegacyContext,
  stores: Iterable<LegacySessionStore>,
  { sessionKey, acpxRecordId = sessionKey }: AcpRuntimeHandle,
): Promise<UnleasedProcess | undefined> {
  const recorded = await recordedProcess(stores, acpxRecordId);
  if (recorded === undefined || (await isLeased(context, sessionKey, recorded.pid))) return undefined;
  const { pid } = recorded;
  const now = Date.now();
  const { evidence, handle } = lookAt(context.native, observe(context.native), pid);
  if (evidence.kind === "absent") return undefined;
  const left = (because: string): UnleasedProcess => {
    handle?.close();
    const ending = leaveAlone(context, pid, because);
    return { end: () => Promise.resolve(ending), [Symbol.dispose]: () => undefined };
  };
  if (pid === process.pid) return left("It is this very process.");
  if (evidence.kind === "unreadable" || handle === undefined) return left("It could not be looked at.");

  const lease = adoption(context, sessionKey, recorded);
  const { wrapperRoots } = context;
  const verdict = verifyLegacy(recorded, evidence, { lease, wrapperRoots, now });
  if (!verdict.verified) return left(verdict.because);
  const adopted = { ...lease, rootToken: evidence.reading.token };
  return {
    end: () => endAdopted(context, adopted, handle),
    [Symbol.dispose]: () => {
      handle.close();
    },
  };
}

async function recordedProcess(
  stores: Iterable<LegacySessionStore>,
  recordId: string,
): Promise<LegacyProcess | undefined> {
  for (const store of stores) {
    // A record that cannot be read names nobody; acpx tells the host about it.
    const record = await store.load(recordId).catch(() => undefined);
    if (record === undefined) continue;
    const { pid, agentCommand, agentArgv, agentStartedAt = "" } = record;
    if (pid === undefined || !Number.isInteger(pid) || pid <= 1 || pid > 0x7fff_ffff) continue;
    const argv = withoutLease(argvOf(agentArgv ?? agentCommand) ?? []);
    return { pid, argv, startedAt: Date.parse(agentStartedAt) };
  }
  return undefined;
}

/** A process that ever had a lease is never ended by anything less. */
async function isLeased({ store }: LegacyContext, sessionKey: string, pid: number): Promise<boolean> {
  const names = (lease: AcpxProcessLease) => lease.sessionKey === sessionKey && lease.rootPid === pid;
  return (await store.listOpen()).leases.some(names) || (await store.listEnded()).some(names);
}
