/** Processes that share a state directory with the test. */
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { lines, start } from "./child.js";

const program = fileURLToPath(new URL("../fixtures/lease-worker.mjs", import.meta.url));

export interface LeaseWorker {
  readonly child: ChildProcess;
  /** Sends one command and resolves with its answer. */
  ask(command: object): Promise<unknown>;
  /** A line that only goes on with what is running. */
  proceed(): void;
  answer(): Promise<unknown>;
}

export async function startLeaseWorker(stateDir: string, umask = "022"): Promise<LeaseWorker> {
  return attach(start(process.execPath, [program, stateDir, umask]));
}

/** One whose parent never waits for it, so that it stays a zombie once its stdin has ended. */
export async function startUnwaitedLeaseWorker(stateDir: string): Promise<LeaseWorker> {
  // A shell gives its background commands /dev/null for stdin unless told otherwise.
  const script = '"$0" "$1" "$2" <&3 3<&- & exec sleep 1000 <&- 3<&- >&-';
  return attach(start("sh", ["-c", `exec 3<&0; ${script}`, process.execPath, program, stateDir]));
}

async function attach(child: ChildProcess): Promise<LeaseWorker> {
  const output = lines(child);
  const send = (value: object) => child.stdin?.write(`${JSON.stringify(value)}\n`);
  const answer = async () => JSON.parse(await output.next()) as unknown;
  if ((await answer()) !== "ready") throw new Error("the worker did not say that it is ready");
  return {
    child,
    answer,
    proceed: () => void send({}),
    ask(command) {
      send(command);
      return answer();
    },
  };
}
