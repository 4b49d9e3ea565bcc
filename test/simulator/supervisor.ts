/**
 * The wrapper of the simulated machine: does what native/supervisor.cc does, with the files of the claims directory
 * as a map.
 */
import type { ProcessIdentity } from "../../lib/identity.js";
import type { Signal } from "../../lib/native.js";
import type { WayOfEnding } from "../../lib/terminate.js";
import { clock } from "./clock.js";
import { leaseEnvironment, optsOut, type Machine, type Process } from "./machine.js";

export interface Claim {
  readonly leaseId: string;
  readonly instanceId: string;
}

/** One directory of claims; whoever waits for a file in it is called when it appears. */
export class ClaimsDirectory {
  readonly claims = new Map<string, Claim>();
  readonly reports = new Map<string, number>();
  readonly detached = new Map<string, readonly ProcessIdentity[]>();
  #waiting: (() => void)[] = [];

  appeared(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** Calls `look` now and at each appearance, until what it returns is called. */
  watch(look: () => void): () => void {
    this.#waiting.push(look);
    look();
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== look);
    };
  }

  remove(key: string): void {
    for (const files of [this.claims, this.reports, this.detached]) files.delete(key);
  }

  /** Pids of all supervisors that a file is there for. */
  keys(): string[] {
    return [...new Set([this.claims, this.reports, this.detached].flatMap((files) => [...files.keys()]))];
  }
}

export function claimKey({ pid, token }: ProcessIdentity): string {
  return `${pid} ${token}`;
}

export const GRACE_MS = 300;
const NO_CLAIM_MS = 30_000;
/** Beyond the grace, until it gives up on whoever cannot be killed. */
const BOUND_MS = 3_000;
const NOT_LAUNCHED: WayOfEnding = { code: 75, signal: null };
const KILLED_ADAPTER: WayOfEnding = { code: 137, signal: null };
const ENDING = new Set<Signal>(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]);

export interface SupervisorOptions {
  readonly machine: Machine;
  readonly claims: ClaimsDirectory;
  readonly gateway: Process;
  readonly graceMs: number;
  /** The program behind the wrapper: starts its adapter, and whoever the adapter starts. */
  readonly startAdapter: (supervisor: Process) => Process;
}

export class Supervisor {
  /** Stopped by somebody: hears of nothing until it is continued. */
  #frozen = false;
  #adapter: Process | undefined;
  #adapterEnding: WayOfEnding | undefined;
  #ending = false;
  #stopWaiting: () => void = () => undefined;

  constructor(
    readonly process: Process,
    private readonly options: SupervisorOptions,
  ) {
    const { machine, claims, gateway } = options;
    process.onSignal = (signal) => this.#hear(signal);
    gateway.onEnd.push(() => {
      this.#live();
    });
    const stopWatching = machine.onEveryEnd(() => {
      this.#finish();
    });
    process.onEnd.push(() => {
      this.#stopWaiting();
      stopWatching();
    });
    this.#stopWaiting = claims.watch(() => {
      this.#live();
    });
    clock.after(NO_CLAIM_MS, () => {
      if (this.#adapter === undefined && !this.#frozen) machine.end(process, NOT_LAUNCHED);
    });
  }

  freeze(): void {
    this.#frozen = true;
  }

  /** Looks at everything that may have happened; what it was told while it was stopped it finds out now. */
  #live(): void {
    const { process, options } = this;
    const { machine, claims, gateway } = options;
    if (this.#frozen || process.state !== "running") return;
    const claim = claims.claims.get(claimKey(machine.identityOf(process)));
    if (gateway.state !== "running") {
      if (this.#adapter === undefined) machine.end(process, NOT_LAUNCHED);
      else this.#endTree();
    } else if (this.#adapter === undefined && claim !== undefined && !this.#ending) {
      this.#launch(claim);
    }
    if (this.#adapterEnding !== undefined) this.#endTree();
  }

  #launch({ leaseId, instanceId }: Claim): void {
    const { process, options } = this;
    const { machine, claims } = options;
    process.environment = leaseEnvironment(leaseId, instanceId);
    const adapter = options.startAdapter(process);
    this.#adapter = adapter;
    adapter.onEnd.push((ending) => {
      this.#adapterEnding ??= ending;
      this.#live();
    });
    claims.reports.set(claimKey(machine.identityOf(process)), adapter.pid);
    claims.appeared();
  }

  #hear(signal: Signal): "handled" | "as usual" {
    if (signal === "SIGCONT") {
      this.#frozen = false;
      this.#live();
      return "handled";
    }
    if (!ENDING.has(signal)) return "handled";
    // Early ones are kept until there is somebody to pass them to; without a claim there is nobody.
    if (this.#adapter === undefined)
      this.options.machine.end(this.process, { code: null, signal: "SIGTERM" });
    else this.#endTree();
    return "handled";
  }

  #endTree(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#signalAll("SIGTERM");
    this.#finish();
    clock.after(this.options.graceMs, () => {
      this.#signalAll("SIGKILL");
      this.#finish();
    });
    clock.after(this.options.graceMs + BOUND_MS, () => {
      this.options.machine.end(this.process, { code: null, signal: "SIGKILL" });
    });
  }

  #signalAll(signal: "SIGTERM" | "SIGKILL"): void {
    const { machine } = this.options;
    if (this.process.state !== "running") return;
    for (const member of this.#left()) {
      if (signal === "SIGKILL" && member === this.#adapter) this.#adapterEnding = KILLED_ADAPTER;
      machine.send(this.process.name, member, signal);
    }
  }

  /** Nobody is left: mirrors the adapter's end. */
  #finish(): void {
    const { process, options } = this;
    const { machine, claims } = options;
    if (!this.#ending || process.state !== "running" || this.#left().length > 0) return;
    const detached = machine.descendantsOf(process).map((member) => machine.identityOf(member));
    if (detached.length > 0) claims.detached.set(claimKey(machine.identityOf(process)), detached);
    machine.end(process, this.#adapterEnding ?? { code: 0, signal: null });
  }

  /** Descendants but those that opted out, zombies not counted. */
  #left(): Process[] {
    const { machine } = this.options;
    return machine
      .descendantsOf(this.process)
      .filter((member) => member.state === "running" && !optsOut(member));
  }
}
