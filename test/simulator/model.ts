/**
 * Any sequence of what can happen to two gateways and their agents, and what must hold after every step of it. The
 * machine knows in secret whose each process is; the gateways do not.
 */
import fc from "fast-check";

import { INSTANCE_ID, LEASE_ID, NIL_ID } from "../../lib/environment.js";
import { LifecycleError } from "../../lib/errors.js";
import { hasEnded, type AcpxProcessLease } from "../../lib/lease.js";
import type { AgentShape } from "./acpx.js";
import { startMember } from "./acpx.js";
import { clock } from "./clock.js";
import { Crashed, type Gateway, type LifecycleSignal } from "./gateway.js";
import { optsOut, OWN_UID, type Machine, type Process } from "./machine.js";
import { Simulation, type GatewayEvent, type Reuser } from "./simulation.js";

/** Numbers pick among what there is, modulo its count. */
export type Step =
  | {
      readonly does: Exclude<GatewayEvent["does"], "start" | "crash">;
      readonly gateway: number;
      readonly session: "s" | "t";
      readonly agent: AgentShape;
      readonly acpx: NonNullable<GatewayEvent["acpx"]>;
    }
  | { readonly does: "crash"; readonly gateway: number; readonly withWrappers: boolean }
  | { readonly does: "crash later"; readonly gateway: number; readonly acts: number }
  | { readonly does: "restart"; readonly gateway: number }
  | { readonly does: "kill" | "exit" | "freeze" | "thaw"; readonly process: number }
  | { readonly does: "fork"; readonly process: number; readonly letters: string }
  | { readonly does: "hide" | "show"; readonly process: number; readonly what: Hidden }
  | { readonly does: "reuse"; readonly number: number; readonly by: Reuser }
  | { readonly does: "table"; readonly table: Machine["table"] }
  | { readonly does: "disk"; readonly gateway: number; readonly full: boolean }
  | { readonly does: "pass" | "step wall clock"; readonly ms: number };

type Hidden = "open" | "read" | "environment" | "executable" | "signal";
const family = fc.constantFrom(
  "",
  "i",
  "g",
  "ig",
  "ge",
  "ige",
  "d",
  "ds",
  "ids",
  "e",
  "De",
  "D",
  "z",
  "u",
  "k",
);
const plain = {
  adapter: fc.constantFrom("", "", "i", "k"),
  family: fc.dictionary(fc.constantFrom("one", "two", "three"), family, { maxKeys: 3 }),
};
const wrapped: fc.Arbitrary<AgentShape> = fc.record(plain);
const direct: fc.Arbitrary<AgentShape> = fc.record({ ...plain, direct: fc.constant(true as const) });
const usual = fc.oneof({ arbitrary: wrapped, weight: 4 }, { arbitrary: direct, weight: 1 });
const doomed: fc.Arbitrary<AgentShape> = fc.oneof(
  fc.record({ ...plain, spawn: fc.constant("fails" as const) }),
  fc.record({ ...plain, dies: fc.constant("unclaimed" as const) }),
);

const gateway = fc.nat(1);
const index = fc.nat(30);
const request = (does: Extract<Step, { agent: AgentShape }>["does"], shape: fc.Arbitrary<AgentShape>) =>
  fc.record({
    does: fc.constant(does),
    gateway,
    session: fc.constantFrom("s" as const, "t" as const),
    agent: shape,
    acpx: fc.constantFrom(
      "leaves the agent",
      "ends the agent",
      "rejects",
      "hangs",
      "starts another",
      "cannot discard",
    ),
  });

