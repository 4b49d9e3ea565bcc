/**
 * Looking at and signalling processes: turns what the native layer answers into evidence, and lets a signal
 * through only together with the proof that belongs to the very handle it goes to.
 */
import { createHash } from "node:crypto";
import { geteuid } from "node:process";

import { LEASE_ID, NIL_ID, OWNERSHIP_VARIABLES } from "./environment.js";
import { LifecycleError } from "./errors.js";
import type { Fault, Observed, Snapshot } from "./evidence.js";
import type { Delivery, Native, ProcessHandle, Signal } from "./native.js";
import { isOwnershipProof, type Evidence, type Observer, type OwnershipProof } from "./verdict.js";

/** The recorded form of a command: scheme and hex sha256 over the NUL-joined argv. */
export function commandHash(argv: readonly string[]): string {
  return `argv0:${createHash("sha256").update(argv.join("\0")).digest("hex")}`;
}

/** Who looks. Without a readable own token nothing here is comparable with anything. */
export function observe(native: Pick<Native, "backend">): Observer {
  const token = native.backend().selfToken;
  return { token: token.ok ? token.value : "", uid: geteuid?.() ?? -1 };
}

/** Evidence, and the open handle it was read through; whoever asked closes it. */
export interface Look {
  readonly evidence: Evidence;
  readonly handle?: ProcessHandle;
}

/** Opens `pid` and reads what a verdict needs. `absent` only when the kernel knows no such process. */
export function lookAt(native: Native, observer: Observer, pid: number): Look {
  return readOpened(observer, native.open(pid));
}

/** The same through a handle that is held already; it stays its holder's to close. */
export function lookThrough(observer: Observer, handle: ProcessHandle): Evidence {
  const reading = handle.read(OWNERSHIP_VARIABLES);
  if (!reading.ok) return withoutReading(observer, reading);
  const { argv } = reading.value;
  return {
    kind: "live",
    observer,
    pin: handle,
    reading: reading.value,
    ...(argv.ok ? { commandHash: commandHash(argv.value) } : {}),
    confirmed: false,
  };
}

/**
 * Looks at a family so that its parent numbers can be trusted: every handle is open before the first reading, and
 * `confirmed` says that the process still held its number after the last one (a zombie does).
 */
export function lookAtAll(native: Native, observer: Observer, pids: readonly number[]): Look[] {
  const opened = pids.map((pid) => native.open(pid));
  return opened.map((handle) => readOpened(observer, handle)).map(confirm);
}

/** Says whether the process of a look still holds its number now. */
export function confirm(look: Look): Look {
  if (look.evidence.kind !== "live" || look.handle === undefined) return look;
  return { evidence: { ...look.evidence, confirmed: look.handle.signal(0).ok }, handle: look.handle };
}

function readOpened(observer: Observer, opened: Observed<ProcessHandle>): Look {
  if (!opened.ok) return { evidence: withoutReading(observer, opened) };
  const evidence = lookThrough(observer, opened.value);
  if (evidence.kind === "live") return { evidence, handle: opened.value };
  opened.value.close();
  return { evidence };
}

function withoutReading(observer: Observer, fault: Fault): Evidence {
  return fault.reason === "gone" ? { kind: "absent", observer } : { kind: "unreadable", observer, fault };
}

/** The process table of one moment, and who carries which lease id in its environment. */
export interface Census {
  readonly snapshot: Snapshot;
  /** Lease id to the pids that carry it. */
  readonly carriers: ReadonlyMap<string, readonly number[]>;
  /** Processes of our own uid whose environment could not be read: any of them may carry any lease. */
  readonly withheld: readonly Withheld[];
}

export interface Withheld {
  readonly pid: number;
  readonly startTicks: number;
}

/** They say something about us and nothing about the process that was looked at. */
const LOOKERS_FAULTS: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

/**
 * One table and one reading of the environments of our own uid, off the main thread. An incomplete table is a
 * fault: nobody may conclude from it that somebody is missing.
 */
export async function takeCensus(native: Native, observer: Observer): Promise<Observed<Census>> {
  const snapshot = await native.snapshot();
  if (!snapshot.ok) return snapshot;
  if (!snapshot.value.complete)
    return { ok: false, reason: "garbled", call: "snapshot: the table is incomplete" };
  const { pid, uid, startTicks } = snapshot.value;
  const rows = [...pid.keys()].filter(
    (row) => uid[row] === observer.uid && pid[row] !== process.pid && (pid[row] ?? 0) > 1,
  );
  const readings = await native.readMany(
    rows.map((row) => pid[row] ?? 0),
    [LEASE_ID],
  );
  const carriers = new Map<string, number[]>();
  const withheld: Withheld[] = [];
  for (const [index, reading] of readings.entries()) {
    const row = rows[index] ?? 0;
    const carried: Observed<string | null | undefined> = !reading.ok
      ? reading
      : reading.value.environment.ok
        ? { ok: true, value: reading.value.environment.value[LEASE_ID] }
        : reading.value.environment;
    if (!carried.ok) {
      if (LOOKERS_FAULTS.has(carried.errno ?? "")) return carried;
      if (carried.reason === "denied" || carried.reason === "garbled")
        withheld.push({ pid: pid[row] ?? 0, startTicks: startTicks[row] ?? NaN });
    } else if (typeof carried.value === "string" && carried.value !== NIL_ID) {
      carriers.set(carried.value, [...(carriers.get(carried.value) ?? []), pid[row] ?? 0]);
    }
  }
  return { ok: true, value: { snapshot: snapshot.value, carriers, withheld } };
}

/**
 * Callers that come while a census is taken share the next one: whatever they get was begun after they asked, and a
 * sweep over many leases reads the table a few times instead of a few times per lease.
 */
export function sharedCensus(native: Native, observer: Observer): () => Promise<Observed<Census>> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Observed<Census>> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const taken = takeCensus(native, observer);
      running = taken.catch(() => undefined);
      return taken;
    });
    return next;
  };
}

/** The only way to a signal: a genuine proof, made from evidence that was read through this very handle. */
export function signalProven(
  handle: ProcessHandle,
  proof: OwnershipProof,
  signal: Signal,
): Observed<Delivery> {
  if (!isOwnershipProof(proof) || proof.pin !== handle) {
    throw new LifecycleError(
      "ERR_PROTECTED_PROCESS",
      `Refusing to signal process ${handle.pid}: the proof was not made from evidence read through this handle. Verify the process again.`,
    );
  }
  return handle.signal(signal);
}
