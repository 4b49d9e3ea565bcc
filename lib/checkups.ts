/**
 * What `doctor` makes of what it found: whether it works, what is missing where it does not, and what helps. One
 * function per subject; each answer names its remedy.
 */
import { checkup } from "./checkup.js";
import type { Checkup } from "./cli-reports.js";
import { stateDirCheckups, type StateDirFacts } from "./state-dir-checkups.js";

export type { StateDirFacts } from "./state-dir-checkups.js";

export interface Facts {
  /** `process.version` and the kernel's release. */
  readonly versions: string;
  readonly backend: {
    readonly supported: boolean;
    readonly reason?: string;
    readonly pinnedHandles: boolean;
    readonly pinnedSignals: boolean;
    readonly groupSignals: boolean;
    readonly uniqueIdentity: boolean;
  };
  /** Of the supervisor that would be installed. */
  readonly supervisorImage: string | undefined;
  /** How many processes the table shows, or why it cannot be relied on. */
  readonly table: { readonly processes: number; readonly own: number } | { readonly fault: string };
  /** Soft limits; Infinity: none. Absent: not readable here. */
  readonly limits: { readonly openFiles?: number; readonly processes?: number };
  readonly stateDir: StateDirFacts;
  readonly wrapperRoots: readonly WrapperRootFacts[];
  /** Files of versions that knew no leases. */
  readonly leftovers: readonly string[];
}

export interface WrapperRootFacts {
  readonly path: string;
  readonly images: number;
  /** Images of it that may not be executed. */
  readonly refused: readonly string[];
}

export function examineFacts(facts: Facts): Checkup[] {
  const { backend } = facts;
  return [
    addon(facts),
    ...(backend.supported ? kernel(facts) : []),
    supervisor(facts),
    ...limits(facts),
    ...stateDirCheckups(facts.stateDir),
    ...facts.wrapperRoots.map(wrapperRoot),
    ...facts.leftovers.map(leftover),
    terminals,
  ];
}

function addon({ backend, versions }: Facts): Checkup {
  const reason = backend.reason ?? "It answers nothing.";
  if (backend.supported) return checkup("addon", "ok", `Works with ${versions}.`);
  return checkup("addon", "problem", `Does not work with ${versions}. Nothing can be proven here.`, reason);
}

function kernel({ backend, table }: Facts): Checkup[] {
  return [
    backend.pinnedHandles && backend.pinnedSignals
      ? checkup("pidfd", "ok", "Signals go through handles that the kernel pins to one process.")
      : checkup(
          "pidfd",
          "problem",
          "Denied or not there: nobody can be signalled but the wrapper's own tree, and wrappers look for their parent every 200 ms.",
          "Allow pidfd_open and pidfd_send_signal in the sandbox (seccomp) profile; they are in Linux since 5.3.",
        ),
    backend.uniqueIdentity
      ? checkup("identity", "ok", "Every process of this boot has an id of its own.")
      : checkup(
          "identity",
          "note",
          "Start times alone tell processes apart, to 10 ms: a direct launch is not recognised after a restart.",
          "Run Linux 6.9 or later; wrapped launches are recognised all the same.",
        ),
    backend.groupSignals
      ? checkup("groups", "ok", "A whole process group can be signalled through its pinned leader.")
      : checkup(
          "groups",
          "note",
          "Members of a process group are signalled one by one.",
          "Run Linux 6.9 or later; nothing else depends on it.",
        ),
    "fault" in table
      ? checkup(
          "table",
          "problem",
          `The process table cannot be relied on: ${table.fault}.`,
          "Mount /proc without hidepid and subset=pid for the user of the gateway.",
        )
      : checkup("table", "ok", `Complete: ${table.processes} processes, ${table.own} of this user.`),
  ];
}

function supervisor({ supervisorImage }: Facts): Checkup {
  if (supervisorImage !== undefined) return checkup("supervisor", "ok", supervisorImage);
  const remedy =
    'Install a version that ships one for this machine, or run "npm run build:native" in a checkout.';
  return checkup("supervisor", "problem", "There is none for this machine: nothing can be launched.", remedy);
}

/** A tree under way takes two descriptors a member, and a sweep has sixteen under way. */
const FEW_FILES = 256;
const ENOUGH_FILES = 1_024;
const CROWDED = 0.8;

function limits({ limits: { openFiles, processes }, table }: Facts): Checkup[] {
  const found: Checkup[] = [];
  if (openFiles !== undefined) {
    const said = `${openFiles === Infinity ? "Unlimited" : String(openFiles)} (RLIMIT_NOFILE).`;
    const outcome = openFiles < FEW_FILES ? "problem" : openFiles < ENOUGH_FILES ? "note" : "ok";
    const remedy = `Raise it to ${ENOUGH_FILES} or more: ulimit -n, LimitNOFILE= in a unit.`;
    found.push(checkup("open files", outcome, said, ...(outcome === "ok" ? [] : [remedy])));
  }
  if (processes !== undefined && !("fault" in table)) {
    const crowded = table.own > processes * CROWDED;
    const said =
      processes === Infinity ? "Unlimited" : `${table.own} of ${processes} in use, threads not counted`;
    const remedy = "Raise it, or end what is not needed: ulimit -u, TasksMax= in a unit.";
    const outcome = crowded ? "problem" : "ok";
    found.push(checkup("processes", outcome, `${said} (RLIMIT_NPROC).`, ...(crowded ? [remedy] : [])));
  }
  return found;
}

function wrapperRoot({ path, images, refused }: WrapperRootFacts): Checkup {
  const about = "wrappers";
  if (refused.length > 0) {
    const remedy = "Mount it without noexec, or choose another wrapper root.";
    return checkup(about, "problem", `Programs may not be executed: ${refused.join(", ")}.`, remedy);
  }
  const said = images === 0 ? `${path} holds no wrapper yet; a launch installs one.` : path;
  return checkup(about, "ok", said);
}

function leftover(path: string): Checkup {
  return checkup(
    "leftovers",
    "note",
    `${path} was written by a version without leases.`,
    "The next start of the gateway takes it over; remove it if there is none any more.",
  );
}

/** Said always: nothing that is looked at here could show it. */
const terminals = checkup(
  "terminals",
  "note",
  "Terminals that an agent asks its host for are children of the gateway, under no lease.",
  "Leave them off (terminal: false, as runtimeOptions has it), or end them in the host.",
);
