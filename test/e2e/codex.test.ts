/** The real codex-acp, with an MCP server that will not go. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AcpRuntimeOptions } from "acpx/runtime";
import { createAgentRegistry } from "acpx/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codexCommand, codexHome, type SilentModel, startSilentModel } from "../../examples/demo/codex.mjs";
import { allGone, isAlive } from "../helpers/alive.js";
import { World } from "./world.js";

const KEY = "agent:codex:acp:1";
const ensure = { sessionKey: KEY, agent: "codex", mode: "persistent" } as const;
const mcpServer = fileURLToPath(new URL("../../examples/stubborn-mcp-server.mjs", import.meta.url));
let model: SilentModel;

beforeAll(async () => {
  model = await startSilentModel();
});

afterAll(() => {
  model.stop();
});

function hostOptions(world: World): AcpRuntimeOptions {
  return {
    ...world.hostOptions([]),
    agentRegistry: createAgentRegistry({ overrides: { codex: [...codexCommand] } }),
    agentProcessEnv: codexHome(join(world.directory, "home"), model),
    mcpServers: [{ name: "stubborn", command: process.execPath, args: [mcpServer], env: [] }],
  };
}

test("a turn is cancelled and the session goes on; close ends shim, agent and MCP server", async () => {
  await using world = new World();
  const lifecycle = await world.lifecycle();
  const runtime = world.runtime(lifecycle.runtimeOptions(hostOptions(world)));
  const controller = lifecycle.control(runtime);
  const handle = await controller.ensureSession(ensure);

  const asked = model.asked();
  const turn = world.beginTurn(runtime, handle, "say hello");
  await asked;
  const lease = await world.lease();
  // By the time that codex asks its model, its MCP servers are up: wrapper, shim, agent, server.
  const tree = world.pinAll();
  expect(tree.length).toBe(4);
  const groups = tree.map((member) => member.read([])).map((reading) => reading.ok && reading.value.pgid);
  expect(new Set(groups).size).toBe(3);
  await controller.cancelTurn(handle);
  expect((await turn.result).status).toBe("cancelled");
  expect(tree.map(isAlive)).toEqual([true, true, true, true]);
  expect(await world.lease()).toMatchObject({
    leaseId: lease.leaseId,
    rootPid: lease.rootPid,
    state: "open",
  });

  const verified = await controller.verifyOwnedTree(lease);
  expect(verified?.members.map(({ reading }) => reading.pid).toSorted()).toEqual(
    tree.map(({ pid }) => pid).toSorted(),
  );
  verified?.release();
  await controller.closeSession({ handle });
  await allGone(tree, 0);
  expect(await world.stateOf(lease)).toMatchObject({ state: "closed", proof: "subreaper" });
});

test("a codex session that acpx alone has made goes on behind the wrapper", async () => {
  await using world = new World();
  const host = hostOptions(world);
  const before = world.runtime(host);
  const made = await before.ensureSession(ensure);
  // codex keeps a session that has seen a turn.
  const asked = model.asked();
  const turn = world.beginTurn(before, made, "say hello");
  await asked;
  await turn.cancel();
  expect((await turn.result).status).toBe("cancelled");
  await before.shutdown();

  const lifecycle = await world.lifecycle();
  const runtime = world.runtime(lifecycle.runtimeOptions(host));
  const adopted = await runtime.ensureSession(ensure);
  expect(adopted.backendSessionId).toBe(made.backendSessionId);
  const again = model.asked();
  const resumed = world.beginTurn(runtime, adopted, "and again");
  await again;
  expect(await world.lease()).toMatchObject({ launch: "wrapper", state: "open" });
  await resumed.cancel();
  expect((await resumed.result).status).toBe("cancelled");
  await lifecycle.close({ runtime, handle: adopted });
  expect(world.processes()).toEqual([]);
});
