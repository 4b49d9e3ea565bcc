/**
 * Watching processes by handle: a number is turned into a handle while its process is known to live, and everything
 * after that is asked of the handle.
 */
import { open, type ProcessHandle } from "../../lib/native.js";

/** A handle on a process that must be there now. */
export function pin(pid: number | undefined): ProcessHandle {
  const opened = open(pid ?? 0);
  if (!opened.ok) throw new Error(`process ${String(pid)} cannot be opened: ${opened.call} ${opened.reason}`);
  return opened.value;
}

export function isAlive(handle: ProcessHandle): boolean {
  return handle.read([]).ok;
}

/** Resolves when all have ended; rejects after the deadline, naming who has not. */
export async function allGone(handles: readonly ProcessHandle[], deadlineMs = 10_000): Promise<void> {
  const waiting = Promise.all(handles.map((handle) => handle.exited()));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve, reject) => {
    timer = setTimeout(() => {
      const left = handles.filter(isAlive).map(({ pid }) => pid);
      if (left.length === 0) resolve();
      else reject(new Error(`still alive after ${deadlineMs} ms: ${left.join(", ")}`));
    }, deadlineMs);
  });
  try {
    await Promise.race([waiting, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** For clean-up: ends a process that a test has pinned. */
export function put(handle: ProcessHandle): void {
  handle.signal("SIGKILL");
  handle.close();
}
