/**
 * What the demo sees of processes by itself: straight from /proc, so that the package is not its own witness. Only
 * the waiting for an end uses the package's handles, because nothing else can wait for a process that is no child.
 */
import { readdirSync, readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { open } from "acpx-lifecycle/native";

/** One process as /proc shows it now, or undefined when it is gone (a zombie is). */
export function look(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain anything, a closing parenthesis too.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, ppid, pgid, sid] = fields;
    if (state === "Z" || state === "X") return undefined;
    const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
    return { pid, ppid: Number(ppid), pgid: Number(pgid), sid: Number(sid), startTicks: fields[19], argv };
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ESRCH") return undefined;
    throw error;
  }
}

export function everybody() {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/u.test(name))
    .flatMap((name) => look(Number(name)) ?? []);
}

/** `root` and its descendants, parents first. */
export function treeOf(root) {
  const all = everybody();
  const tree = all.filter(({ pid }) => pid === root);
  // Grows while it is walked: children are appended behind their parents.
  for (const parent of tree) tree.push(...all.filter(({ ppid }) => ppid === parent.pid));
  return tree;
}

export const isAlive = (seen) => look(seen.pid)?.startTicks === seen.startTicks;

/** Pins processes: whatever is asked of a pin later is about these processes, whoever has their numbers by then. */
export function pin(processes) {
  const pinned = processes.map((seen) => ({ seen, opened: open(seen.pid) }));
  const handles = pinned
    .filter(({ seen, opened }) => opened.ok && isAlive(seen))
    .map(({ opened }) => opened.value);
  return {
    /** Milliseconds until the last of them was gone, or undefined when `limitMs` was not enough. */
    async gone(limitMs) {
      const started = performance.now();
      const late = delay(limitMs, "late", { ref: false });
      const outcome = await Promise.race([Promise.all(handles.map((handle) => handle.exited())), late]);
      return outcome === "late" ? undefined : performance.now() - started;
    },
    kill() {
      for (const handle of handles) handle.signal("SIGKILL");
    },
  };
}

/** Looks again until `seen` answers something. */
export async function eventually(what, seen, limitMs = 15_000) {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await seen();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await delay(25);
  }
}

/** A command line that fits on a line of text: file names without directories. */
export function nameOf({ argv }) {
  return argv
    .slice(0, 4)
    .map((word) => word.split("/").at(-1))
    .join(" ")
    .slice(0, 60);
}