export const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: request("ensure", usual), weight: 10 },
  { arbitrary: request("ensure", doomed), weight: 2 },
  { arbitrary: request("close", usual), weight: 5 },
  { arbitrary: request("discard", usual), weight: 2 },
  { arbitrary: request("cancel", usual), weight: 2 },
  { arbitrary: request("save", usual), weight: 3 },
  { arbitrary: request("look", usual), weight: 2 },
  { arbitrary: request("reap", usual), weight: 6 },
  {
    arbitrary: fc.record({ does: fc.constant("crash" as const), gateway, withWrappers: fc.boolean() }),
    weight: 4,
  },
  {
    arbitrary: fc.record({ does: fc.constant("crash later" as const), gateway, acts: fc.nat(60) }),
    weight: 3,
  },
  { arbitrary: fc.record({ does: fc.constant("restart" as const), gateway }), weight: 6 },
  {
    arbitrary: fc.record({
      does: fc.constantFrom("kill" as const, "exit" as const, "freeze" as const, "thaw" as const),
      process: index,
    }),
    weight: 8,
  },
  {
    arbitrary: fc.record({ does: fc.constant("fork" as const), process: index, letters: family }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      does: fc.constantFrom("hide" as const, "show" as const),
      process: index,
      what: fc.constantFrom<Hidden>("open", "read", "environment", "executable", "signal"),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      does: fc.constant("reuse" as const),
      number: index,
      by: fc.constantFrom<Reuser>(
        "a stranger",
        "another gateway's wrapper",
        "a new wrapper of ours",
        "a wrapper of another lease",
      ),
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      does: fc.constant("table" as const),
      table: fc.constantFrom<Machine["table"]>("whole", "whole", "incomplete", "unreadable"),
    }),
    weight: 1,
  },
  { arbitrary: fc.record({ does: fc.constant("disk" as const), gateway, full: fc.boolean() }), weight: 1 },
  {
    arbitrary: fc.record({
      does: fc.constant("pass" as const),
      ms: fc.constantFrom(0, 1, 10, 250, 300, 1_000, 5_000, 31_000, 61_000),
    }),
    weight: 8,
  },
  {
    arbitrary: fc.record({
      does: fc.constant("step wall clock" as const),
      ms: fc.constantFrom(-86_400_000, 3_600_000),
    }),
    weight: 1,
  },
);

export interface ModelRun {
  readonly hasPidfs: boolean;
  /** Both gateways on one state directory, or each on its own. */
  readonly shared: boolean;
  readonly steps: readonly Step[];
}

export const modelRun: fc.Arbitrary<ModelRun> = fc.record({
  hasPidfs: fc.boolean(),
  shared: fc.boolean(),
  steps: fc.array(step, { minLength: 20, maxLength: 60, size: "max" }),
});

/** Plays all steps and then a restart; throws at the first invariant that does not hold. */
export class Model {
  readonly simulation = new Simulation();
  readonly #names = ["A", "B"];
  readonly #numbers: number[] = [];
  #restarts = 0;
  readonly #ended = new Set<string>();
  readonly #faults: string[] = [];

  constructor(private readonly run: ModelRun) {
    this.simulation.machine.hasPidfs = run.hasPidfs;
    this.simulation.onSignal = (signal) => {
      this.#judgeSignal(signal);
    };
    this.simulation.start("A", "one");
    this.simulation.start("B", run.shared ? "one" : "two");
  }

  async play(): Promise<void> {
    for (const [index, step] of this.run.steps.entries()) {
      this.#apply(step);
      await clock.advance(step.does === "pass" ? step.ms : 0);
      this.#check(`after step ${index} (${step.does})`);
    }
    await this.#converge();
  }

  #gateway(number: number): Gateway {
    return this.simulation.gateway(this.#names[number] ?? "");
  }

