/**
 * The lease file of OpenClaw releases, taken over once: `{ version: 1, leases: [...] }`, of one gateway per state
 * directory, without the identity of anybody. What still runs, and shows by its environment whose it is, gets a lease
 * of today's kind, and is from then on cleaned up like everything else.
 */
import { rename } from "node:fs/promises";
import { join } from "node:path";

import { checkInstanceId, checkLeaseId, checkUid } from "./checks.js";
import type { LiveEvidence, ProcessReading } from "./evidence.js";
import { notYounger } from "./identity.js";
import { wrapperIn } from "./legacy-record.js";
import type { LegacyContext } from "./legacy-adoption.js";
import { openLease, type AcpxProcessLease } from "./lease.js";
import { packLease, unpackLease } from "./lease-format.js";
import { isUnder } from "./image-check.js";
import type { Native } from "./native.js";
import { lookAt, observe } from "./process.js";
import { settleLost } from "./settle.js";
import { errnoOf, readSmall } from "./state-file.js";

const FILE = "process-leases.json";
/** Whether a lease is whole does not depend on who looks. */
const SOME_TOKEN = "any";
/** Bytes; some thousand times what a busy gateway leaves there. */
const SIZE_LIMIT = 16 * 1024 * 1024;

/** What those releases wrote about each launch. */
type FormerLease = Pick<
  AcpxProcessLease,
  | "leaseId"
  | "gatewayInstanceId"
  | "sessionKey"
  | "wrapperRoot"
  | "wrapperPath"
  | "rootPid"
  | "startedAt"
  | "state"
>;

/** Never throws: what cannot be taken over stays where it is, with a warning. */
export async function takeOverLeases(context: LegacyContext, stateDir: string): Promise<void> {
  const file = join(stateDir, FILE);
  try {
    const former = formerLeases(JSON.parse(await readSmall(file, SIZE_LIMIT)) as unknown);
    for (const lease of former) await takeOver(context, lease);
    await rename(file, `${file}.migrated`);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return;
    const detail = error instanceof Error ? error.message : String(error);
    context.warn(`The leases in ${file} are not taken over: ${detail}`);
  }
}

function formerLeases(file: unknown): readonly FormerLease[] {
  const entries: unknown = Array.isArray(file) ? file : (file as { leases?: unknown } | null)?.leases;
  if (!Array.isArray(entries)) throw new Error("it holds no list of leases");
  return entries.filter(isFormerLease).filter(({ state }) => state === "open" || state === "closing");
}

/** What is not whole is no lease, as to those releases. */
function isFormerLease(value: unknown): value is FormerLease {
  if (typeof value !== "object" || value === null) return false;
  const former = value as FormerLease;
  const names = Number.isSafeInteger(former.rootPid) && typeof former.wrapperRoot === "string";
  return names && unpackLease(packLease(leaseFor(former, SOME_TOKEN))).ok;
}

async function takeOver(context: LegacyContext, former: FormerLease): Promise<void> {
  const { store, native, warn } = context;
  const { leaseId, gatewayInstanceId, rootPid } = former;
  if (gatewayInstanceId !== context.gatewayInstanceId) {
    warn(`Lease ${leaseId} is of another gateway instance: process ${rootPid} is left alone.`);
    return;
  }
  // Known from an attempt that ended half-way, or to another process that takes them over just now.
  if ((await store.load(leaseId)) !== undefined) return;
  const found = lookFor(context, former);
  if (found.kind === "ours") {
    await store.create(found.lease);
    return;
  }
  if (found.kind === "left-alone")
    warn(`Process ${rootPid} of lease ${leaseId} is left alone: ${found.because}`);
  const lease = leaseFor(former, observe(native).token);
  await store.create(lease);
  await settleLost(context, lease, `taken over from ${FILE}: ${found.because}`);
}

type Found =
  | { readonly kind: "ours"; readonly lease: AcpxProcessLease }
  | { readonly kind: "gone" | "left-alone"; readonly because: string };

function lookFor({ native }: LegacyContext, former: FormerLease): Found {
  if (former.rootPid <= 1 || former.rootPid > 0x7fff_ffff)
    return { kind: "gone", because: "It names no process." };
  const observer = observe(native);
  const { evidence, handle } = lookAt(native, observer, former.rootPid);
  handle?.close();
  if (evidence.kind === "absent") return { kind: "gone", because: "Its process has ended." };
  if (evidence.kind === "unreadable")
    return leftAlone(`${evidence.fault.call} answered ${evidence.fault.reason}.`);
  const { reading } = evidence;
  const lease = { ...leaseFor(former, observer.token), rootPid: reading.pid, rootToken: reading.token };
  const against = speaksAgainst(former, lease, evidence);
  if (against !== undefined) return leftAlone(against);
  const gateway = gatewayOf(native, reading);
  if (gateway === "unknown") return leftAlone("Whether its gateway lives could not be seen.");
  return { kind: "ours", lease: gateway === "dead" ? lease : { ...lease, owner: gateway } };
}

const leftAlone = (because: string): Found => ({ kind: "left-alone", because });

/** The scripts that wrapped agents then run no image of ours, and prove nothing by their end: a direct launch. */
function leaseFor(former: FormerLease, observerToken: string): AcpxProcessLease {
  const { leaseId, gatewayInstanceId, sessionKey, wrapperPath, startedAt } = former;
  return openLease({
    leaseId,
    gatewayInstanceId,
    sessionKey,
    launch: "direct",
    wrapperRoot: "",
    wrapperPath,
    commandHash: "",
    startedAt,
    launchId: FILE,
    owner: { pid: process.pid, token: nobodysStart(observerToken) },
  });
}

/** Both ids in the environment, and a wrapper under the lease's root as the program or its script. */
function speaksAgainst(
  { wrapperRoot }: FormerLease,
  lease: AcpxProcessLease,
  { reading, observer }: LiveEvidence,
): string | undefined {
  const checks = [
    checkUid(observer.uid, reading),
    checkLeaseId(lease, reading),
    checkInstanceId(lease, reading),
  ];
  const against = checks.find(({ outcome }) => outcome !== "match");
  if (against !== undefined) return against.detail;
  const wrapper = reading.argv.ok ? wrapperIn(reading.argv.value, [wrapperRoot]) : undefined;
  return wrapper !== undefined && isUnder(wrapper, wrapperRoot)
    ? undefined
    : `It runs no wrapper under ${wrapperRoot}.`;
}

/**
 * acpx starts agents in its own session, and whoever adopts an orphan is in another: a parent in the same session is
 * the gateway itself, of the release before, and still has its agents.
 */
function gatewayOf(native: Native, root: ProcessReading): AcpxProcessLease["owner"] | "dead" | "unknown" {
  const { evidence, handle } = lookAt(native, observe(native), root.ppid === 0 ? 1 : root.ppid);
  handle?.close();
  if (evidence.kind === "absent") return "dead";
  // Some containers hide the first process; that of a gateway would belong to our user and show itself.
  if (evidence.kind === "unreadable") return root.ppid <= 1 ? "dead" : "unknown";
  const { pid, token, sid, uid } = evidence.reading;
  const spawned = sid === root.sid && uid === root.uid && notYounger(token, root.token) !== false;
  return spawned ? { pid, token } : "dead";
}

/** Those releases did not record their gateway. A dead one is named by a tick in which no gateway ever started. */
function nobodysStart(token: string): string {
  return token.replace(/;ticks=.*$/u, ";ticks=0");
}
