/** The session tools of the reference gateway: four ways to ask, one answer. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Gateway } from "../../examples/demo/gateway.mjs";
import type { SessionRow, SessionRowAccess } from "../../lib/visibility.js";
import { R, sessions, sessionToolsRows } from "../cases/session-tools.js";
import { World } from "./world.js";

const world = new World();

beforeAll(async () => {
  const gateway = await world.gateway();
  for (const session of Object.values(sessions)) await gateway.call("ensure", session);
  await gateway.stop();
});

afterAll(() => world[Symbol.asyncDispose]());

/** Asks in all four ways; answers what they agree on, as one word. */
async function ask(gateway: Gateway, requesterSessionKey: string, sessionKey: string): Promise<string> {
  const question = { requesterSessionKey, sessionKey };
  const list = await gateway.call<{ sessions: SessionRow[] }>("sessions_list", question);
  const [history, status, send] = [
    await gateway.call<SessionRowAccess & { messages?: object[] }>("sessions_history", question),
    await gateway.call<SessionRowAccess & { summary?: string }>("session_status", question),
    await gateway.call<SessionRowAccess>("sessions_send", {
      ...question,
      text: "hello",
      requestId: sessionKey,
    }),
  ];
  const wordOf = (access: SessionRowAccess) => (access.allowed ? access.because : access.reasonCode);
  const [word, ...others] = [...new Set([history, status, send].map(wordOf))];
  expect(others).toEqual([]);
  expect(list.sessions.some(({ key }) => key === sessionKey)).toBe(history.allowed);
  if (history.allowed) {
    expect(history.messages).toBeInstanceOf(Array);
    expect(status).toHaveProperty("summary");
    await gateway.event("turn-ended", ({ requestId }) => requestId === sessionKey);
  } else {
    const messages = [history, status, send].map((access) => (access.allowed ? "" : access.message));
    expect(messages).toEqual([
      expect.stringMatching(/^Reading this session's history is refused because .*\.$/),
      expect.stringMatching(/^Reading this session's status is refused because .*\.$/),
      expect.stringMatching(/^Sending to this session is refused because .*\.$/),
    ]);
    expect(Object.keys(history).toSorted()).toEqual(["allowed", "message", "reasonCode"]);
  }
  return word ?? "";
}

test.each(sessionToolsRows)("$name", async ({ requester, child, other, side, ...row }) => {
  const { visibility, agentToAgent, sandboxed } = row;
  const tools = { sessions: { visibility }, agentToAgent };
  const gateway = await world.gateway([], { tools, sandboxed });
  const sees = {
    child: await ask(gateway, requester, sessions.child.sessionKey),
    other: await ask(gateway, requester, sessions.other.sessionKey),
    side: await ask(gateway, requester, sessions.side.sessionKey),
  };
  expect(sees).toEqual({ child, other, side });
  await gateway.stop();
});

test("what an owner sends arrives in its child's history, what a stranger sends does not", async () => {
  const gateway = await world.gateway();
  const { sessionKey } = sessions.child;
  const send = (requesterSessionKey: string, text: string) =>
    gateway.call("sessions_send", { requesterSessionKey, sessionKey, text, requestId: text });
  await send("agent:ops:main", "from the stranger");
  // The other spelling is the same session.
  await send(" AGENT:Main:MAIN", "from the owner");
  await gateway.event("turn-ended", ({ requestId }) => requestId === "from the owner");
  const history = JSON.stringify(
    await gateway.call("sessions_history", { requesterSessionKey: R, sessionKey: "agent:codex:ACP:child" }),
  );
  expect(history).toContain("from the owner");
  expect(history).not.toContain("from the stranger");
  await gateway.stop();
});

test("a session that is not there gets the same answer as a hidden one", async () => {
  const gateway = await world.gateway();
  const statusOf = (sessionKey: string) =>
    gateway.call("session_status", { requesterSessionKey: "agent:ops:main", sessionKey });
  expect(await statusOf("agent:codex:acp:nowhere")).toEqual(await statusOf(sessions.child.sessionKey));
  await gateway.stop();
});

test("a visibility that is none stops the gateway at its start", async () => {
  await expect(world.gateway([], { tools: { sessions: { visibility: "everything" } } })).rejects.toThrow(
    "configured is everything: give one of self, tree, agent, all.",
  );
});
