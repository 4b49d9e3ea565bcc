/**
 * Plays a row: events one after another on a simulated machine, and what came of them in the words of the rows.
 */
import type { Reason } from "../../lib/evidence.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import { INSTANCE, OTHER_INSTANCE, OTHER_LEASE } from "../helpers/evidence.js";
import { handleFor, startMember, type Acpx, type AgentShape } from "./acpx.js";
import { clock } from "./clock.js";
import { Gateway, Installation, type LifecycleSignal } from "./gateway.js";
import { leaseEnvironment, Machine, PLACEHOLDERS, type Process } from "./machine.js";

/** A request to a gateway; every row begins with gateway A of installation "one". */
export interface GatewayEvent {
  readonly gateway: string;
  readonly does: "start" | "ensure" | "cancel" | "close" | "discard" | "reap" | "look" | "save" | "crash";
  /** Default "s". */
  readonly session?: string;
  readonly agent?: AgentShape;
  /** Of a start; default "one". */
  readonly installation?: string;
  /** What acpx does in its own close. */
  readonly acpx?: Acpx["closing"] | "cannot discard";
  /** Of a crash: who is killed in the same instant. */
  readonly with?: readonly string[];
  /** Of a sweep. */
  readonly deadlineMs?: number;
  readonly aborted?: true;
  readonly dryRun?: true;
  /** Of one among several together: begins so many turns of the microtask queue after the others. */
  readonly afterTurns?: number;
}

export type Reuser =
  "a stranger" | "another gateway's wrapper" | "a new wrapper of ours" | "a wrapper of another lease";

export type SimulatorEvent =
  | GatewayEvent
  | { readonly process: string; readonly is: "killed" | "stopped" | "frozen" }
  | { readonly process: string; readonly exits: number }
  | { readonly process: string; readonly forks: string; readonly letters: string }
  | { readonly process: string; readonly hides: "open" | "read" | "environment" | "executable" | "signal" }
  | { readonly process: string; readonly argv: readonly string[] }
  | { readonly process: string; readonly unwaited: true }
  | { readonly starts: string; readonly carrying: "the lease" | "another lease" | "nothing" }
  | { readonly reuses: string; readonly by: Reuser }
  | { readonly table: Machine["table"] }
  | { readonly kernel: "without pidfs" }
  | { readonly disk: "full" | "free"; readonly of: string }
  | { readonly passes: number }
  | { readonly wallClockSteps: number }
  | { readonly rewrites: (lease: AcpxProcessLease) => Partial<AcpxProcessLease> }
  | { readonly ownerLock: "held" | "free" | "missing" }
  | { readonly together: readonly GatewayEvent[] };

export interface Played {
  /** "A TERM wrapper": who sent what to whom, in order. CONT is left out. */
  readonly signals: readonly string[];
  /** State and proof of each lease, oldest first. */
  readonly leases: readonly string[];
  /** Living processes besides init and gateways. */
  readonly alive: readonly string[];
  /** The verdict on the root of each open lease at the last look. */
  readonly verdicts: readonly string[];
  /** What the last request came to. */
  readonly outcome: unknown;
}

export class Simulation {
  readonly machine = new Machine();
  readonly installations = new Map<string, Installation>();
  readonly gateways = new Map<string, Gateway>();
  /** Hears of each signal of a gateway, with the request that it was sent for. */
  onSignal: (signal: LifecycleSignal) => void = () => undefined;
  readonly #wrappers = new Map<string, Process>();
  #verdicts: readonly string[] = [];
  #outcome: unknown;

  async play(events: readonly SimulatorEvent[]): Promise<Played> {
    this.start("A", "one");
    for (const event of events) {
      await this.#apply(event);
      await clock.advance(0);
    }
    const leases = [...this.installations.values()].flatMap(({ table }) => table.all());
    const others = this.machine.processes.filter(
      ({ name, state }) => state === "running" && name !== "init" && !this.gateways.has(name),
    );
    return {
      signals: this.machine.signals
        .filter(({ signal }) => signal !== "SIGCONT")
        .map(({ by, to, signal }) => `${by} ${String(signal).replace("SIG", "")} ${to.name}`),
      leases: leases
        .sort((a, b) => a.startedAt - b.startedAt)
        .map(({ state, proof }) => (proof === undefined ? state : `${state} by ${proof}`)),
      alive: others.map(({ name }) => name),
      verdicts: this.#verdicts,
      outcome: this.#outcome,
    };
  }

