/**
 * acpx as far as a lifecycle meets it: the hooks around a spawn in acpx's order, its own habits at a close, and the
 * agents that it starts.
 */
import type {
  AcpProcessLaunch,
  AcpProcessLifecycle,
  AcpRuntime,
  AcpRuntimeEnsureInput,
  AcpRuntimeHandle,
  AcpRuntimeOptions,
} from "../../lib/acpx.js";
import type { Signal } from "../../lib/native.js";
import type { WayOfEnding } from "../../lib/terminate.js";
import { clock } from "./clock.js";
import type { Gateway } from "./gateway.js";
import { PLACEHOLDERS, type Machine, type Process } from "./machine.js";
import { GRACE_MS, Supervisor } from "./supervisor.js";

/**
 * Who an agent starts, by name; letters say what each is like, as in test/fixtures/family.c.
 *
 *   i  ignores TERM            g  leads a group      s  leads a session     d  double-forked
 *   e  empty environment       D  asks to detach     u  another uid         k  cannot be killed
 *   z  its parent never waits
 */
export interface AgentShape {
  /** Letters of the adapter itself. */
  readonly adapter?: string;
  readonly family?: Readonly<Record<string, string>>;
  /** Started without a wrapper. */
  readonly direct?: true;
  readonly spawn?: "fails";
  /** The wrapper, before it has its claim. */
  readonly dies?: "unclaimed";
  /** Tells the names of its wrapper and adapter from others'. */
  readonly suffix?: string;
}

/** acpx waits this long for an agent after its own SIGTERM, milliseconds. */
const CLOSE_TERM_MS = 1_500;
const SPAWNED_AT = "2026-01-01T00:00:00.000Z";

let launches = 0;

export class Acpx implements AcpRuntime {
  /** What `close` does besides or instead of ending the agent. */
  closing: "ends the agent" | "rejects" | "hangs" | "leaves the agent" | "starts another" =
    "leaves the agent";
  canDiscard = true;
  readonly asked: string[] = [];
  readonly supervisors = new Map<Process, Supervisor>();
  readonly #roots = new Map<string, Process[]>();
  readonly #hooks: AcpProcessLifecycle;
  #shape: AgentShape = {};
  #saved: (sessionKey: string) => Promise<void>;

