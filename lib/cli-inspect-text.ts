/** `inspect` for people: what was asked about, each check with its sentence, and what follows from them. */
import type { Check } from "./checks.js";
import type {
  InspectedLease,
  InspectedProcess,
  InspectReport,
  LeaseReport,
  VerdictReport,
} from "./cli-reports.js";
import { shortId, treeLines, verdictText } from "./cli-tree-text.js";
import { commandLine, duration, paint, visible, wrap, type Colour, type TextStyle } from "./terminal-text.js";

export function inspectText(style: TextStyle, report: InspectReport, withArgv: boolean): string {
  const subject = visible(style, report.subject);
  if (report.kind === "nothing") {
    return wrap(
      style,
      `No lease of ${visible(style, report.stateDir)} has an id that begins with "${subject}" or is for a session "${subject}".`,
    );
  }
  const parts: string[][] = [];
  if (report.process !== undefined) parts.push(processLines(style, report.process));
  for (const lease of report.leases) {
    const told = report.process?.leaseId === lease.leaseId && lease.rootPid === report.process.pid;
    parts.push(openLines(style, lease, withArgv, !told));
  }
  for (const lease of report.ended) parts.push(endedLines(style, lease));
  return parts.map((lines) => lines.join("\n")).join("\n\n");
}

const LABEL = 12;
const NARROW = 100;

function field(style: TextStyle, label: string, text: string): string {
  return `  ${paint(style, "dim", label.padEnd(LABEL - 2))}${wrap(style, visible(style, text), LABEL)}`;
}

function processLines(style: TextStyle, process: InspectedProcess): string[] {
  const { pid, found, verdict, program, executable, argv } = process;
  const lines = [paint(style, "bold", `process ${pid}`)];
  if (found === "live") {
    lines.push(field(style, "program", executable ?? program ?? "not readable"));
    if (argv !== undefined) lines.push(field(style, "argv", commandLine(style, argv)));
    lines.push(
      field(
        style,
        "numbers",
        `parent ${process.ppid ?? "?"}, group ${process.pgid ?? "?"}, session ${process.sid ?? "?"}, uid ${process.uid ?? "?"}`,
      ),
    );
  }
  lines.push(
    verdictField(style, verdict),
    ...(process.leaseId === undefined ? [] : [field(style, "lease", process.leaseId)]),
    ...checkLines(style, process.checks),
    field(style, "follows", consequence(verdict)),
  );
  return lines;
}

function openLines(
  style: TextStyle,
  lease: InspectedLease,
  withArgv: boolean,
  withChecks: boolean,
): string[] {
  const tree = treeLines(style, lease, withArgv);
  return [
    ...leaseLines(style, lease),
    verdictField(style, lease.verdict),
    ...(withChecks ? checkLines(style, lease.checks) : []),
    ...(withChecks ? [field(style, "follows", `${consequence(lease.verdict)} ${whoMayEnd(lease)}`)] : []),
    ...(tree.length === 0
      ? [field(style, "processes", "none found")]
      : [`  ${paint(style, "dim", "processes")}`, ...tree]),
  ];
}

function leaseLines(style: TextStyle, lease: LeaseReport): string[] {
  const { startedAt, endedAt, ageMs } = lease;
  const started =
    endedAt === undefined ? `${duration(ageMs)} ago` : `${duration(endedAt - startedAt)} before its end`;
  const root = lease.rootPid === 0 ? "not yet known" : String(lease.rootPid);
  const adapter = lease.adapterPid === undefined ? "" : `, adapter ${lease.adapterPid}`;
  const group = lease.processGroupId === undefined ? "" : `, group ${lease.processGroupId}`;
  return [
    `${paint(style, "bold", `lease ${shortId(lease.leaseId)}`)}${lease.leaseId.slice(8)}`,
    field(style, "session", lease.sessionKey),
    field(style, "state", `${lease.state}, revision ${lease.revision}`),
    field(style, "started", started),
    field(style, "launch", `${lease.launch}, ${lease.wrapperPath}`),
    field(style, "root", `${root}${adapter}${group}`),
    field(style, "gateway", `pid ${lease.owner.pid}, ${lease.owner.liveness}: ${lease.owner.because}`),
  ];
}

function endedLines(style: TextStyle, lease: LeaseReport): string[] {
  const proof = {
    subreaper: "The kernel told the wrapper that no descendant was left.",
    search: "Two looks in a row found nobody.",
    none: lease.state === "lost" ? "None: nothing of it was found alive." : "None recorded.",
  }[lease.proof ?? "none"];
  return [
    ...leaseLines(style, lease),
    field(style, "ended", `${duration(lease.ageMs)} ago: ${lease.reason ?? "no reason recorded"}`),
    field(style, "proof", proof),
  ];
}

function verdictField(style: TextStyle, verdict: VerdictReport): string {
  const label = paint(style, "dim", "verdict".padEnd(LABEL - 2));
  const sentence = wrap(style, visible(style, verdict.because), LABEL, LABEL + verdict.kind.length + 2);
  return `  ${label}${verdictText(style, verdict)}: ${sentence}`;
}

const OUTCOMES: Readonly<Record<Check["outcome"], Colour>> = {
  match: "green",
  mismatch: "red",
  unreadable: "yellow",
  "not-recorded": "dim",
};

function checkLines(style: TextStyle, checks: readonly Check[]): string[] {
  const [name, outcome] = [15, 14];
  // Ids and hashes need a line's room: on a narrow terminal they get the line below.
  const below = (style.width ?? Infinity) < NARROW;
  const hang = below ? 6 : 4 + name + outcome;
  return checks.map((check) => {
    const mark = paint(style, OUTCOMES[check.outcome], check.outcome.padEnd(below ? 0 : outcome));
    const gap = below ? `\n${" ".repeat(hang)}` : "";
    return `    ${check.name.padEnd(name)}${mark}${gap}${wrap(style, visible(style, check.detail), hang)}`;
  });
}

function consequence({ kind }: VerdictReport): string {
  switch (kind) {
    case "owned":
      return "It may be signalled, through the handle that the proof belongs to.";
    case "gone":
      return "There is nobody to signal; survivors are looked for one by one.";
    case "foreign":
      return "Never signalled.";
    case "unknown":
      return "Never signalled, and an open lease stays open until it is known.";
  }
}

function whoMayEnd({ owner, unproven }: InspectedLease): string {
  switch (owner.liveness) {
    case "alive":
      return "Only its own gateway ends this lease.";
    case "dead":
    case "dead-elsewhere":
      return unproven.length === 0
        ? "Its gateway is dead: acpx-lifecycle reap settles it."
        : "Its gateway is dead: acpx-lifecycle reap ends what is proven. The rest only you can know: if it is yours, end it by hand, then reap again.";
    case "unknown":
      return "Nobody ends it until it is known whether its gateway lives.";
  }
}
