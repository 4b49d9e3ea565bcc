/**
 * Why a session row stays hidden: a code for programs, and a sentence that names the setting that would change it.
 */
import { oneOf } from "./visibility-rules.js";

/** What the requester wants to do with the row; the decision is the same for all. */
export type SessionAction = "list" | "history" | "send" | "status";

export type DenialReason =
  | "incognito_session"
  | "target_agent_ownership_unavailable"
  | "cross_agent_visibility_restricted"
  | "agent_to_agent_disabled"
  | "agent_to_agent_not_allowed"
  | "self_visibility_restricted"
  | "tree_visibility_restricted";

const SUBJECT = {
  list: "Listing this session",
  history: "Reading this session's history",
  send: "Sending to this session",
  status: "Reading this session's status",
} as const satisfies Record<SessionAction, string>;

const CAUSE = {
  incognito_session: "is refused because it is incognito; no setting changes that.",
  target_agent_ownership_unavailable:
    "is refused because its agent is not known; give the row an agentId, or an owner relation to the requester.",
  cross_agent_visibility_restricted:
    "is refused because it belongs to another agent; tools.sessions.visibility=all would include it.",
  agent_to_agent_disabled:
    "is refused because it belongs to another agent; tools.agentToAgent.enabled=true would include it.",
  agent_to_agent_not_allowed:
    "is refused because tools.agentToAgent.allow does not name both agents; adding them there would include it.",
  self_visibility_restricted:
    "is refused because only the requester's own session is visible; tools.sessions.visibility=tree would include what it owns, agent all of its agent.",
  tree_visibility_restricted:
    "is refused because the requester does not own it; tools.sessions.visibility=agent would include it.",
} as const satisfies Record<DenialReason, string>;

/** Throws a TypeError for an action that is none. */
export function checkedAction(action: unknown): SessionAction {
  return oneOf("action", action, ["list", "history", "send", "status"]);
}

export function denialMessage(action: SessionAction, reason: DenialReason): string {
  return `${SUBJECT[action]} ${CAUSE[reason]}`;
}

export function isDenial(outcome: string): outcome is DenialReason {
  return Object.hasOwn(CAUSE, outcome);
}
