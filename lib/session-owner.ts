/**
 * Whose session it is, as a fact on the session's row.
 */
import type { GatewayInstanceId } from "./lease.js";
import { canonicalAgentId, parseSessionKey } from "./session-key.js";

export interface AcpSessionOwner {
  readonly sessionKey: string;
  readonly spawnedBy?: string;
  readonly parentSessionKey?: string;
  readonly ownerSessionKey: string;
  readonly agentId: string;
  readonly backend: "acpx";
  readonly gatewayInstanceId: GatewayInstanceId;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** What a host knows about a new session; relations that are missing or blank are not known. */
export interface AcpSessionOwnerInput {
  readonly sessionKey: string;
  readonly spawnedBy?: string | undefined;
  readonly parentSessionKey?: string | undefined;
  readonly ownerSessionKey?: string | undefined;
  /** Default: the agent that the key names. */
  readonly agentId?: string | undefined;
  readonly gatewayInstanceId: GatewayInstanceId;
  readonly createdAt: number;
}

/**
 * Fills in what follows from the rest: the owner is who spawned the session, else the session itself. Keys keep their
 * spelling; whoever compares them canonicalises. Throws a TypeError that names the field.
 */
export function normalizeAcpSessionOwner(input: AcpSessionOwnerInput): AcpSessionOwner {
  const sessionKey = known("sessionKey", input.sessionKey);
  if (sessionKey === undefined)
    throw new TypeError("sessionKey must be a session key, and is blank or missing.");
  const gatewayInstanceId = known("gatewayInstanceId", input.gatewayInstanceId);
  if (gatewayInstanceId === undefined) throw new TypeError("gatewayInstanceId is blank or missing.");
  if (!Number.isFinite(input.createdAt)) throw new TypeError("createdAt must be a time in milliseconds.");
  const spawnedBy = known("spawnedBy", input.spawnedBy);
  const parentSessionKey = known("parentSessionKey", input.parentSessionKey);
  const parsed = parseSessionKey(sessionKey);
  const agentId =
    canonicalAgentId(known("agentId", input.agentId)) ??
    (parsed.kind === "agent" ? parsed.agentId : undefined);
  if (agentId === undefined)
    throw new TypeError(`agentId is missing, and the key ${sessionKey} names no agent.`);
  return {
    sessionKey,
    ...(spawnedBy === undefined ? {} : { spawnedBy }),
    ...(parentSessionKey === undefined ? {} : { parentSessionKey }),
    ownerSessionKey: known("ownerSessionKey", input.ownerSessionKey) ?? spawnedBy ?? sessionKey,
    agentId,
    backend: "acpx",
    gatewayInstanceId,
    createdAt: input.createdAt,
  };
}

function known(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new TypeError(`${field} must be a string.`);
  return value.trim() || undefined;
}
