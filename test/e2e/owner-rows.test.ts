import { expect, it } from "vitest";

import { World } from "./world.js";

const PARENT = "agent:main:main";

it("a parent session's reset closes what it spawned and leaves an unrelated session of the same agent", async () => {
  await using world = new World();
  const lifecycle = await world.lifecycle();
  const runtime = world.runtime(lifecycle.runtimeOptions(world.hostOptions(world.agent())));
  const controller = lifecycle.control(runtime);
  const ensure = (sessionKey: string, owner?: { spawnedBy: string }) =>
    controller.ensureSession({ sessionKey, agent: "fixture", mode: "persistent", ...(owner && { owner }) });
  await ensure("agent:fixture:acp:child", { spawnedBy: PARENT });
  await ensure("agent:fixture:acp:other");

  const rows = await lifecycle.sessionRows();
  const child = rows.find(({ key }) => key === "agent:fixture:acp:child");
  const [lease] = await world.openLeases("agent:fixture:acp:child");
  expect(child).toMatchObject({ ownerSessionKey: PARENT, agentId: "fixture", leaseId: lease?.leaseId });

  const outcomes = await lifecycle.closeOwnedBy({ runtime, sessionKey: PARENT, reason: "parent reset" });
  expect(outcomes).toMatchObject([
    { sessionKey: "agent:fixture:acp:child", runtime: { kind: "closed" }, leases: [{ state: "closed" }] },
  ]);
  expect(await world.openLeases("agent:fixture:acp:child")).toEqual([]);
  expect(await lifecycle.status("agent:fixture:acp:other")).toMatchObject([{ verdict: { kind: "owned" } }]);
});
