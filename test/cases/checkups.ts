/** What `doctor` may find, each with what it makes of it; everything else is in order. */
import type { Facts, StateDirFacts } from "../../lib/checkups.js";
import type { Checkup } from "../../lib/cli-reports.js";

export const FOUND: Extract<StateDirFacts, { kind: "found" }> = {
  kind: "found",
  path: "/srv/state",
  warnings: [],
  writable: true,
  freeBytes: 1e12,
  locks: "work",
  leases: { open: 2, damaged: [], newer: [], unreadable: [], aside: 0, leftBehind: 0, undecided: 0 },
};

const backend = {
  supported: true,
  pinnedHandles: true,
  pinnedSignals: true,
  groupSignals: true,
  uniqueIdentity: true,
};

export const HEALTHY: Facts = {
  versions: "node v20",
  backend,
  supervisorImage: "/srv/acpx_supervisor",
  table: { processes: 100, own: 10 },
  limits: { openFiles: 1024, processes: 1000 },
  stateDir: FOUND,
  wrapperRoots: [{ path: "/srv/wrappers", images: 1, refused: [] }],
  leftovers: [],
};

interface Row {
  readonly name: string;
  readonly facts: Partial<Facts>;
  readonly about: string;
  readonly outcome: Checkup["outcome"];
  readonly found: RegExp;
}

const withLeases = (leases: Partial<(typeof FOUND)["leases"]>): Partial<Facts> => ({
  stateDir: { ...FOUND, leases: { ...FOUND.leases, ...leases } },
});

export const findings: readonly Row[] = [
  {
    name: "an addon that does not load",
    facts: { backend: { ...backend, supported: false, reason: "Build it." } },
    about: "addon",
    outcome: "problem",
    found: /Nothing can be proven/,
  },
  {
    name: "a sandbox that denies pidfds",
    facts: { backend: { ...backend, pinnedSignals: false } },
    about: "pidfd",
    outcome: "problem",
    found: /every 200 ms/,
  },
  {
    name: "a kernel without unique ids",
    facts: { backend: { ...backend, uniqueIdentity: false } },
    about: "identity",
    outcome: "note",
    found: /10 ms/,
  },
  {
    name: "a kernel without group signals",
    facts: { backend: { ...backend, groupSignals: false } },
    about: "groups",
    outcome: "note",
    found: /one by one/,
  },
  {
    name: "a process table that hides somebody",
    facts: { table: { fault: "it does not show everybody" } },
    about: "table",
    outcome: "problem",
    found: /does not show everybody/,
  },
  {
    name: "no supervisor for this machine",
    facts: { supervisorImage: undefined },
    about: "supervisor",
    outcome: "problem",
    found: /nothing can be launched/,
  },
  {
    name: "hardly any files",
    facts: { limits: { openFiles: 255 } },
    about: "open files",
    outcome: "problem",
    found: /^255 /,
  },
  {
    name: "few files",
    facts: { limits: { openFiles: 1023 } },
    about: "open files",
    outcome: "note",
    found: /^1023 /,
  },
  {
    name: "hardly any room for processes",
    facts: { limits: { processes: 12 } },
    about: "processes",
    outcome: "problem",
    found: /^10 of 12 /,
  },
  {
    name: "a state directory that could not be read",
    facts: { stateDir: { kind: "unusable", because: "cannot inspect /srv/state (EACCES)" } },
    about: "state dir",
    outcome: "problem",
    found: /EACCES/,
  },
  {
    name: "a state directory that cannot be written to",
    facts: { stateDir: { ...FOUND, writable: false } },
    about: "state dir",
    outcome: "problem",
    found: /launches are refused/,
  },
  {
    name: "a full disk",
    facts: { stateDir: { ...FOUND, freeBytes: 2048 } },
    about: "state dir",
    outcome: "problem",
    found: /2 KiB/,
  },
  {
    name: "an ancestor that others may write to",
    facts: { stateDir: { ...FOUND, warnings: ["/srv is writable by every user"] } },
    about: "state dir",
    outcome: "note",
    found: /^\/srv is writable/,
  },
  {
    name: "a file system without locks",
    facts: { stateDir: { ...FOUND, locks: "unsupported" } },
    about: "locks",
    outcome: "note",
    found: /mean nothing/,
  },
  {
    name: "damaged leases",
    facts: withLeases({ damaged: ["a", "b"] }),
    about: "leases",
    outcome: "problem",
    found: /^Damaged: a, b\./,
  },
  {
    name: "leases of a newer version",
    facts: withLeases({ newer: ["a"] }),
    about: "leases",
    outcome: "problem",
    found: /newer version/,
  },
  {
    name: "leases that cannot be read",
    facts: withLeases({ unreadable: ["a"] }),
    about: "leases",
    outcome: "problem",
    found: /^Not readable/,
  },
  {
    name: "leases that dead gateways left",
    facts: withLeases({ leftBehind: 3 }),
    about: "leases",
    outcome: "problem",
    found: /^3 left behind/,
  },
  {
    name: "leases of gateways that nobody can see",
    facts: withLeases({ undecided: 1 }),
    about: "leases",
    outcome: "note",
    found: /nobody can tell/,
  },
  {
    name: "damaged leases of earlier",
    facts: withLeases({ aside: 1 }),
    about: "leases",
    outcome: "note",
    found: /leases\/damaged/,
  },
  {
    name: "a wrapper root that is mounted noexec",
    facts: { wrapperRoots: [{ path: "/srv/wrappers", images: 1, refused: ["/srv/wrappers/codex-wrapper"] }] },
    about: "wrappers",
    outcome: "problem",
    found: /codex-wrapper/,
  },
  {
    name: "what an older version left",
    facts: { leftovers: ["/srv/state/process-leases.json"] },
    about: "leftovers",
    outcome: "note",
    found: /process-leases\.json/,
  },
];
