/**
 * A small model of a kernel's process table: numbers are reused as soon as the real kernel would reuse them, and
 * every process knows in secret whether it descends from the lease's root.
 */
import type { Evidence, LiveEvidence } from "../../lib/evidence.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import { CARRIES, CLEARED, OBSERVER, ROOT_READING, image, leased, live, token } from "./evidence.js";

export interface Process {
  pid: number;
  ppid: number;
  pgid: number;
  sid: number;
  /** Inode of the process that founded the session; a number alone does not tell. */
  founder: number;
  readonly ticks: number;
  readonly inode: number;
  readonly ours: boolean;
  readonly carries: boolean;
}

/** What happens next; numbers pick among what there is, modulo its count. */
export type Event =
  | {
      readonly kind: "fork";
      readonly parent: number;
      readonly pid: number;
      readonly clearEnvironment: boolean;
    }
  | { readonly kind: "setsid" | "exit"; readonly process: number }
  | { readonly kind: "tick" | "see" };

export interface Gathering {
  readonly root: Evidence;
  readonly others: readonly LiveEvidence[];
  /** The process behind each pin. */
  readonly of: ReadonlyMap<object, Process>;
}

const HIGHEST_PID = 9;
const FIRST_INODE = 70_000;
const ROOT_INODE = FIRST_INODE + 3;
/** By the order of the births below. */
export const ADAPTER_INODE = FIRST_INODE + 4;

export class Kernel {
  readonly processes: Process[] = [];
  lease: AcpxProcessLease;
  private ticks = 1000;
  private inodes = FIRST_INODE;

  constructor(readonly hasPidfs: boolean) {
    this.born({ pid: 1, ppid: 0, pgid: 1, sid: 1, ours: false, carries: false });
    this.born({ pid: 2, ppid: 1, pgid: 2, sid: 2, ours: false, carries: false });
    const root = this.born({ pid: 8, ppid: 1, pgid: 8, sid: 8, ours: true, carries: true });
    const adapter = this.born({ pid: 9, ppid: 8, pgid: 9, sid: 9, ours: true, carries: true });
    this.lease = leased({
      rootPid: 8,
      rootToken: this.tokenOf(root),
      processGroupId: 9,
      adapterPid: 9,
      adapterToken: this.tokenOf(adapter),
      seenTicks: this.ticks,
    });
  }

  apply(event: Event): void {
    switch (event.kind) {
      case "fork": {
        const parent = this.pick(event.parent);
        if (parent !== undefined) this.fork(parent, event.pid, event.clearEnvironment);
        return;
      }
      case "setsid": {
        const process = this.pick(event.process);
        if (process !== undefined) this.setsid(process);
        return;
      }
      case "exit":
        this.exit(this.pick(event.process));
        return;
      case "tick":
        this.ticks += 1;
        return;
      case "see":
        if (!this.processes.some(({ inode }) => inode === ADAPTER_INODE)) return;
        this.lease = { ...this.lease, seenTicks: this.ticks };
    }
  }

  /**
   * Reads everybody once, with one burst of events before each reading, then confirms. `openFirst`: all handles are
   * opened before the first reading; else each just before its own, so that newborns are met on the way and only the
   * first can be confirmed.
   */
  gather(bursts: readonly (readonly Event[])[], openFirst = true): Gathering {
    const of = new Map<object, Process>();
    const looks: LiveEvidence[] = [];
    const waiting = [...this.processes];
    for (let turn = 0; ; turn += 1) {
      for (const event of bursts[turn] ?? []) this.apply(event);
      const known = openFirst ? waiting : this.processes;
      const process = known.find((next) => this.processes.includes(next) && !of.has(next));
      if (process === undefined) break;
      of.set(process, process);
      looks.push(live(this.read(process), { pin: process }));
    }
    const confirmed = looks.map((look, turn) => {
      const process = of.get(look.pin);
      const lives = process !== undefined && this.processes.includes(process);
      return { ...look, confirmed: lives && (openFirst || turn === 0) };
    });
    const root = confirmed.find(({ reading }) => reading.pid === this.lease.rootPid);
    const others = confirmed.filter((look) => look !== root && look.reading.pid !== 1);
    return { root: root ?? { kind: "absent", observer: OBSERVER }, others, of };
  }

  private read(process: Process): LiveEvidence["reading"] {
    const { pid, ppid, pgid, sid, carries } = process;
    const executable = this.isRoot(process) ? ROOT_READING.executable : image("/usr/bin/node");
    const environment = carries ? CARRIES : CLEARED;
    const start = this.tokenOf(process);
    return {
      ...ROOT_READING,
      pid,
      ppid,
      pgid,
      sid,
      token: start,
      readAtTicks: this.ticks,
      executable,
      environment,
    };
  }

  private isRoot(process: Process): boolean {
    return process.ours && process.inode === ROOT_INODE;
  }

  private tokenOf({ ticks, inode }: Process): string {
    return token(ticks, this.hasPidfs ? inode : undefined);
  }

  /** Init never does anything. */
  private pick(index: number): Process | undefined {
    const others = this.processes.slice(1);
    return others[index % others.length];
  }

  private fork(parent: Process, choice: number, clearEnvironment: boolean): Process | undefined {
    // A number is taken while a process, a group or a session has it.
    const taken = new Set(this.processes.flatMap(({ pid, pgid, sid }) => [pid, pgid, sid]));
    const free = Array.from({ length: HIGHEST_PID - 1 }, (_, offset) => offset + 2).filter(
      (pid) => !taken.has(pid),
    );
    const pid = free[choice % free.length];
    if (pid === undefined) return undefined;
    const { pid: ppid, pgid, sid, founder, ours } = parent;
    const carries = parent.carries && !clearEnvironment;
    return this.born({ pid, ppid, pgid, sid, founder, ours, carries });
  }

  private born(fields: Omit<Process, "ticks" | "inode" | "founder"> & { founder?: number }): Process {
    this.inodes += 1;
    const process = { founder: this.inodes, ...fields, ticks: this.ticks, inode: this.inodes };
    this.processes.push(process);
    return process;
  }

  private setsid(process: Process): void {
    if (this.processes.some(({ pgid }) => pgid === process.pid)) return;
    process.sid = process.pgid = process.pid;
    process.founder = process.inode;
  }

  /** Orphans go to the root while it lives, as with a subreaper, else to init. */
  private exit(process: Process | undefined): void {
    if (process === undefined) return;
    this.processes.splice(this.processes.indexOf(process), 1);
    const reaper =
      process.ours && this.processes.some((other) => this.isRoot(other)) ? this.lease.rootPid : 1;
    for (const child of this.processes) if (child.ppid === process.pid) child.ppid = reaper;
  }
}
