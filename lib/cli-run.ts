/** `run`: one command under a lease, with this terminal, and a status as if it had been started by itself. */
import { EXIT_USAGE, type Where } from "./cli-options.js";
import type { RunReport } from "./cli-reports.js";
import { LifecycleError } from "./errors.js";
import { locateExecutable } from "./executable.js";
import { openAcpxLifecycle } from "./lifecycle.js";

export interface RunRequest extends Where {
  readonly launch: readonly [string, ...string[]];
  readonly sessionKey?: string;
}

/** Like env(1), timeout(1) and nohup(1): what failed was ours, not the command. */
export const EXIT_NOT_LAUNCHED = 125;
const EXIT_NOT_EXECUTABLE = 126;
const EXIT_NOT_FOUND = 127;

/** Asked of us, meant for the command. On a terminal Ctrl-C reaches it without us. */
const FORWARDED = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR2"] as const;

/** Throws LifecycleError as `launch` does; nothing was started then. */
export async function run({ launch, sessionKey, stateDir, wrapperRoots }: RunRequest): Promise<RunReport> {
  const [command, ...args] = launch;
  const [wrapperRoot] = wrapperRoots;
  // What older versions left is for the gateway to take over, which knows its wrapper roots of then.
  await using lifecycle = await openAcpxLifecycle({ stateDir, wrapperRoot, legacy: false });
  const named = sessionKey === undefined ? {} : { sessionKey };
  const agent = await lifecycle.launch({ command, args, foreground: true, ...named });
  const forward = (signal: NodeJS.Signals) => {
    // A child that has been reaped is signalled no more: node knows that it has no number then.
    agent.child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  const { code, signal, settlement } = await agent.ended.finally(() => {
    for (const signal of FORWARDED) process.off(signal, forward);
  });
  await agent.started;
  const { leaseId } = agent.lease;
  return {
    schema: "acpx-lifecycle.run.v1",
    leaseId,
    sessionKey: agent.lease.sessionKey,
    code,
    signal,
    state: settlement?.state ?? "open",
    because: settlement?.because ?? "its lease is not there any more",
    ...(settlement?.proof === undefined ? {} : { proof: settlement.proof }),
    detached: settlement?.detached.map(({ pid }) => pid) ?? [],
    survivors: settlement?.survivors.map(({ pid }) => pid) ?? [],
  };
}

/** The exit code of a launch that was refused. */
export function exitOfRefusal(error: unknown, command: string): number {
  if (!(error instanceof LifecycleError)) return EXIT_NOT_LAUNCHED;
  if (error.code === "ERR_INVALID_OPTION") return EXIT_USAGE;
  if (error.code !== "ERR_AGENT_COMMAND") return EXIT_NOT_LAUNCHED;
  const located = locateExecutable(command, process.env["PATH"]);
  return located.kind === "missing" ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
