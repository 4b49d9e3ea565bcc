/**
 * What this package knows of acpx, by structure: acpx itself is never imported.
 */
import type { SessionCommandRecord, SessionStore } from "./session-store.js";

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
