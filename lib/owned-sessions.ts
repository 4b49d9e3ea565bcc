/**
 * Whose session each is: rows written when a session is ensured, read when somebody asks what they may see or what
 * ends with its owner.
 */
import { announce } from "./diagnostics.js";
import type { GatewayInstanceId } from "./lease.js";
import { canonicalSessionKey } from "./session-key.js";
import { normalizeAcpSessionOwner, type AcpSessionOwner } from "./session-owner.js";
import type { AcpSessionRow } from "./session-row-format.js";
import type { SessionRows } from "./session-rows.js";
import type { SessionRelation } from "./session-relation.js";

export interface OwnedSessions {
  /**
   * Writes the row, then starts the session; a row that this call created goes again when the session does not come
   * to be. What an existing row says stays, unless `owner` says otherwise.
   */
  ensure<T>(
    input: {
      readonly sessionKey: string;
      readonly agent: string;
      readonly owner?: SessionRelation | undefined;
    },
    start: () => Promise<T>,
  ): Promise<T>;
  /** The session runs under this lease now. */
  noteLease(sessionKey: string, leaseId: string): Promise<void>;
  /** Follows ownerSessionKey and spawnedBy; the parent in a thread of sessions owns nothing by that. */
  ownedBy(sessionKey: string): Promise<readonly AcpSessionRow[]>;
  list(): Promise<readonly AcpSessionRow[]>;
  forget(sessionKey: string): Promise<void>;
}

export function ownedSessions(rows: SessionRows, gatewayInstanceId: GatewayInstanceId): OwnedSessions {
  const ownerOf = (
    { sessionKey, agent, owner }: { sessionKey: string; agent: string; owner?: SessionRelation | undefined },
    known: AcpSessionRow | undefined,
  ): AcpSessionOwner =>
    normalizeAcpSessionOwner({
      spawnedBy: known?.spawnedBy,
      parentSessionKey: known?.parentSessionKey,
      ownerSessionKey: owner?.spawnedBy === undefined ? known?.ownerSessionKey : undefined,
      ...owner,
      sessionKey,
      // An ACP key that names no agent belongs to the agent that is started for it.
      agentId: known?.agentId ?? (sessionKey.trim().toLowerCase().startsWith("agent:") ? undefined : agent),
      gatewayInstanceId,
      createdAt: known?.createdAt ?? Date.now(),
    });

  return {
    async ensure(input, start) {
      const known = await rows.get(input.sessionKey);
      await rows.change(input.sessionKey, (known) => {
        const owner = ownerOf(input, known);
        return known?.leaseId === undefined ? owner : { ...owner, leaseId: known.leaseId };
      });
      try {
        return await start();
      } catch (error) {
        if (known === undefined) await rows.remove(input.sessionKey);
        throw error;
      }
    },
    async noteLease(sessionKey, leaseId) {
      try {
        await rows.change(sessionKey, (row) => row && { ...row, leaseId });
      } catch (error) {
        // Who looks for the lease finds it by the session key as well; no launch fails for this.
        const message = error instanceof Error ? error.message : String(error);
        announce({ type: "warning", leaseId, message });
      }
    },
    async ownedBy(sessionKey) {
      const owner = canonicalSessionKey(sessionKey);
      const names = (key: string | undefined) => key !== undefined && canonicalSessionKey(key) === owner;
      const all = await rows.list();
      return all.filter(
        (row) => !names(row.sessionKey) && (names(row.ownerSessionKey) || names(row.spawnedBy)),
      );
    },
    list: () => rows.list(),
    forget: (sessionKey) => rows.remove(sessionKey),
  };
}
