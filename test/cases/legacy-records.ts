import type { ProcessReading } from "../../lib/evidence.js";
import type { LegacyProcess, LegacyVerdict } from "../../lib/legacy-record.js";
import {
  CLEARED,
  DENIED,
  INSTANCE,
  NIL,
  OTHER_INSTANCE,
  OTHER_LEASE,
  ROOT,
  environment,
  seen,
  token,
} from "../helpers/evidence.js";

export interface LegacyRow {
  readonly name: string;
  readonly record?: Partial<Omit<LegacyProcess, "startedAt">>;
  /** When acpx heard of the spawn, milliseconds after it; NaN: not recorded. Default 40. */
  readonly heardAfter?: number;
  readonly reading?: Partial<ProcessReading>;
  /** Milliseconds by which the wall clock was stepped between the spawn and the close. */
  readonly clockStep?: number;
  readonly verified: boolean;
  /** The check that speaks against it. */
  readonly against?: LegacyVerdict["checks"][number]["name"];
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SCRIPT = `${ROOT}/codex-acp-wrapper.mjs`;
const behindWrapper = { argv: ["node", SCRIPT, "--verbose"] };
const LEASE_WORDS = ["--openclaw-acpx-lease-id", "l-1", "--openclaw-gateway-instance-id", "i-1"];
const oddArgv = ['/home/u/a b\'c "d"/agent', "it's", 'a "word"', "back\\slash", ""];

/** Against a record of `codex-acp --stdio` as process 400, started an hour ago, and a process that is just that. */
export const legacyRows: readonly LegacyRow[] = [
  { name: "number, command, start and user agree", verified: true },

  // Another process has the number.
  {
    name: "V1: the number went to an unrelated process",
    reading: { token: token(1_300_000, 9), argv: seen(["vim"]) },
    verified: false,
    against: "start-time",
  },
  {
    name: "V1: the number went to the same command, started later",
    reading: { token: token(1_000_300, 9) },
    verified: false,
    against: "start-time",
  },
  {
    name: "the number went to the same command, started 30 ms after acpx had heard of the first",
    reading: { token: token(1_000_007, 9) },
    verified: false,
    against: "start-time",
  },
  {
    name: "the number went to the same command, started before",
    reading: { token: token(999_700, 9) },
    verified: false,
    against: "start-time",
  },
  {
    name: "another command, started at the recorded time",
    reading: { argv: seen(["vim", "--stdio"]) },
    verified: false,
    against: "argv",
  },
  {
    name: "it runs under another uid",
    reading: { uid: 0 },
    verified: false,
    against: "uid",
  },

  // The time of day.
  { name: "acpx heard of the spawn 1.9 s after it", heardAfter: 1_900, verified: true },
  { name: "a leap second came in between", clockStep: -1_000, verified: true },
  { name: "acpx heard of the spawn within the tick", heardAfter: 0, verified: true },
  {
    name: "V4: the clock was put forward by an hour",
    clockStep: HOUR,
    verified: false,
    against: "start-time",
  },
  { name: "V4: the clock was put back by a day", clockStep: -DAY, verified: false, against: "start-time" },
  {
    name: "V4: a step that makes another process look as old as the recorded one still leaves its command",
    reading: { token: token(1_300_000, 9), argv: seen(["vim"]) },
    clockStep: -3_000_000,
    verified: false,
    against: "argv",
  },
  {
    name: "the record does not say when it started",
    heardAfter: NaN,
    verified: false,
    against: "start-time",
  },
  {
    name: "V5: the start cannot be read",
    reading: { token: "darwin;boot=0a1b2c3d-0000-4000-8000-00000000b007;unique=7" },
    verified: false,
    against: "start-time",
  },

  // The command: words, never text.
  {
    name: "V2: words with spaces, quotes and backslashes",
    record: { argv: oddArgv },
    reading: { argv: seen(oddArgv) },
    verified: true,
  },
  {
    name: "V2: the same text in other words",
    record: { argv: ["codex-acp", "a b"] },
    reading: { argv: seen(["codex-acp", "a", "b"]) },
    verified: false,
    against: "argv",
  },
  {
    name: "V2: it replaced its arguments by a title",
    reading: { argv: seen(["codex: idle"]) },
    verified: false,
    against: "argv",
  },
  {
    name: "V5: its arguments cannot be read",
    reading: { argv: DENIED },
    verified: false,
    against: "argv",
  },
  {
    name: "the recorded command has an open quote",
    record: { argv: [] },
    reading: { argv: seen([]) },
    verified: false,
    against: "argv",
  },
  {
    name: "a script that its interpreter runs, found on PATH",
    reading: { argv: seen(["node", "/usr/bin/codex-acp", "--stdio"]) },
    verified: true,
  },
  {
    name: "a script whose first line gives its interpreter an argument",
    reading: { argv: seen(["/usr/bin/node", "--no-warnings", "/usr/bin/codex-acp", "--stdio"]) },
    verified: true,
  },
  {
    name: "another script of that ending",
    reading: { argv: seen(["node", "/usr/bin/not-codex-acp", "--stdio"]) },
    verified: false,
    against: "argv",
  },
  {
    name: "a script of that name elsewhere, where the record gives a path",
    record: { argv: ["/opt/codex-acp", "--stdio"] },
    reading: { argv: seen(["node", "/usr/bin/codex-acp", "--stdio"]) },
    verified: false,
    against: "argv",
  },
  {
    name: "the command as the last words of a longer one",
    reading: { argv: seen(["tail", "-n", "1", "-F", "codex-acp", "--stdio"]) },
    verified: false,
    against: "argv",
  },
  {
    name: "lease arguments of the launch, on both sides, are no part of the command",
    reading: { argv: seen(["codex-acp", "--stdio", ...LEASE_WORDS]) },
    verified: true,
  },

  // Wrappers.
  {
    name: "a generated wrapper under the wrapper root",
    record: behindWrapper,
    reading: { argv: seen(behindWrapper.argv) },
    verified: true,
  },
  {
    name: "the generated wrapper of another gateway",
    record: { argv: ["node", "/srv/other/wrappers/codex-acp-wrapper.mjs"] },
    reading: { argv: seen(["node", "/srv/other/wrappers/codex-acp-wrapper.mjs"]) },
    verified: false,
    against: "wrapper",
  },
  {
    name: "recorded behind our wrapper, running behind another gateway's",
    record: behindWrapper,
    reading: { argv: seen(["node", "/srv/other/wrappers/codex-acp-wrapper.mjs", "--verbose"]) },
    verified: false,
    against: "argv",
  },
  {
    name: "a sibling directory with the root as its beginning is not the root",
    record: { argv: [`${ROOT}2/codex-acp-wrapper`] },
    reading: { argv: seen([`${ROOT}2/codex-acp-wrapper`]) },
    verified: false,
    against: "wrapper",
  },

  // Whose it says it is.
  {
    name: "its environment names a lease: that lease's it is",
    reading: { environment: environment(OTHER_LEASE, INSTANCE) },
    verified: false,
    against: "lease-id",
  },
  {
    name: "its environment names another gateway instance",
    reading: { environment: environment(NIL, OTHER_INSTANCE) },
    verified: false,
    against: "instance-id",
  },
  {
    name: "its environment names this instance and no lease",
    reading: { environment: environment(NIL, INSTANCE) },
    verified: true,
  },
  { name: "its environment is empty", reading: { environment: CLEARED }, verified: true },
  {
    name: "V5: its environment cannot be read",
    reading: { environment: DENIED },
    verified: false,
    against: "lease-id",
  },
];
