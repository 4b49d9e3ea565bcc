/**
 * The session tools of the reference gateway: what one session may list, read, send to and ask about. All four put the
 * same question to the same rows. A row says by itself whose it is, so nobody asks a second time for what the
 * requester has spawned.
 */
import {
  canonicalSessionKey,
  createAgentToAgentPolicy,
  decideSessionRowAccess,
  effectiveVisibility,
  filterVisibleRows,
} from "acpx-lifecycle/visibility";

/**
 * `tools`: `{ sessions?: { visibility? }, agentToAgent?: { enabled?, allow? } }`, the settings that refusals name; what
 * is wrong in them shows at start-up. `sandboxed`: keys of the sessions that run in a sandbox. `host`: `rows()` reads
 * the rows of all sessions; `history`, `send` and `status` do what was allowed, and answer an object.
 */
export function sessionTools({ tools = {}, sandboxed = [] }, host) {
  const a2aPolicy = createAgentToAgentPolicy(tools.agentToAgent ?? {});
  const configured = tools.sessions?.visibility ?? "tree";
  const outside = effectiveVisibility({ configured, sandboxed: false });
  const inSandbox = effectiveVisibility({ configured, sandboxed: true });
  const sandboxedKeys = new Set(sandboxed.map(canonicalSessionKey));

  const context = (requesterSessionKey) => ({
    requesterSessionKey,
    visibility: sandboxedKeys.has(canonicalSessionKey(requesterSessionKey)) ? inSandbox : outside,
    a2aPolicy,
  });

  /** Answers the decision, and if it allows the action, what came of it. */
  const guarded = (action, perform) => async (params) => {
    const key = canonicalSessionKey(params.sessionKey);
    const rows = await host.rows();
    // A session that is not there gets the answer of a hidden one: nobody learns from it which of the two it is.
    const row = rows.find((row) => canonicalSessionKey(row.key) === key) ?? { key, agentId: "" };
    const access = decideSessionRowAccess({ ...context(params.requesterSessionKey), action, row });
    return access.allowed ? { ...access, ...(await perform({ ...params, sessionKey: row.key })) } : access;
  };

  return {
    async sessions_list({ requesterSessionKey }) {
      return { sessions: filterVisibleRows({ ...context(requesterSessionKey), rows: await host.rows() }) };
    },
    sessions_history: guarded("history", host.history),
    sessions_send: guarded("send", host.send),
    session_status: guarded("status", host.status),
  };
}
