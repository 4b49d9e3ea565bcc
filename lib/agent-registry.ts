/**
 * acpx's agent registry with a wrapper in front of each agent.
 */
import type { AcpAgentRegistry } from "./acpx.js";
import {
  type AgentCommand,
  argvOf,
  identityOf,
  runsPackage,
  staysDirect,
  withoutLease,
  wrapperNameFor,
} from "./agent-command.js";
import { LifecycleError } from "./errors.js";
import { locateExecutable } from "./executable.js";
import type { CommandTranslation } from "./session-store.js";

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