  /** A gateway process of an installation; its name is that of its process. */
  start(name: string, installationName: string): Gateway {
    const installation =
      this.installations.get(installationName) ??
      new Installation(installationName, installationName === "one" ? INSTANCE : OTHER_INSTANCE);
    this.installations.set(installationName, installation);
    const process = this.machine.start({ name, executable: "/usr/bin/node" });
    const gateway = new Gateway(name, installation, this.machine, process, (signal) => {
      this.onSignal(signal);
    });
    this.gateways.set(name, gateway);
    return gateway;
  }

  gateway(name: string): Gateway {
    const gateway = this.gateways.get(name);
    if (gateway === undefined) throw new Error(`no gateway is called ${name}`);
    return gateway;
  }

  /** A request as a host makes it; what it comes to in a few words. */
  request(event: GatewayEvent): Promise<unknown> {
    const { session: sessionKey = "s" } = event;
    const gateway = this.gateway(event.gateway);
    const { acpx, lifecycle } = gateway;
    const controller = lifecycle.control(acpx);
    const handle = handleFor(sessionKey);
    switch (event.does) {
      case "start":
      case "crash":
        throw new Error(`${event.does} is no request`);
      case "ensure":
        acpx.starts(event.agent ?? {});
        return gateway.does("ensure", sessionKey, async () => {
          await controller.ensureSession({ sessionKey, agent: "codex", mode: "persistent" });
          return "ensured";
        });
      case "cancel":
        return gateway.does("cancel", sessionKey, () => controller.cancelTurn(handle));
      case "save":
        return gateway.does("look", sessionKey, () => acpx.save(sessionKey));
      case "close":
      case "discard":
        acpx.canDiscard = event.acpx !== "cannot discard";
        acpx.closing =
          event.acpx === undefined || event.acpx === "cannot discard" ? acpx.closing : event.acpx;
        return gateway.does("close", sessionKey, async () => {
          const discard = event.does === "discard" ? { discardPersistentState: true } : {};
          const closed = await lifecycle.close({ runtime: acpx, handle, ...discard });
          return {
            runtime: closed.runtime.kind,
            leases: closed.leases.map(({ state }) => state),
            survivors: closed.leases.flatMap(({ survivors }) => survivors.map(({ reason }) => reason)),
            detached: closed.leases.flatMap(({ detached }) => detached.map(({ pid }) => this.#nameOf(pid))),
          };
        });
      case "reap":
        return gateway.does("reap", undefined, async () => {
          const { deadlineMs, aborted, dryRun = false } = event;
          const report = await lifecycle.reap({
            dryRun,
            ...(deadlineMs === undefined ? {} : { deadlineMs }),
            ...(aborted === undefined ? {} : { signal: AbortSignal.abort() }),
          });
          const { kind, settled, left, held, notInspected, planned, deaths } = report;
          return {
            kind,
            settled: settled.length,
            left: left.length,
            held: held.length,
            notInspected: notInspected.length,
            planned: planned.flatMap(({ pids }) => pids.map((pid) => this.#nameOf(pid))),
            deaths,
          };
        });
      case "look":
        return gateway.does("look", sessionKey, async () => {
          this.#verdicts = (await lifecycle.status()).map(({ verdict }) => verdict.kind);
          return this.#outcome;
        });
    }
  }

  async #apply(event: SimulatorEvent): Promise<void> {
    const { machine } = this;
    if ("together" in event) {
      this.#outcome = await clock.finish(Promise.all(event.together.map((one) => this.#settled(one))));
    } else if ("gateway" in event) await this.#command(event);
    else if ("is" in event) this.#strike(machine.named(event.process), event.is);
    else if ("exits" in event) machine.end(machine.named(event.process), { code: event.exits, signal: null });
    else if ("forks" in event) startMember(machine, machine.named(event.process), event.forks, event.letters);
    else if ("hides" in event) {
      const reason: Reason = "denied";
      machine.named(event.process).faults[event.hides] = reason;
    } else if ("argv" in event) machine.named(event.process).argv = event.argv;
    else if ("unwaited" in event) machine.named(event.process).unwaited = true;
    else if ("starts" in event) this.#startLookAlike(event.starts, event.carrying);
    else if ("reuses" in event) this.#reuse(event.reuses, event.by);
    else if ("table" in event) machine.table = event.table;
    else if ("kernel" in event) machine.hasPidfs = false;
    else if ("disk" in event) this.gateway(event.of).diskFull = event.disk === "full";
    else if ("passes" in event) await clock.advance(event.passes);
    else if ("wallClockSteps" in event) clock.wallOffset += event.wallClockSteps;
    else if ("rewrites" in event) this.#rewrite(event.rewrites);
    else for (const installation of this.installations.values()) installation.lockOf = () => event.ownerLock;
  }

  async #command(event: GatewayEvent): Promise<void> {
    if (event.does === "start") {
      this.start(event.gateway, event.installation ?? "one");
      return;
    }
    if (event.does === "crash") {
      const victims = (event.with ?? []).map((name) => this.machine.named(name));
      for (const victim of victims) this.#strike(victim, "frozen");
      this.gateway(event.gateway).crash();
      for (const victim of victims) this.#strike(victim, "killed");
      return;
    }
    this.#outcome = await clock.finish(this.#settled(event));
    this.#rememberWrappers();
  }

  /** Rejections are outcomes too, told by their code. */
  async #settled(event: GatewayEvent): Promise<unknown> {
    try {
      for (let turn = 0; turn < (event.afterTurns ?? 0); turn += 1) await Promise.resolve();
      return await this.request(event);
    } catch (error) {
      if (error instanceof Error && "code" in error) return error.code;
      return error instanceof Error ? error.message : String(error);
    }
  }

  #strike(victim: Process, how: "killed" | "stopped" | "frozen"): void {
    switch (how) {
      case "killed":
        this.machine.end(victim, { code: null, signal: "SIGKILL" });
        return;
      case "stopped":
      case "frozen":
        for (const { acpx } of this.gateways.values()) acpx.supervisors.get(victim)?.freeze();
    }
  }

