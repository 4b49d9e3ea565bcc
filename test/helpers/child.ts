/**
 * Real processes for tests: they say when they are ready, and whatever a test leaves running ends with it.
 */
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { afterEach } from "vitest";

const running = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of [...running]) await end(child);
});

/** Starts a program with pipes for stdin and stdout. It ends with the test at the latest. */
export function start(
  command: string,
  args: readonly string[] = [],
  options: SpawnOptions = {},
): ChildProcess {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], ...options });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** The pid of a process that fails to start is a failed test. */
export function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error(`${child.spawnfile} did not start`);
  return child.pid;
}

/** Each line of its standard output, in order; rejects if it ends before. */
export function lines(child: ChildProcess): { next: () => Promise<string> } {
  if (child.stdout === null) throw new Error("standard output is not a pipe");
  const iterator = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async next() {
      const line = await iterator.next();
      if (line.done === true)
        throw new Error(`${child.spawnfile} ended before it said what the test waits for`);
      return line.value;
    },
  };
}

/** Waits for `ready <pid>` and returns the pid, which may be that of a process behind it. */
export async function ready(child: ChildProcess): Promise<number> {
  const line = await lines(child).next();
  const pid = /^ready (\d+)$/.exec(line)?.[1];
  if (pid === undefined) throw new Error(`expected "ready <pid>", got "${line}"`);
  return Number(pid);
}

/** Resolves once it has been reaped. */
export async function exit(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Ends an own child, which cannot have been reaped before its exit event. */
export async function end(child: ChildProcess): Promise<void> {
  child.stdin?.destroy();
  child.kill("SIGKILL");
  await exit(child);
}
