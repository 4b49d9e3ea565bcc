/** What `doctor` makes of the state directory and of the leases in it. */
import { checkup, type Made } from "./checkup.js";
import type { Checkup } from "./cli-reports.js";

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

/** A launch writes a few kilobytes; with less than this the next ones will be refused. */
const LITTLE_SPACE = 10 * 1024 * 1024;

export function stateDirCheckups(facts: StateDirFacts): Checkup[] {
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
