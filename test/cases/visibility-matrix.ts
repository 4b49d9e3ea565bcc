/**
 * The whole matrix: Y is visible, n is not. Eight columns: self, tree, agent, all with agent-to-agent access disabled,
 * then the same four with it enabled for everyone. `sandboxed`: the same columns for a sandboxed requester.
 *
 * The requester is `agent:main:main`, which is not declared to be the main session.
 */
const R = "agent:main:main";
const subagent = { key: "agent:main:subagent:1", agentId: "main" };
const acp = { key: "agent:codex:acp:1", agentId: "codex" };
const other = { key: "agent:codex:telegram:1", agentId: "codex" };

export const matrix = [
  {
    name: "the requester's own row",
    row: { key: R, agentId: "main" },
    seed: "YYYY YYYY",
    release: "YYYY YYYY",
    sandboxed: { seed: "YYYY YYYY", release: "YYYY YYYY" },
  },
  {
    name: "a row of the same agent",
    row: subagent,
    seed: "nnYY nnYY",
    release: "nnYY nnYY",
    sandboxed: { seed: "nnnn nnnn", release: "nnnn nnnn" },
  },
  {
    name: "an owned row of the same agent",
    row: { ...subagent, ownerSessionKey: R },
    seed: "nYYY nYYY",
    release: "nYYY nYYY",
    sandboxed: { seed: "nYYY nYYY", release: "YYYY YYYY" },
  },
  {
    name: "an acp row of another agent",
    row: acp,
    seed: "nnnn nnnY",
    release: "nnnn nnnY",
    sandboxed: { seed: "nnnn nnnn", release: "nnnn nnnn" },
  },
  {
    name: "a spawned acp row of another agent",
    row: { ...acp, spawnedBy: R },
    seed: "nYYY nYYY",
    release: "nYnY nYnY",
    sandboxed: { seed: "nYYY nYYY", release: "YYYY YYYY" },
  },
  {
    name: "an owned row of another agent that is neither acp nor subagent",
    row: { ...other, ownerSessionKey: R },
    seed: "nYYY nYYY",
    release: "nnnn nnnY",
    sandboxed: { seed: "nYYY nYYY", release: "nnnn nnnn" },
  },
  {
    name: "an acp row of another agent that a third session owns",
    row: { ...acp, ownerSessionKey: "agent:ops:main" },
    seed: "nnnn nnnY",
    release: "nnnn nnnY",
    sandboxed: { seed: "nnnn nnnn", release: "nnnn nnnn" },
  },
  {
    name: "an owned incognito row",
    row: { key: "agent:main:subagent:incognito-1", agentId: "main", ownerSessionKey: R },
    seed: "nnnn nnnn",
    release: "nnnn nnnn",
    sandboxed: { seed: "nnnn nnnn", release: "nnnn nnnn" },
  },
  {
    name: "a row of nobody's agent",
    row: { key: "global", agentId: "" },
    seed: "nnnn nnnn",
    release: "nnnn nnnn",
    sandboxed: { seed: "nnnn nnnn", release: "nnnn nnnn" },
  },
] as const;
