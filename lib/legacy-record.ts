/**
 * Is this the process that a session record from before leases names? Pure. Such a record knows a number, a command
 * and a time of day; only all of them together, and nothing against it, make the process the record's.
 */
import { withoutLease } from "./agent-command.js";
import { checkInstanceId, checkLeaseId, checkUid, type Check } from "./checks.js";
import type { LiveEvidence, ProcessReading } from "./evidence.js";
import { startTicks } from "./identity.js";
import { isUnder } from "./image-check.js";
import type { AcpxProcessLease } from "./lease.js";

export interface LegacyProcess {
  readonly pid: number;
  /** Without lease arguments; empty where the stored command cannot be split into words. */
  readonly argv: readonly string[];
  /** Epoch milliseconds; NaN where the record says none. */
  readonly startedAt: number;
}

export interface LegacyCheck extends Omit<Check, "name"> {
  readonly name: Check["name"] | "start-time" | "wrapper";
}

export interface LegacyVerdict {
  readonly verified: boolean;
  /** The first thing that speaks against it, or that could not be looked at. */
  readonly because: string;
  readonly checks: readonly LegacyCheck[];
}

export interface LegacyView {
  /** The lease that the process would be adopted under: an id that nobody carries, and our instance. */
  readonly lease: AcpxProcessLease;
  /** As configured and as resolved: argv names a file as somebody wrote it. */
  readonly wrapperRoots: readonly string[];
  /** Epoch milliseconds just before the reading: a delay in between makes a process look older, never younger. */
  readonly now: number;
}

/** Every check has to speak for it; what could not be read, or was not recorded, speaks for nobody. */
export function verifyLegacy(record: LegacyProcess, evidence: LiveEvidence, view: LegacyView): LegacyVerdict {
  const { reading, observer } = evidence;
  const checks = [
    checkUid(observer.uid, reading),
    checkStartTime(record, reading, view.now),
    checkCommand(record, reading),
    ...checkWrapper(record, reading, view.wrapperRoots),
    ...[checkLeaseId(view.lease, reading), checkInstanceId(view.lease, reading)].map(ifRecorded),
  ];
  const against = checks.find(({ outcome }) => outcome !== "match");
  return {
    verified: against === undefined,
    because: against?.detail ?? "Everything recorded agrees.",
    checks,
  };
}

/** Ids came with leases: a process without any is what a record from before expects, one with others' is theirs. */
function ifRecorded(check: Check): LegacyCheck {
  return check.outcome === "not-recorded" ? { ...check, outcome: "match" } : check;
}

/** USER_HZ, the unit of start times in proc_pid_stat(5), is 100 on every architecture that Node runs on. */
const TICK_MS = 10;
/**
 * acpx reads the clock when it hears of the spawn, which a busy event loop delays, and a leap second may have put the
 * clock back since. Slewing needs no allowance: it moves the boot clock and the time of day together. After a step by
 * more than this the record does not even agree with its own process, which is then left alone.
 */
const EARLIER_MS = 2_000;
/** Two roundings to a tick, and nothing else: who started after the record was made has only got the number. */
const LATER_MS = 2 * TICK_MS;

function checkStartTime({ startedAt }: LegacyProcess, reading: ProcessReading, now: number): LegacyCheck {
  const name = "start-time";
  const { pid } = reading;
  const ticks = startTicks(reading.token);
  if (Number.isNaN(startedAt))
    return { name, outcome: "not-recorded", detail: "The record does not say when its process started." };
  if (ticks === undefined)
    return { name, outcome: "unreadable", detail: `When process ${pid} started could not be read.` };
  const laterMs = now - (reading.readAtTicks - ticks) * TICK_MS - startedAt;
  // Without the measured times, which no two looks agree on to the tick: a warning is given once per sentence.
  if (laterMs > LATER_MS)
    return { name, outcome: "mismatch", detail: `Process ${pid} started later than the recorded one.` };
  if (laterMs < -EARLIER_MS)
    return { name, outcome: "mismatch", detail: `Process ${pid} started earlier than the recorded one.` };
  return { name, outcome: "match", detail: `Process ${pid} started when the recorded one did.` };
}

function checkCommand({ argv }: LegacyProcess, { pid, argv: live }: ProcessReading): LegacyCheck {
  const name = "argv";
  if (argv.length === 0)
    return { name, outcome: "not-recorded", detail: "The recorded command cannot be split into words." };
  if (!live.ok)
    return { name, outcome: "unreadable", detail: `The arguments of process ${pid} could not be read.` };
  return agrees(argv, withoutLease(live.value))
    ? { name, outcome: "match", detail: `Process ${pid} runs the recorded command.` }
    : { name, outcome: "mismatch", detail: `Process ${pid} runs another command than the recorded one.` };
}

/**
 * For a script the kernel puts its interpreter, and at most one argument of that, in front; the script itself is then
 * named by the path under which it was found (execve(2), "Interpreter scripts").
 */
function agrees(stored: readonly string[], live: readonly string[]): boolean {
  const interpreter = live.length - stored.length;
  if (interpreter < 0 || interpreter > 2) return false;
  const [command = "", ...rest] = live.slice(interpreter);
  const [asked = "", ...wanted] = stored;
  if (!wanted.every((word, index) => word === rest[index])) return false;
  return command === asked || (interpreter > 0 && !asked.includes("/") && command.endsWith(`/${asked}`));
}

const GENERATED_WRAPPER = /-wrapper(?:\.[cm]?js)?$/u;

/** The program, or the script that it interprets, if it is (or is called like) a wrapper that a gateway generates. */
export function wrapperIn(argv: readonly string[], wrapperRoots: readonly string[]): string | undefined {
  return argv
    .slice(0, 2)
    .find((word) => GENERATED_WRAPPER.test(word) || wrapperRoots.some((root) => isUnder(word, root)));
}

function checkWrapper(
  { argv }: LegacyProcess,
  { pid, argv: live }: ProcessReading,
  roots: readonly string[],
): LegacyCheck[] {
  const name = "wrapper";
  const expected = wrapperIn(argv, roots);
  if (expected === undefined) return [];
  const found = live.ok ? wrapperIn(live.value, roots) : undefined;
  const isOurs = found !== undefined && roots.some((root) => isUnder(found, root));
  return [
    {
      name,
      outcome: isOurs ? "match" : "mismatch",
      detail: `Recorded behind the wrapper ${expected}, process ${pid} runs ${found ?? "no wrapper"}.`,
    },
  ];
}