  #startLookAlike(name: string, carrying: "the lease" | "another lease" | "nothing"): void {
    const [lease] = this.#leases();
    const environment = {
      "the lease": leaseEnvironment(lease?.leaseId ?? "", lease?.gatewayInstanceId ?? ""),
      "another lease": leaseEnvironment(OTHER_LEASE, INSTANCE),
      nothing: {},
    }[carrying];
    this.machine.start({ name, executable: "/usr/bin/codex-acp", environment });
  }

  /** Gives a free number to somebody who is not who had it before. */
  startReuser(pid: number, by: Reuser): void {
    const [lease] = this.#leases();
    const own = `${lease?.wrapperRoot ?? ""}/codex-wrapper`;
    const traits = {
      "a stranger": { executable: "/usr/bin/vim", environment: {} },
      "another gateway's wrapper": {
        executable: "/srv/two/wrappers/codex-wrapper",
        environment: leaseEnvironment(OTHER_LEASE, OTHER_INSTANCE),
      },
      "a new wrapper of ours": { executable: own, environment: PLACEHOLDERS },
      "a wrapper of another lease": { executable: own, environment: leaseEnvironment(OTHER_LEASE, INSTANCE) },
    }[by];
    this.machine.start({ ...traits, name: by, pid, leads: "session" });
  }

  #reuse(name: string, by: Reuser): void {
    const pid = this.#wrappers.get(name)?.pid;
    if (pid === undefined) throw new Error(`${name} has never had a number`);
    this.startReuser(pid, by);
  }

  #rewrite(changes: (lease: AcpxProcessLease) => Partial<AcpxProcessLease>): void {
    for (const { table } of this.installations.values())
      for (const lease of table.open()) table.leases.set(lease.leaseId, { ...lease, ...changes(lease) });
  }

  #leases(): AcpxProcessLease[] {
    return [...this.installations.values()].flatMap(({ table }) => table.all());
  }

  #rememberWrappers(): void {
    for (const process of this.machine.processes) this.#wrappers.set(process.name, process);
  }

  #nameOf(pid: number): string {
    return (
      this.machine.at(pid)?.name ?? [...this.#wrappers.values()].find((one) => one.pid === pid)?.name ?? "?"
    );
  }
}
