/**
 * Processes from before leases: those that session records name, and, where the host asks for it, those that only
 * look like ours. Each is verified by itself, then ended like any other tree, or left alone with one warning.
 *
 * Nothing else depends on this file: without it, its two neighbours legacy-record and legacy-leases, and the option
 * `legacy`, a host that has no such records any more loses nothing.
 */
import { randomUUID } from "node:crypto";

import type { AcpRuntimeHandle } from "./acpx.js";
import { argvOf, withoutLease } from "./agent-command.js";
import { checkInstanceId } from "./checks.js";
import { GATEWAY_PID, INSTANCE_ID, LEASE_ID, NIL_ID } from "./environment.js";
import type { LiveEvidence, ProcessReading } from "./evidence.js";
import { checkExecutable, isUnder } from "./image-check.js";
import { verifyLegacy, type LegacyProcess } from "./legacy-record.js";
import { hasEnded, openLease, type AcpxProcessLease } from "./lease.js";
import type { ProcessHandle } from "./native.js";
import { examineTree, type OwnedMember } from "./ownership.js";
import { lookAt, observe } from "./process.js";
import type { ReapOptions } from "./reaper.js";
import type { UnleasedEnding, UnleasedProcess } from "./session-close.js";
import type { SettleContext } from "./settle.js";
import { terminateBySearch } from "./terminate.js";

export interface LegacyOptions {
  /**
   * At a sweep, also look for wrappers by their command line. Only those are ended that run an image under the
   * wrapper root and carry this gateway's instance id, no live lease, and no live gateway. Default false.
   */
  readonly markerSweep?: boolean;
}

/** The fields of an acpx session record that say which process its agent was. */
export interface LegacySessionRecord {
  readonly agentCommand: string;
  readonly agentArgv?: readonly string[];
  readonly pid?: number;
  /** ISO 8601, taken by acpx just after the spawn. */
  readonly agentStartedAt?: string;
}

/** The half of a session store that is read here. */
export interface LegacySessionStore {
  load(sessionId: string): Promise<LegacySessionRecord | undefined>;
}

export interface LegacyContext extends Pick<
  SettleContext,
  Exclude<keyof SettleContext, "wrapper" | "launchPin">
> {
  readonly owner: AcpxProcessLease["owner"];
  /** Says it once, however often it is asked to. */
  readonly warn: (message: string) => void;
}

export class LegacyProcesses {
  readonly #stores = new Set<LegacySessionStore>();

  constructor(
    private readonly context: LegacyContext,
    private readonly options: LegacyOptions,
  ) {}

  /** Where session records are, as they are on disk: with the agent's own command. */
  watch(store: LegacySessionStore): void {
    this.#stores.add(store);
  }

