/** `reap` for people: the plan, a line per lease as it is settled, and what became of all. */
import type { ReapReportLine, SweepReport } from "./cli-reports.js";
import { shortId } from "./cli-tree-text.js";
import { count, paint, visible, wrap, type TextStyle } from "./terminal-text.js";

/** Id and session first, then what there is to say, hanging below them where it does not fit. */
function line(style: TextStyle, lease: { leaseId: string; sessionKey?: string }, said: string): string {
  const session = lease.sessionKey === undefined ? "" : `${lease.sessionKey}: `;
  return `  ${shortId(lease.leaseId)}  ${wrap(style, visible(style, session + said), 12)}`;
}

export function planText(style: TextStyle, plan: SweepReport): string {
  const { planned, held, left, notInspected } = plan;
  const where = visible(style, plan.stateDir);
  if (plan.kind === "busy") return wrap(style, `Another sweep of ${where} is under way.`);
  const lines: string[] = [];
  if (planned.length > 0) {
    lines.push(paint(style, "bold", "To be settled"));
    for (const lease of planned) {
      const pids = lease.pids.join(", ");
      const said = lease.pids.length === 0 ? "nothing of it is alive" : `end ${pids}, in this order`;
      lines.push(line(style, lease, said));
    }
  }
  lines.push(...section(style, "To be left: not provable", left), ...section(style, "Not ours to end", held));
  lines.push(...section(style, "Not inspected", notInspected));
  if (planned.length === 0) lines.push(wrap(style, `Nothing was left behind in ${where}.`));
  return lines.join("\n");
}

function section(
  style: TextStyle,
  title: string,
  leases: readonly (Omit<ReapReportLine, "sessionKey"> & { sessionKey?: string })[],
): string[] {
  if (leases.length === 0) return [];
  return [paint(style, "bold", title), ...leases.map((lease) => line(style, lease, lease.because))];
}

export function endedText(style: TextStyle, leaseId: string, state: string, deaths: number): string {
  return line(style, { leaseId }, `${state}, ${count(deaths, "process", "processes")} ended`);
}

export function leftText(style: TextStyle, leaseId: string, because: string): string {
  return line(style, { leaseId }, `left open: ${because}`);
}

/** After plan and progress: the sum, and what is left to do. */
export function sweptText(style: TextStyle, report: SweepReport): string {
  if (report.kind === "busy") return "Another sweep began meanwhile; nothing was done here.";
  const { settled, left, deaths } = report;
  const lines = [
    `${count(settled.length, "lease")} settled, ${count(deaths, "process", "processes")} ended.`,
  ];
  const detached = settled.flatMap((lease) => lease.detached);
  if (detached.length > 0) lines.push(`Left alone at their own request: ${detached.join(", ")}.`);
  if (left.length > 0) lines.push(`${count(left.length, "lease")} left open: acpx-lifecycle inspect <lease>`);
  return lines.map((text) => wrap(style, text)).join("\n");
}
