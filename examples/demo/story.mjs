/** How the demo speaks: steps, trees, and claims that are checked as they are made. */
import { performance } from "node:perf_hooks";
import { look, nameOf } from "./processes.mjs";

const started = performance.now();
const colour = process.stdout.isTTY ? (code, text) => `\u001b[${code}m${text}\u001b[0m` : (_, text) => text;

export function step(letter, title) {
  console.log(`\n${colour("1", `${letter}. ${title}`)}  ${colour("2", `(${elapsed()} s)`)}`);
}

export function tell(text) {
  console.log(`   ${text}`);
}

/** Says something that is true, or ends the demo. */
export function claim(isTrue, sentence) {
  if (!isTrue) throw new Error(`this is not so: ${sentence}`);
  console.log(`   ${colour("32", "✓")} ${sentence}`);
}

export const elapsed = () => ((performance.now() - started) / 1000).toFixed(1);

/** One lease with its verdict, and below it the processes that are provably its own. */
export function drawLease({ lease, verdict, members }) {
  const because = verdict.because ? ` (${verdict.because})` : "";
  tell(`lease ${lease.leaseId} of ${lease.sessionKey}`);
  tell(`  ${lease.state}; its root ${lease.rootPid} is ${verdict.kind}${because}`);
  const pids = new Set(members.map(({ pid }) => pid));
  const draw = (member, depth) => {
    const seen = look(member.pid);
    const where = `${"  ".repeat(depth)}${member.pid}`;
    const relation = `group ${member.pgid}, session ${member.sid}, by ${member.basis}`;
    tell(`  ${where.padEnd(16)} ${(seen ? nameOf(seen) : "(gone)").padEnd(44)} ${relation}`);
    for (const child of members.filter(({ ppid }) => ppid === member.pid)) draw(child, depth + 1);
  };
  for (const member of members.filter(({ ppid }) => !pids.has(ppid))) draw(member, 0);
}
