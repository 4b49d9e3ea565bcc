/**
 * The native layer as one simulated gateway sees it. The code under test takes `process.pid` for its own number, so
 * in each gateway's view that is the gateway's.
 */
import type { Fault, Observed, ProcessReading, Snapshot } from "../../lib/evidence.js";
import type { Backend, Delivery, Native, ProcessHandle, Signal } from "../../lib/native.js";
import { image, seen } from "../helpers/evidence.js";
import { clock } from "./clock.js";
import { OWN_UID, type Machine, type Process } from "./machine.js";

export interface Observing {
  readonly machine: Machine;
  /** The gateway's own process. */
  readonly self: Process;
  /** Throws once the gateway is dead: whatever of it would still run does nothing. */
  readonly act: (what: string) => void;
  /** The same for what is awaited: never settles then. */
  readonly promise: <T>(what: string, work: () => T) => Promise<T>;
  readonly sent: (to: Process, signal: Signal) => void;
  /** Handles that are open. */
  readonly handles: Set<ProcessHandle>;
}

export function nativeView(view: Observing): Native {
  const { machine, self, act, promise } = view;
  const outside = (pid: number) => (pid === process.pid ? self.pid : pid);
  const open = (pid: number): Observed<ProcessHandle> => {
    act("open");
    const found = machine.at(outside(pid));
    if (found === undefined) return fault("gone", "pidfd_open", "ESRCH");
    const { open: refused } = found.faults;
    return refused === undefined ? seen(new Handle(view, found)) : fault(refused, "pidfd_open", "EACCES");
  };
  return {
    open,
    readMany: (pids, names) =>
      promise("readMany", () =>
        pids.map((pid) => {
          const found = machine.at(outside(pid));
          return found === undefined ? fault("gone", "open") : readProcess(view, found, names);
        }),
      ),
    snapshot: () => promise("snapshot", () => snapshotOf(view)),
    setProcessGroup: () => fault("unsupported", "setpgid"),
    holdLock: () => fault("unsupported", "flock"),
    backend: (): Backend => ({
      platform: "linux",
      supported: true,
      pinnedHandles: true,
      pinnedSignals: true,
      groupSignals: machine.hasPidfs,
      uniqueIdentity: machine.hasPidfs,
      selfToken: seen(machine.tokenOf(self)),
    }),
  };
}

class Handle implements ProcessHandle {
  readonly pid: number;
  readonly token: string;
  #isOpen = true;
  #closed: () => void = () => undefined;

  constructor(
    private readonly view: Observing,
    private readonly process: Process,
  ) {
    this.pid = process.pid;
    this.token = view.machine.tokenOf(process);
    view.handles.add(this);
  }

  read(names: readonly string[]): Observed<ProcessReading> {
    this.#use("read");
    return readProcess(this.view, this.process, names);
  }

  signal(signal: Signal): Observed<Delivery> {
    this.#use(`signal ${signal}`);
    const { process, view } = this;
    if (process.state === "gone") return fault("gone", "pidfd_send_signal", "ESRCH");
    const refused = process.faults.signal ?? (process.uid === OWN_UID ? undefined : "denied");
    if (refused !== undefined) return fault(refused, "pidfd_send_signal", "EPERM");
    if (signal !== 0) view.sent(process, signal);
    return seen({ pinned: true });
  }

  signalGroup(): Observed<Delivery> {
    throw new Error("no code path of the lifecycle signals a group");
  }

  exited(): Promise<"exited" | "closed"> {
    this.#use("exited");
    if (this.process.state !== "running") return this.view.promise("exited", () => "exited");
    return new Promise((resolve) => {
      this.process.onEnd.push(() => {
        resolve("exited");
      });
      this.#closed = () => {
        resolve("closed");
      };
    });
  }

  close(): void {
    this.#isOpen = false;
    this.view.handles.delete(this);
    this.#closed();
  }

  #use(verb: string): void {
    if (!this.#isOpen) throw new Error(`${verb} through a closed handle of ${this.process.name}`);
    this.view.act(verb);
  }
}

function readProcess(
  { machine, self }: Observing,
  found: Process,
  names: readonly string[],
): Observed<ProcessReading> {
  if (found.state !== "running") return fault("gone", "read", "ESRCH");
  const { faults, pid, pgid, sid, uid, parent } = found;
  if (faults.read !== undefined) return fault(faults.read, "stat", "EACCES");
  const variables = Object.fromEntries(names.map((name) => [name, found.environment[name] ?? null]));
  const ppid = parent?.pid ?? 0;
  return seen({
    pid,
    ppid: ppid === self.pid ? process.pid : ppid,
    pgid,
    sid,
    uid,
    state: "S",
    token: machine.tokenOf(found),
    readAtTicks: clock.ticks,
    executable:
      faults.executable === undefined
        ? image(found.executable, { fileId: `8:${found.executable.length}` })
        : fault(faults.executable, "exe"),
    argv: seen(found.argv),
    environment:
      faults.environment === undefined ? seen(variables) : fault(faults.environment, "environ", "EACCES"),
  });
}

function snapshotOf({ machine, self }: Observing): Observed<Snapshot> {
  if (machine.table === "unreadable") return fault("denied", "/proc", "EACCES");
  const rows = machine.processes;
  const number = (pid: number) => (pid === self.pid ? process.pid : pid);
  return seen({
    complete: machine.table === "whole",
    pid: Int32Array.from(rows, ({ pid }) => number(pid)),
    ppid: Int32Array.from(rows, ({ parent }) => number(parent?.pid ?? 0)),
    pgid: Int32Array.from(rows, ({ pgid }) => pgid),
    sid: Int32Array.from(rows, ({ sid }) => sid),
    uid: Uint32Array.from(rows, ({ uid }) => uid),
    startTicks: Float64Array.from(rows, ({ ticks }) => ticks),
    state: Uint8Array.from(rows, () => 83),
  });
}

function fault(reason: Fault["reason"], call: string, errno?: string): Fault {
  return { ok: false, reason, call, ...(errno === undefined ? {} : { errno }) };
}
