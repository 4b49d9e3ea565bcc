/**
 * Who sees which of three sessions through a gateway: `child` is codex's and was spawned by R, `other` is codex's own,
 * `side` is an unrelated session of R's agent.
 */
import type {
  AccessReason,
  AgentToAgentConfig,
  DenialReason,
  SessionVisibility,
} from "../../lib/visibility.js";

type Outcome = AccessReason | DenialReason;

export interface SessionToolsRow {
  readonly name: string;
  /** Default: the gateway's, which is tree. */
  readonly visibility?: SessionVisibility;
  /** Default: the gateway's, which is disabled. */
  readonly agentToAgent?: AgentToAgentConfig;
  readonly sandboxed?: readonly string[];
  readonly requester: string;
  readonly child: Outcome;
  readonly other: Outcome;
  readonly side: Outcome;
}

export const R = "agent:main:main";
export const sessions = {
  child: { sessionKey: "agent:codex:acp:child", owner: { spawnedBy: R } },
  other: { sessionKey: "agent:codex:acp:other" },
  side: { sessionKey: "agent:main:acp:side" },
} as const;
const STRANGER = "agent:ops:main";

export const sessionToolsRows: readonly SessionToolsRow[] = [
  {
    name: "under self a requester sees nothing but itself",
    visibility: "self",
    requester: R,
    child: "cross_agent_visibility_restricted",
    other: "cross_agent_visibility_restricted",
    side: "self_visibility_restricted",
  },
  {
    name: "under tree, which is the default, a requester sees its own child of another agent",
    requester: R,
    child: "owned",
    other: "cross_agent_visibility_restricted",
    side: "tree_visibility_restricted",
  },
  {
    name: "under agent as well, and the sessions of its agent",
    visibility: "agent",
    requester: R,
    child: "owned",
    other: "cross_agent_visibility_restricted",
    side: "same_agent",
  },
  {
    name: "under all as well, although agents may not see each other",
    visibility: "all",
    agentToAgent: { enabled: false },
    requester: R,
    child: "owned",
    other: "agent_to_agent_disabled",
    side: "same_agent",
  },
  {
    name: "under tree a stranger sees none of them",
    visibility: "tree",
    requester: STRANGER,
    child: "cross_agent_visibility_restricted",
    other: "cross_agent_visibility_restricted",
    side: "cross_agent_visibility_restricted",
  },
  {
    name: "under all a stranger sees none of them either, while agents may not see each other",
    visibility: "all",
    requester: STRANGER,
    child: "agent_to_agent_disabled",
    other: "agent_to_agent_disabled",
    side: "agent_to_agent_disabled",
  },
  {
    name: "when agents may see each other, a stranger sees those of the agents on the list",
    visibility: "all",
    agentToAgent: { enabled: true, allow: ["ops", "codex"] },
    requester: STRANGER,
    child: "agent_to_agent",
    other: "agent_to_agent",
    side: "agent_to_agent_not_allowed",
  },
  {
    name: "in a sandbox all is no more than tree",
    visibility: "all",
    agentToAgent: { enabled: true },
    sandboxed: ["Agent:Main:Main"],
    requester: R,
    child: "owned",
    other: "cross_agent_visibility_restricted",
    side: "tree_visibility_restricted",
  },
  {
    name: "a child sees itself, and not its sibling",
    requester: sessions.child.sessionKey,
    child: "own",
    other: "tree_visibility_restricted",
    side: "cross_agent_visibility_restricted",
  },
];
