/**
 * What `doctor` makes of what it found: whether it works, what is missing where it does not, and what helps. One
 * function per subject; each answer names its remedy.
 */
import type { Checkup } from "./cli-reports.js";

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

export type StateDirFacts =
  | { readonly kind: "absent"; readonly path: string }
  | { readonly kind: "unusable"; readonly because: string }
  | {
      readonly kind: "found";
      readonly path: string;
      readonly warnings: readonly string[];
      readonly writable: boolean;
      readonly freeBytes: number;
      /** `untried`: there is no file yet to try it on. */
      readonly locks: "work" | "unsupported" | "untried";
      readonly leases: {
        readonly open: number;
        readonly damaged: readonly string[];
        readonly newer: readonly string[];
        readonly unreadable: readonly string[];
        /** Set aside by an earlier sweep. */
        readonly aside: number;
        /** Open, and their gateway is dead. */
        readonly leftBehind: number;
        /** Open, and nobody can tell whether their gateway lives. */
        readonly undecided: number;
      };
    };

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
    ...stateDir(facts.stateDir),
    ...facts.wrapperRoots.map(wrapperRoot),
    ...facts.leftovers.map(leftover),
    terminals,
  ];
}

type Made = [about: string, outcome: Checkup["outcome"], found: string, remedy?: string];

function checkup(...[about, outcome, found, remedy]: Made): Checkup {
  return { about, outcome, found, ...(remedy === undefined ? {} : { remedy }) };
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

/** A launch writes a few kilobytes; with less than this the next ones will be refused. */
const LITTLE_SPACE = 10 * 1024 * 1024;

function stateDir(facts: StateDirFacts): Checkup[] {
  const about = "state dir";
  if (facts.kind === "absent")
    return [checkup(about, "ok", `${facts.path} is not there yet; a launch makes it.`)];
  if (facts.kind === "unusable")
    return [checkup(about, "problem", facts.because, "Nothing is launched until then.")];
  const { path, warnings, writable, freeBytes, locks, leases } = facts;
  const found: Checkup[] = [];
  if (!writable) {
    const remedy = "Give it to the user of the gateway, and mount it writable.";
    found.push(checkup(about, "problem", `${path} cannot be written to: launches are refused.`, remedy));
  } else if (freeBytes < LITTLE_SPACE) {
    const said = `${path} is on a disk with ${Math.floor(freeBytes / 1024)} KiB left.`;
    found.push(
      checkup(about, "problem", said, "Free some space: a launch that cannot be recorded is refused."),
    );
  } else found.push(checkup(about, "ok", path));
  for (const warning of warnings) {
    const remedy = "Take the right to write away from others: they could put another directory in its place.";
    found.push(checkup(about, "note", warning, remedy));
  }
  if (locks === "unsupported") {
    const said =
      "Locks mean nothing on this file system: gateways in other namespaces cannot be told from dead ones.";
    found.push(checkup("locks", "note", said, "Put the state directory on a local file system."));
  } else if (locks === "work") found.push(checkup("locks", "ok", "Work on this file system."));
  return [...found, ...leaseCheckups(leases)];
}

function leaseCheckups(leases: Extract<StateDirFacts, { kind: "found" }>["leases"]): Checkup[] {
  const { open, damaged, newer, unreadable, aside, leftBehind, undecided } = leases;
  const about = "leases";
  const rows: Made[] = [];
  if (damaged.length > 0)
    rows.push([
      about,
      "problem",
      `Damaged: ${damaged.join(", ")}.`,
      "The next sweep sets them aside: acpx-lifecycle reap.",
    ]);
  if (newer.length > 0)
    rows.push([
      about,
      "problem",
      `Of a newer version: ${newer.join(", ")}.`,
      "Update acpx-lifecycle; they are left alone until then.",
    ]);
  if (unreadable.length > 0)
    rows.push([
      about,
      "problem",
      `Not readable: ${unreadable.join(", ")}.`,
      "Give the state directory to the user of the gateway.",
    ]);
  if (leftBehind > 0)
    rows.push([
      about,
      "problem",
      `${leftBehind} left behind by dead gateways.`,
      "Run acpx-lifecycle reap; what it leaves, acpx-lifecycle inspect explains.",
    ]);
  if (undecided > 0)
    rows.push([
      about,
      "note",
      `${undecided} of gateways of which nobody can tell from here whether they live.`,
      "Look where they run: acpx-lifecycle status names them.",
    ]);
  if (aside > 0)
    rows.push([
      about,
      "note",
      `${aside} damaged ones were set aside in leases/damaged.`,
      "They are removed after a week; keep a copy if you want to know why.",
    ]);
  if (rows.length === 0) rows.push([about, "ok", `${open} open; all can be read.`]);
  return rows.map((row) => checkup(...row));
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