  /**
   * The live process that the record of a session names and no lease does; pinned now, ended when asked to. Whoever
   * asks disposes of it. `undefined`: there is none.
   */
  async ofSession(handle: AcpRuntimeHandle): Promise<UnleasedProcess | undefined> {
    const { sessionKey } = handle;
    const recorded = await this.#recorded(handle.acpxRecordId ?? sessionKey);
    if (recorded === undefined || (await this.#isLeased(sessionKey, recorded.pid))) return undefined;
    const { context } = this;
    const look = lookAt(context.native, observe(context.native), recorded.pid);
    const { evidence } = look;
    if (evidence.kind === "absent") return undefined;
    const lease = this.#adoption(sessionKey, recorded);
    const because =
      evidence.kind === "live"
        ? this.#against(recorded, evidence, lease)
        : `It could not be looked at: ${evidence.fault.call} answered ${evidence.fault.reason}.`;
    const release = () => look.handle?.close();
    if (because === undefined && evidence.kind === "live" && look.handle !== undefined) {
      const adopted = { ...lease, rootToken: evidence.reading.token };
      const pinned = look.handle;
      return { end: () => this.#end(adopted, pinned), [Symbol.dispose]: release };
    }
    const left = this.#leftAlone(recorded.pid, `the record of session ${sessionKey}`, because ?? "");
    return { end: () => Promise.resolve(left), [Symbol.dispose]: release };
  }

  /**
   * Ends wrappers of this gateway that no lease names any more, if the host asks for it. Signals nobody else,
   * whatever their command line says.
   */
  async sweepMarkers({
    dryRun = false,
    signal,
  }: ReapOptions): Promise<readonly UnleasedEnding[] | undefined> {
    if (this.options.markerSweep !== true || dryRun) return undefined;
    const { native, wrapperRoots } = this.context;
    const table = await native.snapshot();
    if (!table.ok || !table.value.complete) return [];
    const endings: UnleasedEnding[] = [];
    for (const reading of await native.readMany(Array.from(table.value.pid), [])) {
      if (!reading.ok || signal?.aborted === true) continue;
      const { pid, argv } = reading.value;
      // Another root's wrappers are nobody's business here, whatever they are called.
      const marks = argv.ok ? argv.value.slice(0, 2) : [];
      const isMarked = marks.some((word) => wrapperRoots.some((root) => isUnder(word, root)));
      if (isMarked && pid > 1 && pid !== process.pid) endings.push(...(await this.#endMarked(pid)));
    }
    return endings;
  }

  async #endMarked(pid: number): Promise<readonly UnleasedEnding[]> {
    const { context } = this;
    const opened = context.native.open(pid);
    if (!opened.ok) return [];
    const handle = opened.value;
    try {
      const reading = handle.read([LEASE_ID, INSTANCE_ID, GATEWAY_PID]);
      if (!reading.ok) return [];
      const { token, environment } = reading.value;
      const carried = (environment.ok && environment.value[LEASE_ID]) || NIL_ID;
      const leaseId = carried === NIL_ID ? randomUUID() : carried;
      const lease = { ...this.#adoption(`marker:${pid}`, { pid, argv: [], startedAt: Date.now() }), leaseId };
      const because = await this.#againstMarked({ ...lease, launch: "wrapper" }, reading.value);
      if (because !== undefined) return [this.#leftAlone(pid, "its command line", because)];
      return [await this.#end({ ...lease, rootToken: token }, handle)];
    } finally {
      handle.close();
    }
  }

  async #againstMarked(lease: AcpxProcessLease, reading: ProcessReading): Promise<string | undefined> {
    const checks = [checkInstanceId(lease, reading), checkExecutable(lease, reading, this.context)];
    const against = checks.find(({ outcome }) => outcome !== "match");
    if (against !== undefined) return against.detail;
    const named = await this.context.store.load(lease.leaseId);
    if (named !== undefined && !hasEnded(named)) return `Lease ${lease.leaseId} is ${named.state}.`;
    const gateway = reading.environment.ok ? (reading.environment.value[GATEWAY_PID] ?? "") : "";
    // A supervisor never outlives its gateway for long, so that a parent of that number is still the gateway.
    return gateway.startsWith(`${reading.ppid} `) ? "Its gateway lives." : undefined;
  }

  async #recorded(recordId: string): Promise<LegacyProcess | undefined> {
    for (const store of this.#stores) {
      const record = await store.load(recordId).catch(() => undefined);
      const recorded = record && recordedProcess(record);
      if (recorded !== undefined) return recorded;
    }
    return undefined;
  }

  /** A process that ever had a lease is never ended by anything less. */
  async #isLeased(sessionKey: string, pid: number): Promise<boolean> {
    const { store } = this.context;
    const names = (lease: AcpxProcessLease) => lease.sessionKey === sessionKey && lease.rootPid === pid;
    return (await store.listOpen()).leases.some(names) || (await store.listEnded()).some(names);
  }

  #against(recorded: LegacyProcess, evidence: LiveEvidence, lease: AcpxProcessLease): string | undefined {
    if (recorded.pid === process.pid) return "It is this very process.";
    const { wrapperRoots } = this.context;
    const verdict = verifyLegacy(recorded, evidence, { lease, wrapperRoots, now: Date.now() });
    return verdict.verified ? undefined : verdict.because;
  }

  /** A lease that is never published: it names what was verified for as long as the ending takes. */
  #adoption(sessionKey: string, { pid, argv, startedAt }: LegacyProcess): AcpxProcessLease {
    const { gatewayInstanceId, owner } = this.context;
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

  /** From here on a process from before leases is a direct launch whose handle has been held since it was verified. */
  async #end(lease: AcpxProcessLease, pinned: ProcessHandle): Promise<UnleasedEnding> {
    const { context } = this;
    const launchHandle = (leaseId: string) =>
      leaseId === lease.leaseId ? pinned : context.launchHandle(leaseId);
    const search = (known: readonly OwnedMember[]) => examineTree({ ...context, launchHandle }, lease, known);
    const termination = await terminateBySearch(search, context.policy);
    const { ended, deaths } = termination;
    return ended
      ? { pid: lease.rootPid, ended, because: "Verified and ended.", deaths, survivors: [] }
      : {
          pid: lease.rootPid,
          ended,
          because: termination.because,
          deaths,
          survivors: termination.survivors,
        };
  }

  #leftAlone(pid: number, namedBy: string, because: string): UnleasedEnding {
    this.context.warn(`Process ${pid}, named by ${namedBy}, is left alone: ${because}`);
    return { pid, ended: false, because, deaths: [], survivors: [] };
  }
}

/** `undefined`: the record names no process. */
function recordedProcess(record: LegacySessionRecord): LegacyProcess | undefined {
  const { pid, agentCommand, agentArgv, agentStartedAt = "" } = record;
  if (pid === undefined || !Number.isInteger(pid) || pid <= 1 || pid > 0x7fff_ffff) return undefined;
  const argv = argvOf(agentArgv ?? agentCommand) ?? [];
  return { pid, argv: withoutLease(argv), startedAt: Date.parse(agentStartedAt) };
}
