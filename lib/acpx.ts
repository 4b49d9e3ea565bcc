/**
 * What this package knows of acpx: its types by structure (acpx itself is never imported) and its agent registry
 * with a wrapper in front of each agent.
 */
import {
  type AgentCommand,
  type CommandIdentity,
  argvOf,
  identityOf,
  runsPackage,
  staysDirect,
  withoutLease,
  wrapperNameFor,
} from "./agent-command.js";
import { LifecycleError } from "./errors.js";
import { locateExecutable } from "./executable.js";
import type { CommandTranslation, SessionCommandRecord, SessionStore } from "./session-store.js";

// -- processLifecycle ----------------------------------------------------------------------------------------

/** Why acpx starts a process: for a session, to probe an agent, or for a client without a session. */
export type AcpProcessLaunchScope =
  | { readonly kind: "client" }
  | { readonly kind: "runtime-session"; readonly sessionKey: string }
  | { readonly kind: "runtime-probe"; readonly agent: string };

export interface AcpProcessLaunch {
  readonly launchId: string;
  readonly scope: AcpProcessLaunchScope;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

export interface AcpProcessStarted extends AcpProcessLaunch {
  readonly pid: number;
  /** ISO 8601, taken by acpx just after the spawn; the session record's `agentStartedAt` repeats it. */
  readonly startedAt: string;
}

export interface AcpProcessSpawnFailure extends AcpProcessLaunch {
  readonly error: unknown;
  readonly failedAt: string;
}

export interface AcpProcessExit extends AcpProcessStarted {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly exitedAt: string;
}

/**
 * acpx awaits the first two and gives the launch up when one rejects (after a rejected `onSpawned` it ends the
 * process); the last two it only tells, and `onExit` never before `onSpawned` has settled.
 */
export interface AcpProcessLifecycle {
  onBeforeSpawn?: (launch: AcpProcessLaunch) => Promise<void> | void;
  onSpawned?: (process: AcpProcessStarted) => Promise<void> | void;
  onSpawnFailed?: (failure: AcpProcessSpawnFailure) => Promise<void> | void;
  onExit?: (exit: AcpProcessExit) => Promise<void> | void;
}

// -- sessions and the runtime --------------------------------------------------------------------------------

/** The fields of acpx's session record that matter here; the rest passes through untouched. */
export interface AcpSessionRecord extends SessionCommandRecord {
  acpxRecordId: string;
  acpSessionId: string;
  cwd: string;
  /** The session key. */
  name?: string;
  /** Only while acpx sees the agent running. */
  pid?: number;
  agentStartedAt?: string;
  closed?: boolean;
  closedAt?: string;
}

export interface AcpRuntimeHandle {
  sessionKey: string;
  backend: string;
  runtimeSessionName: string;
  cwd?: string;
  acpxRecordId?: string;
  backendSessionId?: string;
  agentSessionId?: string;
}

export interface AcpRuntimeEnsureInput {
  sessionKey: string;
  agent: string;
  mode: "persistent" | "oneshot";
  resumeSessionId?: string;
  cwd?: string;
}

/** The part of acpx's AcpRuntime that a controller drives. */
export interface AcpRuntime<E extends AcpRuntimeEnsureInput = AcpRuntimeEnsureInput> {
  ensureSession(input: E): Promise<AcpRuntimeHandle>;
  cancel(input: { handle: AcpRuntimeHandle; reason?: string }): Promise<void>;
  close(input: { handle: AcpRuntimeHandle; reason: string; discardPersistentState?: boolean }): Promise<void>;
  prepareFreshSession?(input: { handle: AcpRuntimeHandle }): Promise<void>;
  findSession?(input: { sessionKey: string; agent: string }): Promise<AcpRuntimeHandle | undefined>;
}

/** The options of acpx's createAcpRuntime that are merged with ours; the rest passes through untouched. */
export interface AcpRuntimeOptions<R extends AcpSessionRecord = AcpSessionRecord> {
  agentProcessEnv?: Record<string, string>;
  agentRegistry: AcpAgentRegistry;
  sessionStore: SessionStore<R>;
  processLifecycle?: AcpProcessLifecycle;
  /** ACP terminals: children of the gateway that no hook sees. */
  terminal?: boolean;
}

// -- agents --------------------------------------------------------------------------------------------------

export interface AcpAgentInspection {
  readonly id: string;
  readonly name: string;
  readonly launch:
    | { readonly kind: "installed"; readonly argv: readonly string[] }
    | {
        readonly kind: "missing";
        readonly requirements: readonly { readonly kind: string; readonly name: string }[];
      };
}

export interface AcpAgentRegistry {
  /** An agent that the registry does not list is taken for a command line. */
  resolve(agentName: string): string | string[];
  list(): string[];
  inspect?(agentId: string): AcpAgentInspection | undefined;
}

export interface WrapOptions {
  /** Wrap exactly these agents. Left out: all but those that a wrapper would take something away from. */
  readonly agents?: readonly string[];
  /** Absolute path of the wrapper image of that file name. */
  readonly wrapperPathFor: (wrapperName: string) => string;
}

/** A registry that answers `[wrapper, "--", command, ...args]`, and translates what session records say. */
export type WrappedAgentRegistry = AcpAgentRegistry & CommandTranslation;

/**
 * Puts the wrapper in front of the agents of a registry. A built-in is resolved to its installed program first:
 * acpx finds the installed copy of `npx ...` only where that is the whole command. Throws LifecycleError
 * ERR_AGENT_COMMAND from `resolve` for a command that cannot be started.
 */
export function wrapRegistry(registry: AcpAgentRegistry, options: WrapOptions): WrappedAgentRegistry {
  const asked = options.agents && new Set(options.agents.map(normalize));
  /** Own command to wrapped command, and back. */
  const wrappedOf = new Map<string, readonly string[]>();
  const bareOf = new Map<string, AgentCommand>();

  function resolve(agentName: string): string | string[] {
    const bare = registry.resolve(agentName);
    if (asked && !asked.has(normalize(agentName))) return bare;
    const argv = argvOf(bare);
    if (argv === null) {
      throw agentCommandError(
        agentName,
        String(bare),
        "cannot be split into words",
        "Give it as an argv array.",
      );
    }
    const installed = registry.inspect?.(agentName)?.launch.kind === "installed";
    if (!asked && !installed && staysDirect(argv)) return bare;
    const launch = locateLaunch(registry, agentName, argv);
    if (!asked && staysDirect(launch)) return bare;
    // Two names of one agent get one wrapped command: a session record does not say under which it was made.
    const known = wrappedOf.get(keyOf(argv));
    if (known && keyOf(known.slice(2)) === keyOf(launch)) return [...known];
    const wrapped = [options.wrapperPathFor(wrapperNameFor(launch, agentName)), "--", ...launch];
    wrappedOf.set(keyOf(argv), wrapped);
    bareOf.set(keyOf(wrapped), bare);
    return [...wrapped];
  }

  /** The wrapped command of the agent whose own, or installed, command this is. */
  function wrappedFor(stored: readonly string[], text: string): readonly string[] | undefined {
    const key = keyOf(stored);
    const names = [...(options.agents ?? registry.list()), text];
    const agent = names.find((name) => keyOf(argvOf(registry.resolve(name)) ?? []) === key);
    if (agent === undefined)
      return [...wrappedOf.values()].find((wrapped) => keyOf(wrapped.slice(2)) === key);
    const command = resolve(agent);
    return typeof command !== "string" && bareOf.has(keyOf(command)) ? command : undefined;
  }

  return {
    resolve,
    list: () => registry.list(),
    ...(registry.inspect && { inspect: registry.inspect.bind(registry) }),
    wrapped(stored) {
      const argv = argvOf(stored.agentArgv ?? stored.agentCommand);
      if (argv === null) return undefined;
      try {
        const wrapped = wrappedFor(withoutLease(argv), stored.agentCommand);
        return wrapped && identityOf(wrapped);
      } catch (error) {
        // An agent that was removed since: its record stays readable, only starting it fails.
        if (error instanceof LifecycleError) return undefined;
        throw error;
      }
    },
    bare(shown) {
      const bare = bareOf.get(keyOf(shown.agentArgv ?? []));
      return bare === undefined ? undefined : identityOf(bare);
    },
  };
}

/** The program to run, by absolute path. */
function locateLaunch(
  registry: AcpAgentRegistry,
  agentName: string,
  argv: readonly string[],
): readonly string[] {
  const launch = registry.inspect?.(agentName)?.launch;
  if (launch?.kind === "installed") return launch.argv;
  const [command = "", ...rest] = argv;
  const located = locateExecutable(command);
  const unmet = launch?.requirements.map((requirement) => requirement.name).join(", ");
  if (located.kind === "not-executable") {
    throw agentCommandError(agentName, located.path, "is not executable", `Run chmod +x on it.`);
  }
  if (located.kind === "missing" || (unmet !== undefined && !runsPackage(argv))) {
    const listed = registry.list().map(normalize).includes(normalize(agentName));
    throw agentCommandError(
      agentName,
      command,
      listed
        ? `is not installed (missing: ${unmet ?? command})`
        : "is neither an agent of the registry nor a command",
      listed ? "Install it, or put its directory on PATH." : `Known agents: ${registry.list().join(", ")}.`,
    );
  }
  return [located.path, ...rest];
}

function agentCommandError(
  agentName: string,
  command: string,
  fault: string,
  remedy: string,
): LifecycleError {
  return new LifecycleError(
    "ERR_AGENT_COMMAND",
    `Agent "${agentName}": command "${command}" ${fault}. ${remedy}`,
  );
}

const normalize = (agentName: string): string => agentName.trim().toLowerCase();
const keyOf = (argv: readonly string[]): string => JSON.stringify(argv);

export type { CommandIdentity, SessionStore };
