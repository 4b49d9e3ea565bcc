/** An agent without a wrapper: nobody adopts its orphans, so whoever was proven must be followed to the end. */
import { expect, test } from "vitest";
import { isAlive } from "../helpers/alive.js";
import { World } from "./world.js";

const KEY = "agent:fixture:acp:1";
const ensure = { sessionKey: KEY, agent: "fixture", mode: "persistent" } as const;

test.concurrent(
  "stubborn children end, although their parent ends first and leaves them behind",
  async () => {
    await using world = new World();
    const lifecycle = await world.lifecycle();
    const host = world.hostOptions(world.agent("--children=plain,group,session"));
    const runtime = world.runtime(lifecycle.runtimeOptions(host, { agents: [] }));
    const handle = await runtime.ensureSession(ensure);
    expect(await world.lease()).toMatchObject({ launch: "direct" });
    const tree = world.pinAll();
    expect(tree.length).toBe(5);

    // acpx ends descendants by itself, where it is asked.
    const silent = { close: () => Promise.resolve() };
    const outcome = await lifecycle.close({ runtime: silent, handle });
    expect(tree.some(isAlive)).toBe(false);
    expect(outcome.leases).toMatchObject([{ state: "closed", proof: "search", survivors: [] }]);
  },
);

test.concurrent("its family is not followed beyond those who ask to be left alone", async () => {
  await using world = new World();
  const lifecycle = await world.lifecycle();
  const host = world.hostOptions(world.agent("--children=plain,opted-out"));
  const runtime = world.runtime(lifecycle.runtimeOptions(host, { agents: [] }));
  const handle = await runtime.ensureSession(ensure);
  const tree = world.pinAll();

  const outcome = await lifecycle.close({ runtime: { close: () => Promise.resolve() }, handle });
  expect(tree.filter(isAlive).length).toBe(1);
  expect(outcome.leases).toMatchObject([{ state: "closed" }]);
});
