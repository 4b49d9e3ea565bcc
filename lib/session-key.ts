/**
 * Session keys: `agent:<agentId>:<rest>`, or one of the few names that belong to no agent by themselves.
 */

export type ParsedSessionKey =
  | { readonly kind: "agent"; readonly agentId: string; readonly rest: string }
  /** Has an agent only if somebody says so. */
  | { readonly kind: "unscoped"; readonly name: "global" | "unknown" | "main" }
  | { readonly kind: "malformed" };

const SCOPED = /^agent:([^:]*[^:\s][^:]*):(.+)$/is;
const UNSCOPED = /^(?:global|unknown|main)$/i;
const KNOWN_HEAD = /^(?:(?:acp|subagent)(?=:)|main(?=:|$))/i;
/** Certainly canonical already: a known head in lower case, or a letter that begins none. Spares most keys a rebuild. */
const CANONICAL = /^agent:[a-z0-9._-]+:(?:(?:acp|subagent):|main(?::|$)|[^asmASM])/;
/** Likewise for agent ids: lower-casing one makes a copy, even of a lower-case one. */
const CANONICAL_AGENT_ID = /^[a-z0-9._-]+$/;
const INCOGNITO = /^agent:[^:]+:(?:dashboard|subagent|internal-session-effects):incognito-/i;
const ACP_OR_SUBAGENT = /^agent:[^:]+:(?:acp|subagent):/i;

/**
 * The one spelling in which keys are compared: trimmed; prefix, agent id and the heads `acp:`, `subagent:` and `main`
 * in lower case, the rest as it is. A malformed key is only trimmed: it equals nothing but itself.
 */
export function canonicalSessionKey(key: string): string {
  const trimmed = key.trim();
  if (CANONICAL.test(trimmed)) return trimmed;
  if (UNSCOPED.test(trimmed)) return trimmed.toLowerCase();
  const [, agentId, rest] = SCOPED.exec(trimmed) ?? [];
  if (agentId === undefined || rest === undefined) return trimmed;
  return `agent:${agentId.toLowerCase()}:${rest.replace(KNOWN_HEAD, (head) => head.toLowerCase())}`;
}

/** Never throws on a string. Without an agent id or a rest a key is malformed, never "some default agent's". */
export function parseSessionKey(key: string): ParsedSessionKey {
  const canonical = canonicalSessionKey(key);
  if (canonical === "global" || canonical === "unknown" || canonical === "main") {
    return { kind: "unscoped", name: canonical };
  }
  const [, agentId, rest] = SCOPED.exec(canonical) ?? [];
  if (agentId === undefined || rest === undefined) return { kind: "malformed" };
  return { kind: "agent", agentId, rest };
}

/** Whether a canonical key names neither an agent nor one of the unscoped sessions. */
export function isMalformedSessionKey(canonical: string): boolean {
  return !CANONICAL.test(canonical) && !SCOPED.test(canonical) && !UNSCOPED.test(canonical);
}

/** Agent ids are compared trimmed and in lower case; blank means that none was given. */
export function canonicalAgentId(agentId: unknown): string | undefined {
  if (typeof agentId !== "string") return undefined;
  if (CANONICAL_AGENT_ID.test(agentId)) return agentId;
  return agentId.trim().toLowerCase() || undefined;
}

/** The canonical key of a session that leaves no trace: session tools never show it. */
export function isIncognitoSessionKey(canonical: string): boolean {
  return INCOGNITO.test(canonical);
}

/** The canonical key of a session that one agent starts for another. */
export function isAcpOrSubagentKey(canonical: string): boolean {
  return ACP_OR_SUBAGENT.test(canonical);
}
