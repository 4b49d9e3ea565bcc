/**
 * The decision behind session visibility: what is the same for all rows is worked out once, then each row gets one word.
 */
import type { AgentToAgentPolicy } from "./agent-to-agent.js";
import {
  canonicalAgentId,
  canonicalSessionKey,
  isAcpOrSubagentKey,
  isIncognitoSessionKey,
  isMalformedSessionKey,
  parseSessionKey,
} from "./session-key.js";
import type { DenialReason } from "./visibility-denial.js";
import {
  oneOf,
  rulesOf,
  type SessionVisibilityPreset,
  type SessionVisibilityRules,
} from "./visibility-rules.js";

export type SessionVisibility = "self" | "tree" | "agent" | "all";
export type AccessReason = "own" | "owned" | "same_agent" | "agent_to_agent" | "main_session";

export interface SessionRow {
  readonly key: string;
  /** Wins over the agent that the key names. */
  readonly agentId: string;
  readonly ownerSessionKey?: string | undefined;
  readonly spawnedBy?: string | undefined;
  readonly parentSessionKey?: string | undefined;
}

/** Who asks, and under which configuration. */
export interface SessionVisibilityContext {
  readonly requesterSessionKey: string;
  readonly visibility: SessionVisibility;
  readonly a2aPolicy: AgentToAgentPolicy;
}

/** What a host may know besides. */
export interface SessionVisibilityOptions {
  /** Wins over the agent that the requester's key names. */
  readonly requesterAgentId?: string | undefined;
  /** The agent of unscoped keys (`main`, `global`, `unknown`) whose row names none. */
  readonly defaultAgentId?: string | undefined;
  /** The session that the installation declares to be its main one. */
  readonly mainSessionKey?: string | undefined;
  /** Default: `seed`. */
  readonly rules?: SessionVisibilityPreset | undefined;
}

/** Everything about the requester that is the same for all rows. */
export interface Requester {
  readonly key: string;
  /** As owner fields have to spell it. */
  readonly ownerKey: string;
  readonly agentId: string | undefined;
  readonly isMain: boolean;
  readonly visibility: SessionVisibility;
  readonly a2aPolicy: AgentToAgentPolicy;
  readonly defaultAgentId: string | undefined;
  readonly rules: SessionVisibilityRules;
}

/** Throws a TypeError that names the field. */
export function requesterOf(context: SessionVisibilityContext & SessionVisibilityOptions): Requester {
  const { a2aPolicy, mainSessionKey } = context;
  const requesterSessionKey = checkedKey("requesterSessionKey", context.requesterSessionKey);
  if (requesterSessionKey.trim() === "") throw new TypeError("requesterSessionKey is blank.");
  if (!isPolicy(a2aPolicy))
    throw new TypeError("a2aPolicy must be a policy as createAgentToAgentPolicy makes it.");
  const rules = rulesOf(context.rules);
  const key = canonicalSessionKey(requesterSessionKey);
  const defaultAgentId = canonicalAgentId(context.defaultAgentId);
  return {
    key,
    ownerKey: rules.ownerKeys === "raw" ? requesterSessionKey : key,
    agentId: canonicalAgentId(context.requesterAgentId) ?? agentOfKey(key, defaultAgentId),
    isMain: typeof mainSessionKey === "string" && canonicalSessionKey(mainSessionKey) === key,
    visibility: checkedVisibility("visibility", context.visibility),
    a2aPolicy,
    defaultAgentId,
    rules,
  };
}

/** A bare word, so that a denied row costs no object. */
export function outcomeFor(requester: Requester, row: SessionRow): AccessReason | DenialReason {
  const { visibility, rules } = requester;
  const key = canonicalSessionKey(checkedKey("row.key", row.key));
  const isOwn = key === requester.key;
  if (isIncognitoSessionKey(key) && !(isOwn && rules.ownIncognitoVisible)) return "incognito_session";
  if (isOwn) return "own";

  const agentId = agentOfRow(requester, key, row);
  const isSameAgent = agentId !== undefined && agentId === requester.agentId;
  if (ownershipCounts(requester, key, isSameAgent) && isOwnedBy(requester, row)) return "owned";
  if (agentId === undefined) return "target_agent_ownership_unavailable";
  if (!isSameAgent) return acrossAgents(requester, agentId);
  switch (visibility) {
    case "self":
      return "self_visibility_restricted";
    case "tree":
      return rules.mainSeesItsAgent && requester.isMain ? "main_session" : "tree_visibility_restricted";
    case "agent":
    case "all":
      return "same_agent";
  }
}

function acrossAgents(
  { visibility, a2aPolicy, agentId }: Requester,
  target: string,
): AccessReason | DenialReason {
  if (visibility !== "all") return "cross_agent_visibility_restricted";
  if (!a2aPolicy.enabled) return "agent_to_agent_disabled";
  // A requester of no known agent is on nobody's list, not even on one that names everybody.
  if (agentId === undefined || !a2aPolicy.isAllowed(agentId, target)) return "agent_to_agent_not_allowed";
  return "agent_to_agent";
}

function ownershipCounts({ visibility, rules }: Requester, key: string, isSameAgent: boolean): boolean {
  if (visibility === "self" || (visibility === "agent" && !rules.ownedInAgentMode)) return false;
  return isSameAgent || rules.ownableAcrossAgents === "all" || isAcpOrSubagentKey(key);
}

/** Direct relations only: what my child spawned is mine if its row says so. */
function isOwnedBy(requester: Requester, row: SessionRow): boolean {
  return (
    names(requester, row.ownerSessionKey) ||
    names(requester, row.spawnedBy) ||
    names(requester, row.parentSessionKey)
  );
}

function names({ rules, ownerKey }: Requester, relation: unknown): boolean {
  if (typeof relation !== "string") return false;
  return (
    relation === ownerKey || (rules.ownerKeys === "canonical" && canonicalSessionKey(relation) === ownerKey)
  );
}

/** A malformed key has no agent, whatever else the row says. */
function agentOfRow({ defaultAgentId }: Requester, key: string, row: SessionRow): string | undefined {
  if (isMalformedSessionKey(key)) return undefined;
  return canonicalAgentId(row.agentId) ?? agentOfKey(key, defaultAgentId);
}

function agentOfKey(key: string, defaultAgentId: string | undefined): string | undefined {
  const parsed = parseSessionKey(key);
  switch (parsed.kind) {
    case "agent":
      return parsed.agentId;
    case "unscoped":
      return defaultAgentId;
    case "malformed":
      return undefined;
  }
}

const MODES = ["self", "tree", "agent", "all"] as const satisfies readonly SessionVisibility[];

export function checkedVisibility(field: string, value: unknown): SessionVisibility {
  return oneOf(field, value, MODES);
}

function checkedKey(field: string, value: unknown): string {
  if (typeof value !== "string") throw new TypeError(`${field} must be a string, a session key.`);
  return value;
}

function isPolicy(value: unknown): value is AgentToAgentPolicy {
  return (
    typeof value === "object" &&
    value !== null &&
    "isAllowed" in value &&
    typeof value.isAllowed === "function"
  );
}
