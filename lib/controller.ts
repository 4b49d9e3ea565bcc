/**
 * The lifecycle as a controller of one runtime: the five methods, and nothing of what happened but errors.
 */
import type { AcpRuntime, AcpRuntimeEnsureInput, AcpRuntimeHandle } from "./acpx.js";
import type { AcpxProcessLease } from "./lease.js";
import type { OwnedSessions } from "./owned-sessions.js";
import type { OwnedProcessTree } from "./ownership.js";
import type { CloseOutcome, CloseRequest } from "./session-close.js";
import type { SessionRelation } from "./session-relation.js";

/** The five methods of an ACP host's lifecycle controller. */
export interface AcpxLifecycleController<E extends AcpRuntimeEnsureInput = AcpRuntimeEnsureInput> {
  /** `owner`: whose session it is; default: what its row says already, else its own. */
  ensureSession(input: E & { owner?: SessionRelation }): Promise<AcpRuntimeHandle>;
  /** Asks for the turn to stop; signals nobody. */
  cancelTurn(handle: AcpRuntimeHandle, reason?: string): Promise<void>;
  /** Ends the session's processes, then rejects with the runtime's own error if its close failed. */
  closeSession(input: {
    handle: AcpRuntimeHandle;
    discardPersistentState?: boolean;
    reason?: string;
  }): Promise<void>;
  reapStartupOrphans(): Promise<void>;
  /** The live tree with its proofs, children first, or null; release it after use. */
  verifyOwnedTree(lease: AcpxProcessLease): Promise<OwnedProcessTree | null>;
}

/** What a controller stands on. */
export interface Controlled extends Pick<OwnedSessions, "ensure"> {
  close(request: CloseRequest): Promise<CloseOutcome>;
  reap(): Promise<unknown>;
  verifyOwnedTree(lease: AcpxProcessLease): Promise<OwnedProcessTree | null>;
}

export function controllerOf<E extends AcpRuntimeEnsureInput>(
  runtime: AcpRuntime<E>,
  lifecycle: Controlled,
): AcpxLifecycleController<E> {
  return {
    ensureSession: async ({ owner, ...input }) => {
      const { sessionKey, agent } = input;
      return await lifecycle.ensure({ sessionKey, agent, owner }, () =>
        runtime.ensureSession(input as unknown as E),
      );
    },
    cancelTurn: async (handle, reason) => {
      await runtime.cancel({ handle, ...(reason === undefined ? {} : { reason }) });
    },
    closeSession: async (input) => {
      const outcome = await lifecycle.close({ runtime, ...input });
      if (outcome.runtime.kind === "failed") throw outcome.runtime.error;
    },
    reapStartupOrphans: async () => {
      await lifecycle.reap();
    },
    verifyOwnedTree: (lease) => lifecycle.verifyOwnedTree(lease),
  };
}
