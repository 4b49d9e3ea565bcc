/**
 * What acpx is given: the host's own options with leases, wrappers and owner rows merged in.
 */
import { join } from "node:path";

import { type AcpProcessLaunch, type AcpProcessLifecycle, type AcpRuntimeOptions } from "./acpx.js";
import { wrapRegistry } from "./agent-registry.js";
import { announce } from "./diagnostics.js";
import type { Launches } from "./launches.js";
import { wrapSessionStore } from "./session-store.js";

export interface MergeRequest {
  readonly agents?: readonly string[];
  readonly wrapperRoot: string;
  /** What a wrapper must find in its environment. */
  readonly environment: Readonly<Record<string, string>>;
}

export function mergedRuntimeOptions<O extends AcpRuntimeOptions>(
  options: O,
  launches: Launches,
  { agents, wrapperRoot, environment }: MergeRequest,
): O {
  const agentRegistry = wrapRegistry(options.agentRegistry, {
    ...(agents === undefined ? {} : { agents }),
    wrapperPathFor: (name) => join(wrapperRoot, name),
  });
  const store = wrapSessionStore(options.sessionStore, agentRegistry);
  return {
    ...options,
    // ACP terminals are children of the gateway that no hook sees: nothing here could own them.
    terminal: options.terminal ?? false,
    agentRegistry,
    agentProcessEnv: { ...options.agentProcessEnv, ...environment },
    sessionStore: {
      load: (sessionId: string) => store.load(sessionId),
      save: async (record: Parameters<O["sessionStore"]["save"]>[0]) => {
        await store.save(record);
        if (record.name !== undefined) await noteSeen(launches, record.name);
      },
    },
    processLifecycle: mergedHooks(launches, options.processLifecycle),
  };
}

/** The session's record is saved; that its agent was alive just now is worth a note, and no failure of the save. */
async function noteSeen(launches: Launches, sessionKey: string): Promise<void> {
  try {
    await launches.noteSeen(sessionKey);
  } catch (error) {
    announce({ type: "warning", message: error instanceof Error ? error.message : String(error) });
  }
}

/** Ours around the host's: the pin comes before anything is awaited, and the host hears of an end at once. */
function mergedHooks(launches: Launches, host: AcpProcessLifecycle = {}): AcpProcessLifecycle {
  return {
    onBeforeSpawn: async (launch) => {
      await host.onBeforeSpawn?.(launch);
      const { launchId, command, args } = launch;
      await launches.prepare({ launchId, command, args, sessionKey: sessionKeyOf(launch) });
    },
    onSpawned: async (started) => {
      const pinned = launches.pin(started.launchId, started.pid);
      await host.onSpawned?.(started);
      await launches.admit(pinned);
    },
    onSpawnFailed: async (failure) => {
      await Promise.all([launches.failed(failure.launchId), host.onSpawnFailed?.(failure)]);
    },
    onExit: async (exit) => {
      const { launchId, exitCode, signal } = exit;
      await Promise.all([launches.exited(launchId, { code: exitCode, signal }), host.onExit?.(exit)]);
    },
  };
}

/** Processes that acpx starts outside any session still get a lease, under a key of their own. */
function sessionKeyOf({ scope, launchId }: AcpProcessLaunch): string {
  switch (scope.kind) {
    case "runtime-session":
      return scope.sessionKey;
    case "runtime-probe":
      return `probe:${scope.agent}`;
    case "client":
      return `client:${launchId}`;
  }
}