  constructor(private readonly gateway: Gateway) {
    const store = { load: () => Promise.resolve(undefined), save: () => Promise.resolve() };
    const options: AcpRuntimeOptions = gateway.lifecycle.runtimeOptions<AcpRuntimeOptions>({
      agentRegistry: { resolve: () => ["codex-acp"], list: () => ["codex"] },
      sessionStore: store,
    });
    this.#hooks = options.processLifecycle ?? {};
    this.#saved = async (name) => {
      const record = { acpxRecordId: "record", acpSessionId: "session", cwd: "/", name };
      await options.sessionStore.save({ ...record, agentCommand: "codex-acp" });
    };
  }

  /** The agents that are started from now on. */
  starts(shape: AgentShape): this {
    this.#shape = shape;
    return this;
  }

  async ensureSession({ sessionKey }: AcpRuntimeEnsureInput): Promise<AcpRuntimeHandle> {
    await this.#launch(sessionKey, this.#shape);
    return handleFor(sessionKey);
  }

  cancel({ handle }: { handle: AcpRuntimeHandle }): Promise<void> {
    this.asked.push(`cancel ${handle.sessionKey}`);
    return Promise.resolve();
  }

  async close(input: { handle: AcpRuntimeHandle; discardPersistentState?: boolean }): Promise<void> {
    const { sessionKey } = input.handle;
    this.asked.push(`close ${sessionKey}`);
    if (input.discardPersistentState === true && !this.canDiscard)
      throw Object.assign(new Error("unsupported"), { code: "ACP_BACKEND_UNSUPPORTED_CONTROL" });
    switch (this.closing) {
      case "rejects":
        throw new Error("the agent does not answer");
      case "hangs":
        await never();
        return;
      case "leaves the agent":
        return;
      case "starts another":
        await this.#launch(sessionKey, {});
        return;
      case "ends the agent":
        await this.#endAgents(sessionKey);
    }
  }

  prepareFreshSession({ handle }: { handle: AcpRuntimeHandle }): Promise<void> {
    this.asked.push(`fresh ${handle.sessionKey}`);
    return Promise.resolve();
  }

  /** The session's record is saved, as after each message of a turn. */
  async save(sessionKey: string): Promise<void> {
    await this.#saved(sessionKey);
  }

  async #launch(sessionKey: string, shape: AgentShape): Promise<void> {
    const { installation } = this.gateway;
    launches += 1;
    const launch: AcpProcessLaunch = {
      launchId: `launch-${launches}`,
      scope: { kind: "runtime-session", sessionKey },
      command: shape.direct === true ? "/usr/bin/codex-acp" : `${installation.wrapperRoot}/codex-wrapper`,
      args: ["--", "codex-acp"],
      cwd: "/",
    };
    await this.#hooks.onBeforeSpawn?.(launch);
    if (shape.spawn === "fails") {
      const error = new Error("spawn ENOENT");
      await this.#hooks.onSpawnFailed?.({ ...launch, error, failedAt: SPAWNED_AT });
      throw error;
    }
    if (!this.gateway.isAlive) await never();
    const root = shape.direct === true ? this.#startDirect(shape) : this.#startWrapper(shape);
    root.lease = installation.table.all().find(({ launchId }) => launchId === launch.launchId)?.leaseId;
    for (const member of this.gateway.machine.descendantsOf(root)) member.lease = root.lease;
    const roots = this.#roots.get(sessionKey) ?? [];
    this.#roots.set(sessionKey, [...roots, root]);

    const started = { ...launch, pid: root.pid, startedAt: SPAWNED_AT };
    const ended = new Promise<WayOfEnding>((resolve) => root.onEnd.push(resolve));
    const spawned = Promise.resolve(this.#hooks.onSpawned?.(started));
    if (shape.dies === "unclaimed") this.gateway.machine.end(root, { code: null, signal: "SIGKILL" });
    void Promise.allSettled([spawned])
      .then(() => ended)
      .then(async ({ code, signal }) => {
        if (!this.gateway.isAlive) return;
        const exit = { ...started, exitCode: code, signal, exitedAt: SPAWNED_AT };
        await this.gateway.does("exit", sessionKey, async () => this.#hooks.onExit?.(exit));
      })
      .catch((error: unknown) => this.asked.push(`onExit rejected: ${String(error)}`));
    try {
      await spawned;
    } catch (error) {
      await this.#signal(root, "SIGKILL");
      throw error;
    }
    if (root.state !== "running") throw new Error("the agent ended during its start");
  }

  #startWrapper(shape: AgentShape): Process {
    const { machine, installation, process } = this.gateway;
    const root = machine.start({
      name: `wrapper${shape.suffix ?? ""}`,
      parent: process,
      executable: `${installation.wrapperRoot}/codex-wrapper`,
      environment: PLACEHOLDERS,
      leads: "session",
      isSubreaper: true,
    });
    const supervisor = new Supervisor(root, {
      machine,
      claims: installation.claims,
      gateway: process,
      graceMs: GRACE_MS,
      startAdapter: (parent) => this.#startAdapter(parent, shape),
    });
    this.supervisors.set(root, supervisor);
    return root;
  }

  #startDirect(shape: AgentShape): Process {
    const adapter = this.#startAdapter(this.gateway.process, shape);
    adapter.environment = PLACEHOLDERS;
    return adapter;
  }

  #startAdapter(parent: Process, { adapter = "", family = {}, suffix = "" }: AgentShape): Process {
    const { machine } = this.gateway;
    const own = machine.start({
      ...traitsOf(adapter),
      name: `adapter${suffix}`,
      parent,
      executable: "/usr/bin/codex-acp",
      environment: parent.environment,
      leads: "session",
      diesWithParent: parent.isSubreaper === true,
    });
    for (const [name, letters] of Object.entries(family)) startMember(machine, own, name, letters);
    return own;
  }

  async #endAgents(sessionKey: string): Promise<void> {
    for (const root of this.#roots.get(sessionKey) ?? []) {
      if (root.state !== "running") continue;
      const ended = new Promise<void>((resolve) => {
        root.onEnd.push(() => {
          resolve();
        });
      });
      await this.#signal(root, "SIGTERM");
      await Promise.race([ended, clock.delay(CLOSE_TERM_MS)]);
      await this.#signal(root, "SIGKILL");
    }
  }

  /** It is a part of its gateway: once that is dead, it signals nobody. */
  async #signal(root: Process, signal: Signal): Promise<void> {
    if (!this.gateway.isAlive) await never();
    this.gateway.machine.send("acpx", root, signal);
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** Somebody whom a member of a tree starts. */
export function startMember(machine: Machine, parent: Process, name: string, letters: string): Process {
  const member = machine.start({
    uid: parent.uid,
    ...traitsOf(letters),
    name,
    parent,
    executable: "/usr/bin/node",
    environment: letters.includes("e") ? {} : parent.environment,
  });
  if (letters.includes("d")) member.parent = machine.reaperFor(parent);
  return member;
}

function traitsOf(letters: string) {
  const has = (letter: string) => letters.includes(letter);
  return {
    ignoresTerm: has("i"),
    unkillable: has("k"),
    unwaited: has("z"),
    detaches: has("D"),
    leads: has("s") ? ("session" as const) : has("g") ? ("group" as const) : undefined,
    ...(has("u") ? { uid: 64_000 } : {}),
  };
}

export function handleFor(sessionKey: string): AcpRuntimeHandle {
  return { sessionKey, backend: "acpx", runtimeSessionName: sessionKey };
}
