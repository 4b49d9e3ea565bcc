/**
 * Starting an agent without acpx: the same lease, claim and end as a launch through its hooks.
 */
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";

import { announce } from "./diagnostics.js";
import { LifecycleError } from "./errors.js";
import { locateExecutable } from "./executable.js";
import type { LaunchContext, Launches } from "./launches.js";
import type { AcpxProcessLease } from "./lease.js";
import type { Settlement } from "./settle.js";
import type { WayOfEnding } from "./terminate.js";

export interface AgentRequest {
  /** A path, or a name to be found on PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Default: `client:<launch id>`. */
  readonly sessionKey?: string;
  readonly cwd?: string;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default: inherited. */
  readonly stdio?: StdioOptions;
  /** In the session of this process, with its terminal lent to the agent; default: in a session of its own. */
  readonly foreground?: boolean;
}

export interface LaunchedAgent {
  /** The wrapper; its stdio is the agent's. Just spawned: attach to its output before anything else is awaited. */
  readonly child: ChildProcess;
  /** As it was written before the spawn. */
  readonly lease: AcpxProcessLease;
  /** The lease once it names the running agent. Rejects with ERR_LAUNCH_REFUSED, and the wrapper is ended then. */
  readonly started: Promise<AcpxProcessLease>;
  /** How the wrapper ended, and what became of the lease. */
  readonly ended: Promise<WayOfEnding & { readonly settlement: Settlement | undefined }>;
  /** TERM, grace, KILL to the whole tree; resolves with what was proven. */
  readonly end: (reason?: string) => Promise<Settlement | undefined>;
}

/**
 * Resolves in the turn of the event loop in which the wrapper was spawned: a host that attached to the output later
 * could miss what a short-lived agent said. Throws LifecycleError ERR_AGENT_COMMAND, ERR_LAUNCH_REFUSED,
 * ERR_WRAPPER_ROOT; nothing was started then.
 */
export async function spawnAgent(
  context: LaunchContext,
  launches: Launches,
  request: AgentRequest,
): Promise<LaunchedAgent> {
  const command = executableOf(request);
  checkDirectory(request.cwd);
  const options = request.foreground === true ? ["--foreground"] : [];
  const args = [...options, "--", command, ...(request.args ?? [])];
  const launchId = randomUUID();
  const wrapper = join(context.wrapperRoot, "acpx-wrapper");
  const sessionKey = request.sessionKey ?? `client:${launchId}`;
  const lease = await launches.prepare({ launchId, sessionKey, command: wrapper, args });
  let spawned: { readonly child: ChildProcess; readonly pid: number };
  try {
    spawned = await spawnWrapper(context, wrapper, args, request);
  } catch (error) {
    await launches.failed(launchId);
    const detail = error instanceof Error ? error.message : String(error);
    throw new LifecycleError("ERR_LAUNCH_REFUSED", `Nothing was started: ${detail}`, { cause: error });
  }
  const { child, pid } = spawned;
  const admitted = launches.admit(launches.pin(launchId, pid));
  const ended = watchEnd(child, admitted, launches, launchId);
  const started = admitted.then(
    async () => (await context.store.load(lease.leaseId)) ?? lease,
    async (error: unknown) => {
      // Not accepted, so no claim was published and no agent runs behind it; it is our own unreaped child.
      child.kill("SIGTERM");
      await ended;
      throw error;
    },
  );
  // Whoever does not care how it started still hears how it ended.
  started.catch(() => undefined);
  const end = async (reason = "ended by its host") => {
    // Until it is admitted the lease names nobody who could be ended.
    await started.catch(() => undefined);
    return await launches.settle(lease.leaseId, reason);
  };
  return { child, lease, started, ended, end };
}

/** Resolves in the turn of the spawn. Arguments that no process can have throw at once, what the kernel refuses later. */
async function spawnWrapper(
  context: LaunchContext,
  wrapper: string,
  args: readonly string[],
  { cwd, env = process.env, stdio = "inherit" }: AgentRequest,
): Promise<{ readonly child: ChildProcess; readonly pid: number }> {
  const child = spawn(wrapper, args, { cwd, env: { ...env, ...context.wrapper.environment }, stdio });
  if (child.pid !== undefined) return { child, pid: child.pid };
  const [error] = (await once(child, "error")) as [Error];
  throw error;
}

/** As acpx does: the end is told only after the admission has settled, however early it comes. */
async function watchEnd(
  child: ChildProcess,
  admitted: Promise<void>,
  launches: Launches,
  launchId: string,
): Promise<WayOfEnding & { settlement: Settlement | undefined }> {
  const way = await new Promise<WayOfEnding>((resolve) => {
    child.once("exit", (code, signal) => {
      resolve({ code, signal });
    });
  });
  await Promise.allSettled([admitted]);
  try {
    return { ...way, settlement: await launches.exited(launchId, way) };
  } catch (error) {
    // Nobody has to listen for this promise; a store that cannot be read must not end a gateway.
    announce({ type: "warning", message: error instanceof Error ? error.message : String(error) });
    return { ...way, settlement: undefined };
  }
}

function executableOf({ command, env }: AgentRequest): string {
  const located = locateExecutable(command, env?.["PATH"] ?? process.env["PATH"]);
  if (located.kind === "found") return located.path;
  const fault = located.kind === "missing" ? "was not found" : "is not executable";
  const remedy =
    located.kind === "missing" ? "Install it or give its full path." : `Run chmod +x ${located.path}.`;
  throw new LifecycleError("ERR_AGENT_COMMAND", `Command "${command}" ${fault}. ${remedy}`);
}

/** The kernel's own answer would blame the wrapper. */
function checkDirectory(cwd: string | undefined): void {
  if (cwd === undefined || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new LifecycleError(
    "ERR_AGENT_COMMAND",
    `The working directory ${cwd} is not there: create it, or give another.`,
  );
}
