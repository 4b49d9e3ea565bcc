/** The processes of a lease as a tree by parent, and a lease as one row above it. */
import type { LeaseReport, LiveLeaseReport, ProcessReport, VerdictReport } from "./cli-reports.js";
import {
  commandLine,
  duration,
  fit,
  paint,
  visible,
  wrap,
  type Colour,
  type TextStyle,
} from "./terminal-text.js";

const VERDICTS: Readonly<Record<VerdictReport["kind"], Colour>> = {
  owned: "green",
  gone: "dim",
  foreign: "yellow",
  unknown: "yellow",
};

export function verdictText(style: TextStyle, { kind }: VerdictReport): string {
  return paint(style, VERDICTS[kind], kind);
}

/** So long that uuids of one installation practically never share it. */
export function shortId(leaseId: string): string {
  return leaseId.slice(0, 8);
}

interface Node {
  readonly process: ProcessReport;
  readonly remark: string;
}

/** Members first, with those who are related but not signalled among them, each with the reason. */
export function treeLines(style: TextStyle, lease: LiveLeaseReport, withArgv: boolean): string[] {
  const nodes: Node[] = [
    ...lease.members.map((process) => ({ process, remark: "" })),
    ...lease.detached.map((process) => ({ process, remark: "opted out: left alone" })),
    ...lease.unproven.map((process) => ({
      process,
      remark: `${process.verdict.kind}: ${process.verdict.because}`,
    })),
  ];
  const pids = new Set(nodes.map(({ process }) => process.pid));
  const isTop = ({ process: { pid, ppid } }: Node) => ppid === pid || !pids.has(ppid);
  const drawn = new Set<Node>();
  const lines: string[] = [];
  const draw = (node: Node, indent: string, joint: string): void => {
    // Numbers read one after the other can show a loop.
    if (drawn.has(node)) return;
    drawn.add(node);
    lines.push(nodeLine(style, node, indent + joint, withArgv));
    const below = indent + (joint === "" ? "" : style.boxes ? "│  " : "|  ");
    const inner = joint === lastJoint(style) ? indent + "   " : below;
    const children = inOrder(nodes.filter((one) => one.process.ppid === node.process.pid && one !== node));
    children.forEach((child, index) => {
      draw(child, inner, index === children.length - 1 ? lastJoint(style) : style.boxes ? "├─ " : "|- ");
    });
  };
  for (const top of inOrder(nodes.filter(isTop))) draw(top, "  ", "");
  for (const node of nodes) draw(node, "  ", "");
  return lines;
}

const lastJoint = ({ boxes }: TextStyle): string => (boxes ? "└─ " : "`- ");

function inOrder(nodes: readonly Node[]): Node[] {
  return [...nodes].sort((a, b) => a.process.pid - b.process.pid);
}

function nodeLine(style: TextStyle, { process, remark }: Node, before: string, withArgv: boolean): string {
  const hang = before.length + 8;
  const argv = process.argv ?? [];
  const named = withArgv && argv.length > 0 ? commandLine(style, argv) : visible(style, process.program);
  const shown = wrap(style, remark === "" ? named : `${named} (${visible(style, remark)})`, hang);
  return `${paint(style, "dim", before)}${String(process.pid).padEnd(7)} ${shown}`;
}

/** Below this width the group's column is left out. */
const NARROW = 76;

export function leaseHead(style: TextStyle): string {
  return paint(style, "bold", row(style, ["LEASE", "VERDICT", "STATE", "AGE", "ROOT", "GROUP"], "SESSION"));
}

export function leaseRow(
  style: TextStyle,
  lease: LeaseReport & { readonly verdict?: VerdictReport },
): string {
  const cells = [
    shortId(lease.leaseId),
    lease.verdict?.kind ?? "ended",
    lease.state,
    duration(lease.ageMs),
    String(lease.rootPid === 0 ? "-" : lease.rootPid),
    String(lease.processGroupId ?? "-"),
  ];
  const line = row(style, cells, visible(style, lease.sessionKey));
  if (lease.verdict === undefined) return line;
  const { kind } = lease.verdict;
  // The only word of that column: the id before it is hexadecimal.
  return line.replace(kind, verdictText(style, lease.verdict));
}

function row(style: TextStyle, cells: readonly string[], session: string): string {
  const narrow = (style.width ?? Infinity) < NARROW;
  const shown = narrow ? cells.slice(0, -1) : cells;
  const widths = [8, 7, 7, 6, 7, 7];
  const fixed = shown.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  if (style.width === undefined) return `${fixed}  ${session}`;
  return `${fixed}  ${fit(style, session, Math.max(style.width - fixed.length - 2, 4)).trimEnd()}`;
}
