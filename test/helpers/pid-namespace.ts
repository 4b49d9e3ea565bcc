/**
 * PID namespaces as containers have them, seen from outside.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

import type { ProcessHandle } from "../../lib/native.js";
import { pin } from "./alive.js";

const isRoot = process.geteuid?.() === 0;
const UNSHARE = [
  "unshare",
  "--pid",
  "--fork",
  "--mount-proc",
  "--kill-child",
  ...(isRoot ? [] : ["--user", "--map-root-user"]),
];

/** Runs what follows as process 1 of a namespace of its own, which ends with the command. */
export const AS_INIT: readonly string[] = UNSHARE;

/** The same below a process 1 that outlives it. A shell's background command keeps no stdin unless it is given one. */
export const BELOW_INIT: readonly string[] = [
  ...UNSHARE,
  "sh",
  "-c",
  'exec 3<&0; "$0" "$@" <&3 3<&- & exec sleep 1000000 <&- 3<&- >&-',
];

/** Runs what follows in the namespace of a process that is known from outside. */
export const inNamespaceOf = (init: number): readonly string[] => [
  "nsenter",
  `--target=${init}`,
  "--pid",
  "--mount",
  ...(isRoot ? [] : ["--user", "--preserve-credentials"]),
];

/** Process 1 of the namespace that `unshare` has made, by its number outside. */
export function initOf(unshare: number): number {
  const children = readFileSync(`/proc/${unshare}/task/${unshare}/children`, "utf8");
  return Number.parseInt(children, 10);
}

/** A handle on the process that has the number `inner` in the namespace of `init`. */
export function pinInside(init: number, inner: number): ProcessHandle {
  const namespace = readlinkSync(`/proc/${init}/ns/pid`);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (readlinkSync(`/proc/${pid}/ns/pid`) !== namespace) continue;
      const numbers = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      if (numbers?.split("\t").at(-1) === String(inner)) return pin(Number(pid));
    } catch {
      // Ended while we looked: not the one that is asked for.
    }
  }
  throw new Error(`there is no process ${inner} in that namespace`);
}
