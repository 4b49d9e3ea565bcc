/** A session that acpx alone has made goes on behind the wrapper, and goes on without it again. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./world.js";

const KEY = "agent:fixture:acp:1";
const ensure = { sessionKey: KEY, agent: "fixture", mode: "persistent" } as const;

test.concurrent(
  "a session made before adoption resumes after it, and after a roll-back, with the same backend session",
  async () => {
    await using world = new World();
    const host = world.hostOptions(world.agent());
    const stored = () => {
      const text = readFileSync(
        join(world.directory, "acpx", "sessions", `${encodeURIComponent(KEY)}.json`),
        "utf8",
      );
      const { agent_command, agent_argv } = JSON.parse(text) as Record<string, unknown>;
      return { agent_command, agent_argv };
    };

    const before = world.runtime(host);
    const made = await before.ensureSession(ensure);
    expect((await world.turn(before, made, "before")).status).toBe("completed");
    await before.shutdown();
    expect(await world.leftOpen()).toEqual([]);
    const bare = stored();

    const lifecycle = await world.lifecycle();
    const wrapped = world.runtime(lifecycle.runtimeOptions(host));
    const adopted = await wrapped.ensureSession(ensure);
    expect(adopted.backendSessionId).toBe(made.backendSessionId);
    expect((await world.turn(wrapped, adopted, "after")).status).toBe("completed");
    expect(await world.lease()).toMatchObject({ launch: "wrapper", sessionKey: KEY, state: "open" });
    expect(stored()).toEqual(bare);
    await lifecycle.close({ runtime: wrapped, handle: adopted });

    const after = world.runtime(host);
    const rolledBack = await after.ensureSession(ensure);
    expect(rolledBack.backendSessionId).toBe(made.backendSessionId);
    expect((await world.turn(after, rolledBack, "rolled back")).status).toBe("completed");

    const resumed = world
      .heard("session/resume")
      .map((params) => (params as { sessionId: string }).sessionId);
    expect(resumed).toEqual([made.backendSessionId, made.backendSessionId]);
    expect(world.heard("session/new").length).toBe(1);
  },
);

test.concurrent("without the translation acpx would have begun a new session", async () => {
  await using world = new World();
  const host = world.hostOptions(world.agent());
  const before = world.runtime(host);
  const made = await before.ensureSession(ensure);
  await before.shutdown();

  const lifecycle = await world.lifecycle();
  const { sessionStore } = host;
  const untranslated = world.runtime({ ...lifecycle.runtimeOptions(host), sessionStore });
  const other = await untranslated.ensureSession(ensure);
  expect(other.backendSessionId).not.toBe(made.backendSessionId);
});
