/**
 * Which session rows a session may see: one pure decision over one row, the same for list, history, send and status.
 * Everything it needs is on the row or in the question; there is no second query.
 */
import {
  checkedVisibility,
  outcomeFor,
  requesterOf,
  type AccessReason,
  type SessionRow,
  type SessionVisibility,
  type SessionVisibilityContext,
  type SessionVisibilityOptions,
} from "./visibility-decision.js";
import {
  checkedAction,
  denialMessage,
  isDenial,
  type DenialReason,
  type SessionAction,
} from "./visibility-denial.js";
import { rulesOf, type SessionVisibilityPreset } from "./visibility-rules.js";

export {
  createAgentToAgentPolicy,
  type AgentToAgentConfig,
  type AgentToAgentPolicy,
} from "./agent-to-agent.js";
export { canonicalSessionKey, parseSessionKey, type ParsedSessionKey } from "./session-key.js";
export {
  normalizeAcpSessionOwner,
  type AcpSessionOwner,
  type AcpSessionOwnerInput,
} from "./session-owner.js";
export type {
  AccessReason,
  SessionRow,
  SessionVisibility,
  SessionVisibilityContext,
  SessionVisibilityOptions,
} from "./visibility-decision.js";
export type { DenialReason, SessionAction } from "./visibility-denial.js";
export type { SessionVisibilityPreset } from "./visibility-rules.js";

export interface SessionVisibilityInput extends SessionVisibilityContext {
  readonly row: SessionRow;
}

export type SessionRowAccess =
  | { readonly allowed: true; readonly because: AccessReason }
  | { readonly allowed: false; readonly reasonCode: DenialReason; readonly message: string };

/** Throws a TypeError that names the field for input of a wrong type; no string in a row makes it throw. */
export function decideSessionRowAccess(
  input: SessionVisibilityInput & SessionVisibilityOptions & { readonly action: SessionAction },
): SessionRowAccess {
  const action = checkedAction(input.action);
  const outcome = outcomeFor(requesterOf(input), input.row);
  return isDenial(outcome)
    ? { allowed: false, reasonCode: outcome, message: denialMessage(action, outcome) }
    : { allowed: true, because: outcome };
}

export function canSeeSessionRow(input: SessionVisibilityInput & SessionVisibilityOptions): boolean {
  return !isDenial(outcomeFor(requesterOf(input), input.row));
}

/** The visible rows in their order, in one pass. */
export function filterVisibleRows<Row extends SessionRow>(
  input: SessionVisibilityContext & SessionVisibilityOptions & { readonly rows: readonly Row[] },
): Row[] {
  const requester = requesterOf(input);
  return input.rows.filter((row) => !isDenial(outcomeFor(requester, row)));
}

/** What a sandbox leaves of the configured visibility: at most the requester's own tree. */
export function effectiveVisibility(input: {
  readonly configured: SessionVisibility;
  readonly sandboxed: boolean;
  readonly rules?: SessionVisibilityPreset | undefined;
}): SessionVisibility {
  const configured = checkedVisibility("configured", input.configured);
  const sandboxed: unknown = input.sandboxed;
  // Garbage is not read as "not sandboxed".
  if (typeof sandboxed !== "boolean") throw new TypeError("sandboxed must be a boolean.");
  const rules = rulesOf(input.rules);
  if (!sandboxed) return configured;
  return configured === "self" ? rules.sandboxedSelf : "tree";
}
