/** `status` for people: a row and a tree per lease, what should be known about it, and the sum. */
import { leaseHead, leaseRow, treeLines } from "./cli-tree-text.js";
import type { LiveLeaseReport, StatusReport } from "./cli-reports.js";
import { count, paint, visible, wrap, type TextStyle } from "./terminal-text.js";

export function statusText(style: TextStyle, report: StatusReport, withArgv: boolean): string {
  const { leases, ended, endedCount } = report;
  const lines: string[] = [];
  if (leases.length + ended.length > 0) lines.push(leaseHead(style));
  for (const lease of leases) {
    lines.push(leaseRow(style, lease), ...treeLines(style, lease, withArgv), ...remarks(style, lease));
  }
  for (const lease of ended) {
    lines.push(leaseRow(style, lease));
    const proof = lease.proof === undefined ? "" : `, proven by ${lease.proof}`;
    lines.push(...paragraph(style, `${lease.state}${proof}: ${lease.reason ?? "no reason recorded"}`));
  }
  if (lines.length > 0) lines.push("");
  const where = visible(style, report.stateDir);
  lines.push(wrap(style, sum(leases, where)));
  if (endedCount > ended.length) {
    const hint = `${count(endedCount, "lease has", "leases have")} ended in the last week: status --ended`;
    lines.push(paint(style, "dim", wrap(style, hint)));
  }
  lines.push(...notes(report).map((note) => paint(style, "yellow", wrap(style, note))));
  return lines.join("\n");
}

function sum(leases: readonly LiveLeaseReport[], where: string): string {
  if (leases.length === 0) return `No open leases in ${where}.`;
  const kinds = (["owned", "gone", "foreign", "unknown"] as const).flatMap((kind) => {
    const number = leases.filter(({ verdict }) => verdict.kind === kind).length;
    return number === 0 ? [] : [`${number} ${kind}`];
  });
  const processes = leases.reduce((total, { members }) => total + members.length, 0);
  return `${count(leases.length, "open lease")} in ${where}: ${kinds.join(", ")}; ${count(processes, "process", "processes")}.`;
}

/** Only what is not as it should be. */
function remarks(style: TextStyle, lease: LiveLeaseReport): string[] {
  const { verdict, owner, unreadable } = lease;
  const said: string[] = [];
  if (verdict.kind !== "owned") said.push(verdict.because);
  if (owner.liveness === "dead" || owner.liveness === "dead-elsewhere")
    said.push(`Left behind, ${owner.because}: acpx-lifecycle reap`);
  if (owner.liveness === "unknown") said.push(`Whether its gateway lives is unknown: ${owner.because}`);
  if (unreadable > 0)
    said.push(`${count(unreadable, "related process", "related processes")} could not be read.`);
  return said.flatMap((sentence) => paragraph(style, sentence));
}

function paragraph(style: TextStyle, text: string): string[] {
  return [`  ${paint(style, "dim", wrap(style, visible(style, text), 2))}`];
}

function notes({ damaged, newer, unreadable, leases, wrapperRoots }: StatusReport): string[] {
  const said: string[] = [];
  const broken = damaged.length + newer.length + unreadable.length;
  if (broken > 0) said.push(`${count(broken, "lease")} could not be read: acpx-lifecycle doctor`);
  const hint = rootHint(leases, wrapperRoots);
  if (hint !== undefined) said.push(hint);
  return said;
}

/** A wrapper counts as one of ours only under a root that was named: a lease alone cannot name it. */
export function rootHint(
  leases: readonly LiveLeaseReport[],
  wrapperRoots: readonly string[],
): string | undefined {
  const unknown = leases.filter(({ verdict, launch }) => verdict.kind === "unknown" && launch === "wrapper");
  const roots = new Set(unknown.map(({ wrapperPath }) => wrapperPath.slice(0, wrapperPath.lastIndexOf("/"))));
  const missing = [...roots].filter((root) => root !== "" && !wrapperRoots.includes(root));
  if (missing.length === 0) return undefined;
  return `If these wrappers are yours: ${missing.map((root) => `--wrapper-root ${root}`).join(" ")}`;
}
