/**
 * A machine for the simulator: processes with numbers that are given out again, sessions, groups, parents that die,
 * and a log of every signal. Each process knows in secret whose it is; no observer is told.
 */
import { DETACH, INSTANCE_ID, LEASE_ID, NIL_ID } from "../../lib/environment.js";
import type { Reason } from "../../lib/evidence.js";
import type { ProcessIdentity } from "../../lib/identity.js";
import type { Signal } from "../../lib/native.js";
import type { WayOfEnding } from "../../lib/terminate.js";
import { token } from "../helpers/evidence.js";
import { clock } from "./clock.js";

/** Beyond every number that a Linux kernel gives out, so that none is the test's own. */
const FIRST_PID = 5_000_000;
const FIRST_INODE = 70_000;
export const OWN_UID = process.geteuid?.() ?? 0;

export interface Traits {
  readonly name: string;
  readonly parent?: Process | undefined;
  readonly executable: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly ignoresTerm?: boolean;
  /** In a system call that no signal interrupts. */
  readonly unkillable?: boolean;
  readonly leads?: "group" | "session" | undefined;
  /** Its parent never waits: it stays a zombie. */
  readonly unwaited?: boolean;
  /** PR_SET_PDEATHSIG. */
  readonly diesWithParent?: boolean;
  readonly isSubreaper?: boolean;
  /** Asks to be left out of every clean-up, with everybody below it. */
  readonly detaches?: boolean;
  /** A number that is free again; default: the next one. */
  readonly pid?: number;
  /** Whose it is: the lease it was started under. Not for observers. */
  readonly lease?: string | undefined;
}

export interface Process extends Omit<
  Traits,
  "parent" | "pid" | "environment" | "executable" | "uid" | "leads" | "unwaited" | "unkillable"
> {
  readonly pid: number;
  readonly ticks: number;
  readonly inode: number;
  readonly uid: number;
  parent: Process | undefined;
  pgid: number;
  sid: number;
  environment: Readonly<Record<string, string>>;
  executable: string;
  unwaited?: boolean;
  unkillable?: boolean;
  argv: readonly string[];
  /** Asked to be left alone, or was born below somebody who had. Not for observers. */
  readonly isLeft: boolean;
  lease?: string | undefined;
  state: "running" | "zombie" | "gone";
  /** Answers instead of the kernel's own, by what is asked. */
  readonly faults: Partial<Record<"open" | "read" | "environment" | "executable" | "signal", Reason>>;
  /** A program that does more about a signal than ending by it. */
  onSignal?: (signal: Signal) => "handled" | "as usual";
  readonly onEnd: ((ending: WayOfEnding) => void)[];
}

export interface SentSignal {
  readonly by: string;
  readonly to: Process;
  readonly signal: Signal;
}

export class Machine {
  /** False: a kernel before 6.9, which shows start ticks and no inode. */
  hasPidfs = true;
  table: "whole" | "incomplete" | "unreadable" = "whole";
  readonly processes: Process[] = [];
  readonly signals: SentSignal[] = [];
  readonly init: Process;
  #pids = FIRST_PID;
  #inodes = FIRST_INODE;
  readonly #everyEnd = new Set<() => void>();

  constructor() {
    this.init = this.start({ name: "init", executable: "/sbin/init", pid: 1, uid: 0 });
  }

  start(traits: Traits): Process {
    const { parent, leads, pid = (this.#pids += 1), uid = OWN_UID, environment = {}, ...rest } = traits;
    if (this.isTaken(pid)) throw new Error(`the kernel does not give out ${pid}: it is taken`);
    const process: Process = {
      ...rest,
      pid,
      uid,
      environment: traits.detaches === true ? { ...environment, [DETACH]: "1" } : environment,
      parent: parent ?? (pid === 1 ? undefined : this.init),
      ticks: clock.ticks,
      inode: (this.#inodes += 1),
      pgid: leads === undefined && parent !== undefined ? parent.pgid : pid,
      sid: leads === "session" || parent === undefined ? pid : parent.sid,
      lease: traits.lease ?? parent?.lease,
      argv: [traits.executable],
      isLeft: traits.detaches === true || environment[DETACH] === "1" || parent?.isLeft === true,
      state: "running",
      faults: {},
      onEnd: [],
    };
    this.processes.push(process);
    return process;
  }

  /** A number is taken while a process, a group or a session has it. */
  isTaken(number: number): boolean {
    return this.processes.some(({ pid, pgid, sid }) => [pid, pgid, sid].includes(number));
  }

  at(pid: number): Process | undefined {
    return this.processes.find((process) => process.pid === pid);
  }

  named(name: string): Process {
    const found = this.processes.findLast((process) => process.name === name);
    if (found === undefined) throw new Error(`no process is called ${name}`);
    return found;
  }

  tokenOf({ ticks, inode }: Process): string {
    return token(ticks, this.hasPidfs ? inode : undefined);
  }

  identityOf(process: Process): ProcessIdentity {
    return { pid: process.pid, token: this.tokenOf(process) };
  }

  /** Children before their own children. */
  descendantsOf(ancestor: Process): Process[] {
    const children = this.processes.filter(({ parent }) => parent === ancestor);
    return [...children, ...children.flatMap((child) => this.descendantsOf(child))];
  }

  send(by: string, to: Process, signal: Signal): void {
    if (signal === 0 || to.state !== "running" || to.uid !== OWN_UID) return;
    this.signals.push({ by, to, signal });
    if (signal !== "SIGKILL" && to.onSignal?.(signal) === "handled") return;
    if (signal === "SIGCONT" || to.unkillable === true) return;
    if (signal !== "SIGKILL" && to.ignoresTerm === true) return;
    this.end(to, { code: null, signal });
  }

  end(process: Process, ending: WayOfEnding): void {
    if (process.state !== "running") return;
    process.state = process.unwaited === true ? "zombie" : "gone";
    if (process.state === "gone") this.processes.splice(this.processes.indexOf(process), 1);
    for (const child of this.processes.filter(({ parent }) => parent === process)) {
      child.parent = this.reaperFor(process);
      if (child.diesWithParent === true) this.end(child, { code: null, signal: "SIGKILL" });
    }
    for (const hear of process.onEnd) hear(ending);
    for (const hear of [...this.#everyEnd]) hear();
  }

  /** Calls back at each end of a process, until what it returns is called. */
  onEveryEnd(hear: () => void): () => void {
    this.#everyEnd.add(hear);
    return () => this.#everyEnd.delete(hear);
  }

  /** In the order of their birth, those that are running under a lease. */
  membersOf(leaseId: string): Process[] {
    return this.processes.filter(({ lease, state }) => lease === leaseId && state === "running");
  }

  /** Who inherits the children of a process that ends. */
  reaperFor(dead: Process): Process {
    for (let next = dead.parent; next !== undefined; next = next.parent) {
      if (next.isSubreaper === true && next.state === "running") return next;
    }
    return this.init;
  }
}

/** It, or somebody above it who lives, asks to be left alone where that can be read. */
export function optsOut(process: Process): boolean {
  for (let next: Process | undefined = process; next !== undefined; next = next.parent)
    if (next.environment[DETACH] === "1" && next.faults.environment === undefined) return true;
  return false;
}

/** What a wrapper and everybody below it finds in the environment once the claim has come. */
export function leaseEnvironment(leaseId: string, instanceId: string): Record<string, string> {
  return { [LEASE_ID]: leaseId, [INSTANCE_ID]: instanceId };
}

export const PLACEHOLDERS = leaseEnvironment(NIL_ID, NIL_ID);
