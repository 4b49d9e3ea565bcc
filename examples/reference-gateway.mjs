/**
 * A small ACP gateway: the real acpx runtime with this package around it, driven by one JSON object a line.
 *
 *   node examples/reference-gateway.mjs '{"stateDir": "...", "wrapperRoot": "...", "agents": {"codex": ["codex-acp"]}}'
 *   > {"id": 1, "method": "ensure", "params": {"sessionKey": "agent:codex:acp:1", "agent": "codex"}}
 *   < {"id": 1, "result": {"backendSessionId": "..."}}
 *
 * Lines without an id are events: `ready`, `turn-ended`, `lifecycle`. The end of stdin is a quiet stop: agents go on
 * until their wrappers see this process end.
 */
import { subscribe } from "node:diagnostics_channel";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createAcpRuntime, createAgentRegistry, createFileSessionStore } from "acpx/runtime";
import { DIAGNOSTICS_CHANNEL, openAcpxLifecycle } from "acpx-lifecycle";
import { sessionTools } from "./session-tools.mjs";

const config = JSON.parse(process.argv[2] ?? "{}");
const { stateDir, wrapperRoot, termGraceMs, cwd = process.cwd(), agents = {}, mcpServers = [] } = config;

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
subscribe(DIAGNOSTICS_CHANNEL, (message) => say({ event: "lifecycle", ...message }));

const lifecycle = await openAcpxLifecycle({ stateDir, wrapperRoot, termGraceMs });
const sessionStore = createFileSessionStore({ stateDir: join(stateDir, "sessions") });
const runtime = createAcpRuntime(
  lifecycle.runtimeOptions({
    cwd,
    sessionStore,
    agentRegistry: createAgentRegistry({ overrides: agents }),
    agentProcessEnv: config.agentEnv ?? {},
    mcpServers,
    permissionMode: config.permissionMode ?? "deny-all",
    timeoutMs: config.timeoutMs ?? 30_000,
    ...(config.terminal === undefined ? {} : { terminal: config.terminal }),
  }),
);
const controller = lifecycle.control(runtime);
const handles = new Map();

/** The handle of a session, also of one that another gateway process has made. */
async function handleOf({ sessionKey, agent = "codex" }) {
  const known = handles.get(sessionKey) ?? (await runtime.findSession({ sessionKey, agent }));
  if (!known) throw new Error(`there is no session ${sessionKey}: ensure it first`);
  return known;
}

const methods = {
  /** `owner`: whose session it is, such as `{ spawnedBy: "agent:main:main" }`. */
  async ensure({ sessionKey, agent = "codex", mode = "persistent", owner }) {
    const handle = await controller.ensureSession({ sessionKey, agent, mode, owner });
    handles.set(sessionKey, handle);
    return handle;
  },

  /** Answers when the agent has the prompt; how the turn ends is told by the event `turn-ended`. */
  async turn({ sessionKey, agent, text, requestId }) {
    const turn = runtime.startTurn({
      handle: await handleOf({ sessionKey, agent }),
      text,
      mode: "prompt",
      requestId,
    });
    void turn.result.then((result) => say({ event: "turn-ended", requestId, result }));
    await turn.promptStarted;
    return {};
  },

  async cancel(params) {
    await controller.cancelTurn(await handleOf(params), params.reason);
    return {};
  },

  async close(params) {
    const { discardPersistentState, reason } = params;
    const outcome = await lifecycle.close({
      runtime,
      handle: await handleOf(params),
      ...(discardPersistentState === undefined ? {} : { discardPersistentState }),
      ...(reason === undefined ? {} : { reason }),
    });
    handles.delete(params.sessionKey);
    return outcome;
  },

  /** Every open lease with its verdict and the processes that are provably its own, children first. */
  async status({ sessionKey }) {
    const statuses = await lifecycle.status(sessionKey);
    return await Promise.all(
      statuses.map(async ({ lease, verdict }) => {
        const tree = await lifecycle.verifyOwnedTree(lease);
        const members = tree?.members.map(({ reading, proof }) => ({ ...reading, basis: proof.basis })) ?? [];
        tree?.release();
        return { lease, verdict: { kind: verdict.kind, because: verdict.because }, members };
      }),
    );
  },

  reap: (options) => lifecycle.reap(options),

  /** `requesterSessionKey`: the session on whose behalf the line was written; this gateway believes it. */
  ...sessionTools(config, {
    rows: () => lifecycle.sessionRows(),
    async history(params) {
      const { acpxRecordId } = await handleOf(params);
      const record = await sessionStore.load(acpxRecordId);
      return { messages: record?.messages ?? [] };
    },
    send: (params) => methods.turn(params),
    status: async (params) => await runtime.getStatus({ handle: await handleOf(params) }),
  }),
};

createInterface({ input: process.stdin })
  .on("line", (line) => void answer(JSON.parse(line)))
  .on("close", () => void stop());

async function answer({ id, method, params = {} }) {
  try {
    say({ id, result: await methods[method](params) });
  } catch (error) {
    say({ id, error: { code: error.code, message: error.message } });
  }
}

async function stop() {
  await lifecycle[Symbol.asyncDispose]();
  process.exit(0);
}

say({ event: "ready", pid: process.pid, gatewayInstanceId: lifecycle.gatewayInstanceId });