  /** Everybody but init and the gateways. */
  #others(): Process[] {
    const gateways = new Set([...this.simulation.gateways.values()].map(({ process }) => process));
    return this.simulation.machine.processes.filter(
      (process) => process.pid !== 1 && process.state === "running" && !gateways.has(process),
    );
  }

  #pick(number: number): Process | undefined {
    const others = this.#others();
    return others[number % others.length];
  }

  #apply(step: Step): void {
    const { machine } = this.simulation;
    switch (step.does) {
      case "crash": {
        const { process } = this.#gateway(step.gateway);
        const wrappers = machine.processes.filter((child) => child.parent === process);
        if (step.withWrappers) for (const wrapper of wrappers) this.#freeze(wrapper);
        this.#gateway(step.gateway).crash();
        if (step.withWrappers) for (const wrapper of wrappers) this.#kill(wrapper);
        return;
      }
      case "crash later":
        this.#gateway(step.gateway).crashAfter(step.acts);
        return;
      case "restart":
        this.#restart(step.gateway);
        return;
      case "kill":
        this.#kill(this.#pick(step.process));
        return;
      case "exit": {
        const process = this.#pick(step.process);
        if (process?.isSubreaper !== true && process !== undefined)
          machine.end(process, { code: 0, signal: null });
        return;
      }
      case "freeze":
        this.#freeze(this.#pick(step.process));
        return;
      case "thaw": {
        const process = this.#pick(step.process);
        if (process !== undefined) machine.send("somebody", process, "SIGCONT");
        return;
      }
      case "fork": {
        const parent = this.#pick(step.process);
        // A wrapper starts nobody but its adapter.
        if (parent !== undefined && parent.isSubreaper !== true && parent.lease !== undefined)
          startMember(machine, parent, "newborn", step.letters);
        return;
      }
      case "hide":
      case "show": {
        const process = this.#pick(step.process);
        if (process === undefined) return;
        if (step.does === "hide") process.faults[step.what] = "denied";
        else Reflect.deleteProperty(process.faults, step.what);
        return;
      }
      case "reuse":
        this.#reuse(step.number, step.by);
        return;
      case "table":
        machine.table = step.table;
        return;
      case "disk":
        this.#gateway(step.gateway).diskFull = step.full;
        return;
      case "pass":
        return;
      case "step wall clock":
        clock.wallOffset += step.ms;
        return;
      case "ensure":
      case "cancel":
      case "close":
      case "discard":
      case "reap":
      case "look":
      case "save": {
        const gateway = this.#gateway(step.gateway);
        if (!gateway.isAlive) return;
        const { acpx, agent, session, does } = step;
        this.#follow(this.simulation.request({ gateway: gateway.name, does, session, agent, acpx }));
      }
    }
  }

  /** Requests may fail, but only in ways that a host is told of. */
  #follow(request: Promise<unknown>): void {
    request.catch((error: unknown) => {
      const expected =
        error instanceof Crashed ||
        (error instanceof LifecycleError && error.code !== "ERR_PROTECTED_PROCESS") ||
        (error instanceof Error && /^(?:spawn ENOENT|the agent ended during its start)$/.test(error.message));
      if (!expected) this.#faults.push(`a request failed: ${String(error)}`);
    });
  }

  #restart(number: number): void {
    if (this.#gateway(number).isAlive) return;
    this.#restarts += 1;
    const name = `${number === 0 ? "A" : "B"}${this.#restarts}`;
    this.simulation.start(name, number === 0 || this.run.shared ? "one" : "two");
    this.#names[number] = name;
  }

  #kill(process: Process | undefined): void {
    if (process !== undefined) this.simulation.machine.end(process, { code: null, signal: "SIGKILL" });
  }

  #freeze(process: Process | undefined): void {
    if (process === undefined) return;
    for (const { acpx } of this.simulation.gateways.values()) acpx.supervisors.get(process)?.freeze();
  }

  /** Gives a number that was somebody's, and is nobody's now, to somebody else. */
  #reuse(number: number, by: Reuser): void {
    const { machine } = this.simulation;
    const free = this.#numbers.filter((pid) => !machine.isTaken(pid));
    const pid = free[number % free.length];
    if (pid !== undefined) this.simulation.startReuser(pid, by);
  }

  /** 1, 5, 6: whose process was signalled, by whom, and why. */
  #judgeSignal({ gateway, intent, sessionKey, to, signal }: LifecycleSignal): void {
    const told = `${gateway.name} sent ${signal} to ${to.name} (${to.pid}) while it did ${intent ?? "nothing"}`;
    const lease = to.lease === undefined ? undefined : gateway.installation.table.leases.get(to.lease);
    if (lease === undefined) this.#faults.push(`${told}: a process that no lease of its installation names`);
    else {
      const { machine } = this.simulation;
      const owner = machine.at(lease.owner.pid);
      const ownerLives =
        owner?.state === "running" &&
        machine.tokenOf(owner) === lease.owner.token &&
        owner !== gateway.process;
      const isOwn = owner === gateway.process && machine.tokenOf(owner) === lease.owner.token;
      if (ownerLives) this.#faults.push(`${told}: its gateway lives`);
      if (intent === "cancel" || intent === "look" || intent === undefined)
        this.#faults.push(`${told}: that signals nobody`);
      if ((intent === "reap" || intent === "ensure") && isOwn)
        this.#faults.push(`${told}: a process of its own`);
      if (intent === "close" && lease.sessionKey !== sessionKey)
        this.#faults.push(`${told}: another session's`);
      if (optsOut(to)) this.#faults.push(`${told}: it opted out`);
    }
  }

  #check(when: string): void {
    for (const { table } of this.simulation.installations.values()) {
      for (const lease of table.all()) this.#checkEnded(lease);
      const ended = new Set<string>();
      for (const { leaseId, ...revision } of table.history) {
        if (ended.has(leaseId)) this.#faults.push(`lease ${leaseId} changed after its end`);
        if (revision.state === "closed" || revision.state === "lost") ended.add(leaseId);
      }
    }
    for (const process of this.#others()) {
      if (!this.#numbers.includes(process.pid)) this.#numbers.push(process.pid);
      this.#checkAdapter(process);
    }
    if (this.#faults.length > 0) throw new Error(`${when}: ${this.#faults.join("; ")}`);
  }

  /** 4: nobody is left who is provably the lease's; with the subreaper's word nobody at all. */
  #checkEnded(lease: AcpxProcessLease): void {
    if (!hasEnded(lease) || lease.rootPid === 0 || this.#ended.has(lease.leaseId)) return;
    // Judged once: whom nobody could have found may still have children, and those show whose they are.
    this.#ended.add(lease.leaseId);
    const left = this.simulation.machine
      .membersOf(lease.leaseId)
      .filter((member) => !member.isLeft && (lease.proof === "subreaper" || isFindable(member, lease)));
    if (left.length > 0) {
      const names = left.map(({ name }) => name).join(", ");
      this.#faults.push(`the lease is ${lease.state} (${lease.proof ?? "no proof"}), and ${names} lives`);
    }
  }

  /** 3: under a wrapper an adapter runs only when a lease names its root. */
  #checkAdapter({ name, parent, lease }: Process): void {
    if (name !== "adapter" || parent?.isSubreaper !== true) return;
    const tables = [...this.simulation.installations.values()].map(({ table }) => table);
    const published = tables.some(({ leases }) => leases.get(lease ?? "")?.rootPid === parent.pid);
    if (!published) this.#faults.push("an adapter runs under a wrapper that no lease names");
  }

  /** A crash of everybody and one restart: nothing that is provably a lease's runs on, and no lease is stuck. */
  async #converge(): Promise<void> {
    const { machine } = this.simulation;
    machine.table = "whole";
    for (const process of machine.processes) {
      for (const what of Object.keys(process.faults)) Reflect.deleteProperty(process.faults, what);
      process.unkillable = false;
    }
    for (const number of [0, 1]) {
      const { process } = this.#gateway(number);
      this.#gateway(number).crash();
      for (const child of machine.processes.filter(({ parent }) => parent === process)) this.#freeze(child);
    }
    for (const number of [0, 1]) this.#restart(number);
    for (const number of [0, 1]) {
      const gateway = this.#gateway(number);
      await clock.finish(this.simulation.request({ gateway: gateway.name, does: "reap" }));
    }
    this.#check("after the restart");
    for (const { table } of this.simulation.installations.values())
      for (const lease of table.open())
        if (!this.#hasDoubtfulRelative(lease))
          this.#faults.push(`lease ${lease.leaseId} is stuck: ${JSON.stringify(lease)}`);
    for (const gateway of this.simulation.gateways.values())
      if (gateway.isAlive && gateway.handles.size > 0)
        this.#faults.push(`${gateway.name} holds ${gateway.handles.size} handles of nobody`);
    this.#check("after the restart");
  }

  /** Somebody who may be the lease's, and nobody can tell: then it stays open, and says so. */
  #hasDoubtfulRelative(lease: AcpxProcessLease): boolean {
    return this.#others().some(
      (process) =>
        process.uid !== OWN_UID ||
        // The same number and start tick, and no inode to tell them apart by.
        (process.pid === lease.rootPid && this.simulation.machine.tokenOf(process) === lease.rootToken) ||
        [process.sid, process.pgid].includes(lease.adapterPid ?? -1) ||
        process.lease === lease.leaseId,
    );
  }
}

/** Carries both ids where a gateway may read them. */
function isFindable(process: Process, lease: AcpxProcessLease): boolean {
  const { environment, faults, uid } = process;
  return (
    uid === OWN_UID &&
    lease.leaseId !== NIL_ID &&
    (["open", "read", "environment"] as const).every((what) => faults[what] === undefined) &&
    environment[LEASE_ID] === lease.leaseId &&
    environment[INSTANCE_ID] === lease.gatewayInstanceId
  );
}
