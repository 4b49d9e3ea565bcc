import type { AccessReason, DenialReason, SessionRow, SessionVisibility } from "../../lib/visibility.js";

type Outcome = AccessReason | DenialReason;

export interface SampleRow {
  readonly name: string;
  /** Default: R, `agent:main:main`. */
  readonly requester?: string;
  readonly row: Partial<SessionRow> & { readonly key: string };
  readonly mode: SessionVisibility;
  /** Default: off. A list is the allow list of an enabled policy. */
  readonly a2a?: "off" | readonly string[];
  readonly sandboxed?: true;
  readonly main?: string;
  readonly requesterAgentId?: string;
  readonly defaultAgentId?: string;
  readonly seed: Outcome;
  /** Under preset `openclaw-2026.9`, where that differs. */
  readonly release?: Outcome;
}

const R = "agent:main:main";
const direct = { key: "agent:main:telegram:direct:42" };
const subagent = { key: "agent:main:subagent:7" };
const acp = { key: "agent:codex:acp:1" };
const spawned = { ...acp, spawnedBy: R };
const everyone: readonly string[] = [];

export const samples: readonly SampleRow[] = [
  // The table of the contract.
  { name: "own row", row: { key: R }, mode: "self", seed: "own" },
  {
    name: "same-agent direct message under self",
    row: direct,
    mode: "self",
    a2a: everyone,
    seed: "self_visibility_restricted",
  },
  {
    name: "same-agent direct message under tree",
    row: direct,
    mode: "tree",
    a2a: everyone,
    seed: "tree_visibility_restricted",
  },
  { name: "same-agent direct message under agent", row: direct, mode: "agent", seed: "same_agent" },
  {
    name: "the declared main looks at its agent under tree",
    row: direct,
    mode: "tree",
    main: R,
    seed: "tree_visibility_restricted",
    release: "main_session",
  },
  {
    name: "own subagent under self",
    row: { ...subagent, spawnedBy: R },
    mode: "self",
    seed: "self_visibility_restricted",
  },
  { name: "own subagent under tree", row: { ...subagent, spawnedBy: R }, mode: "tree", seed: "owned" },
  {
    name: "same-agent subagent of another session",
    row: { ...subagent, spawnedBy: "agent:main:other" },
    mode: "tree",
    a2a: everyone,
    seed: "tree_visibility_restricted",
  },
  {
    name: "grandchild spawned by my subagent",
    row: { key: "agent:main:subagent:8", spawnedBy: subagent.key },
    mode: "tree",
    seed: "tree_visibility_restricted",
  },
  {
    name: "grandchild whose row says that it is mine",
    row: { key: "agent:main:subagent:8", spawnedBy: subagent.key, ownerSessionKey: R },
    mode: "tree",
    seed: "owned",
  },
  {
    name: "dashboard with me as parent",
    row: { key: "agent:main:dashboard:1", parentSessionKey: R },
    mode: "tree",
    seed: "owned",
  },
  {
    name: "own cross-agent acp under self",
    row: spawned,
    mode: "self",
    a2a: everyone,
    seed: "cross_agent_visibility_restricted",
  },
  { name: "own cross-agent acp under tree, a2a off", row: spawned, mode: "tree", seed: "owned" },
  {
    name: "own cross-agent acp under agent",
    row: spawned,
    mode: "agent",
    a2a: everyone,
    seed: "owned",
    release: "cross_agent_visibility_restricted",
  },
  { name: "own cross-agent acp under all, a2a off", row: spawned, mode: "all", seed: "owned" },
  {
    name: "cross-agent main spawned by me",
    row: { key: "agent:codex:main", spawnedBy: R },
    mode: "tree",
    seed: "owned",
    release: "cross_agent_visibility_restricted",
  },
  {
    name: "cross-agent acp of a third session, a2a off",
    row: { ...acp, spawnedBy: "agent:ops:main" },
    mode: "all",
    seed: "agent_to_agent_disabled",
  },
  {
    name: "cross-agent acp of a third session, both allowed",
    row: { ...acp, spawnedBy: "agent:ops:main" },
    mode: "all",
    a2a: ["main", "codex"],
    seed: "agent_to_agent",
  },
  {
    name: "other agent's main under agent",
    row: { key: "agent:ops:main" },
    mode: "agent",
    a2a: everyone,
    seed: "cross_agent_visibility_restricted",
  },
  {
    name: "other agent's main, which is not on the list",
    row: { key: "agent:ops:main" },
    mode: "all",
    a2a: ["main"],
    seed: "agent_to_agent_not_allowed",
  },
  {
    name: "other agent's main, empty list",
    row: { key: "agent:ops:main" },
    mode: "all",
    a2a: everyone,
    seed: "agent_to_agent",
  },
  {
    name: "malformed key",
    row: { key: "agent::x" },
    mode: "all",
    a2a: everyone,
    seed: "target_agent_ownership_unavailable",
  },
  {
    name: "a child looks at its parent",
    requester: acp.key,
    row: { key: R },
    mode: "tree",
    seed: "cross_agent_visibility_restricted",
  },
  {
    name: "a child looks at its sibling",
    requester: acp.key,
    row: { key: "agent:codex:acp:2", spawnedBy: R },
    mode: "tree",
    seed: "tree_visibility_restricted",
  },
  { name: "sandboxed, own cross-agent acp", row: spawned, mode: "all", sandboxed: true, seed: "owned" },
  {
    name: "sandboxed, unrelated row of the same agent",
    row: direct,
    mode: "all",
    sandboxed: true,
    a2a: everyone,
    seed: "tree_visibility_restricted",
  },
  {
    name: "the row's agent wins over its key",
    row: { key: "agent:main:foo", agentId: "ops" },
    mode: "all",
    seed: "agent_to_agent_disabled",
  },

  // Sandbox
  {
    name: "sandboxed with configured self, own subagent",
    row: { ...subagent, spawnedBy: R },
    mode: "self",
    sandboxed: true,
    seed: "self_visibility_restricted",
    release: "owned",
  },

  // Incognito
  {
    name: "another's incognito row",
    row: { key: "agent:main:dashboard:incognito-1" },
    mode: "all",
    seed: "incognito_session",
  },
  {
    name: "an owned incognito row",
    row: { key: "agent:main:subagent:incognito-1", ownerSessionKey: R },
    mode: "tree",
    seed: "incognito_session",
  },
  {
    name: "an incognito row in capitals",
    row: { key: "AGENT:Main:Internal-Session-Effects:INCOGNITO-1", ownerSessionKey: R },
    mode: "all",
    seed: "incognito_session",
  },
  {
    name: "the requester's own incognito row",
    requester: "agent:main:dashboard:incognito-1",
    row: { key: "agent:main:dashboard:incognito-1" },
    mode: "self",
    seed: "own",
    release: "incognito_session",
  },
  {
    name: "incognito in the wrong place is an ordinary name",
    row: { key: "agent:main:telegram:incognito-1" },
    mode: "agent",
    seed: "same_agent",
  },

  // Keys
  { name: "own row in another spelling", row: { key: "  AGENT:Main:MAIN " }, mode: "self", seed: "own" },
  {
    name: "the rest of a key keeps its case",
    requester: "agent:main:telegram:Abc",
    row: { key: "agent:main:telegram:abc" },
    mode: "self",
    seed: "self_visibility_restricted",
  },
  {
    name: "an owner key in another spelling",
    row: { ...acp, spawnedBy: "Agent:MAIN:main" },
    mode: "tree",
    seed: "owned",
    release: "cross_agent_visibility_restricted",
  },
  {
    name: "an agent id in another spelling",
    row: { key: "agent:main:x", agentId: " MAIN " },
    mode: "agent",
    seed: "same_agent",
  },
  {
    name: "a key that is no session key, although the row names an agent",
    row: { key: "agent:main", agentId: "main" },
    mode: "all",
    a2a: everyone,
    seed: "target_agent_ownership_unavailable",
  },
  {
    name: "a malformed key that is owned",
    row: { key: "agent::x", ownerSessionKey: R },
    mode: "tree",
    seed: "owned",
    release: "target_agent_ownership_unavailable",
  },
  {
    name: "a malformed key is the requester's own",
    requester: "agent::x",
    row: { key: "agent::x" },
    mode: "self",
    seed: "own",
  },
  {
    name: "an unscoped row without any agent",
    row: { key: "global" },
    mode: "all",
    a2a: everyone,
    seed: "target_agent_ownership_unavailable",
  },
  {
    name: "an unscoped row of the default agent",
    row: { key: "main" },
    mode: "agent",
    defaultAgentId: "main",
    seed: "same_agent",
  },
  {
    name: "an unscoped row whose agent is named",
    row: { key: "unknown", agentId: "main" },
    mode: "agent",
    seed: "same_agent",
  },
  {
    name: "the requester's agent wins over its key",
    row: { key: "agent:ops:x" },
    mode: "agent",
    requesterAgentId: "ops",
    seed: "same_agent",
  },
  {
    name: "a requester of no known agent is allowed nowhere, even if everyone is",
    requester: "global",
    row: { key: "agent:ops:x" },
    mode: "all",
    a2a: everyone,
    seed: "agent_to_agent_not_allowed",
  },
  {
    name: "blank relations relate to nobody",
    row: { ...acp, spawnedBy: "", ownerSessionKey: " ", parentSessionKey: "" },
    mode: "tree",
    seed: "cross_agent_visibility_restricted",
  },
  {
    name: "a cycle: the row owns me and I own the row",
    requester: subagent.key,
    row: { key: R, ownerSessionKey: subagent.key, spawnedBy: R },
    mode: "tree",
    seed: "owned",
  },
];
