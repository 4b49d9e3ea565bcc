/**
 * Which agents may look into each other's sessions.
 */
import { rulesOf, type SessionVisibilityPreset } from "./visibility-rules.js";

export interface AgentToAgentPolicy {
  readonly enabled: boolean;
  /** Whether the list of allowed agents names this one. */
  matchesAllow(agentId: string): boolean;
  /** An agent may always see its own sessions; others only when enabled, and when both are on the list. */
  isAllowed(requesterAgentId: string, targetAgentId: string): boolean;
}

export interface AgentToAgentConfig {
  /** Preset `seed`: exactly `true` enables; a misread configuration must not open anything. */
  readonly enabled?: unknown;
  /**
   * Agent ids, exact, or patterns in which `*` stands for anything (those ignore case). Missing or empty: everyone.
   * A blank entry matches nobody.
   */
  readonly allow?: readonly string[] | undefined;
  readonly rules?: SessionVisibilityPreset | undefined;
}

export function createAgentToAgentPolicy({
  enabled,
  allow = [],
  rules,
}: AgentToAgentConfig): AgentToAgentPolicy {
  if (!Array.isArray(allow)) throw new TypeError("allow must be an array of agent ids or patterns.");
  const strict = rulesOf(rules).agentToAgentEnabled === "exactly-true";
  const isEnabled = strict ? enabled === true : enabled !== false;
  const matchers = (allow as readonly unknown[]).map(matcherOf);
  const matchesAllow = (agentId: string) =>
    matchers.length === 0 || matchers.some((matches) => matches(agentId));
  return {
    enabled: isEnabled,
    matchesAllow,
    isAllowed: (requester, target) =>
      requester === target || (isEnabled && matchesAllow(requester) && matchesAllow(target)),
  };
}

function matcherOf(entry: unknown, index: number): (agentId: string) => boolean {
  if (typeof entry !== "string")
    throw new TypeError(`allow[${index}] must be a string: an agent id or a pattern.`);
  const pattern = entry.trim();
  if (pattern === "") return () => false;
  if (!pattern.includes("*")) return (agentId) => agentId === pattern;
  const [head = "", ...parts] = pattern.toLowerCase().split(/\*+/);
  const tail = parts.pop() ?? "";
  return (agentId) => matchesGlob(agentId.toLowerCase(), head, parts, tail);
}

/** Taking each part at its first occurrence is enough, and never goes back: no pattern makes it slow. */
function matchesGlob(text: string, head: string, parts: readonly string[], tail: string): boolean {
  if (!text.startsWith(head) || !text.endsWith(tail)) return false;
  let from = head.length;
  for (const part of parts) {
    const found = text.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return from + tail.length <= text.length;
}
