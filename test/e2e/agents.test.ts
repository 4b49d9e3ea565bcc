/** Agents that need more than one process to start, and agents that cannot be started at all. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgentRegistry } from "acpx/runtime";
import { expect, test } from "vitest";
import type { AcpxProcessLease } from "../../lib/lease.js";
import { World } from "./world.js";

test.concurrent(
  "gemini is asked for its version through the wrapper, which has none; then it starts",
  async ({ expect }) => {
    await using world = new World();
    const program = join(world.directory, "gemini");
    const words = world.agent().map((word) => `'${word}'`);
    writeFileSync(program, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`);
    chmodSync(program, 0o755);
    const lifecycle = await world.lifecycle();
    const launched: string[] = [];
    const probes: Promise<AcpxProcessLease | undefined>[] = [];
    const runtime = world.runtime(
      lifecycle.runtimeOptions({
        ...world.hostOptions([]),
        agentRegistry: createAgentRegistry({ overrides: { gemini: [program, "--acp"] } }),
        processLifecycle: {
          onBeforeSpawn: ({ command, args }) => {
            launched.push([command, ...args].join(" "));
          },
          onSpawned: async ({ args }) => {
            if (args[0] === "--version") probes.push(world.ended(await world.lease()));
          },
        },
      }),
    );
    const wrapper = join(lifecycle.wrapperRoot, "gemini");
    const handle = await runtime.ensureSession({ sessionKey: "g", agent: "gemini", mode: "persistent" });
    expect(launched).toEqual([`${wrapper} --version`, `${wrapper} -- ${program} --acp`]);
    const [probe] = await Promise.all(probes);
    // Lost when it had ended before anybody could read who it was.
    expect(probe?.state).toMatch(/^(?:closed|lost)$/u);
    expect(await world.lease()).toMatchObject({ wrapperPath: wrapper, launch: "wrapper", state: "open" });
    await lifecycle.close({ runtime, handle });
    expect(await world.leftOpen()).toEqual([]);
    expect(world.processes()).toEqual([]);
  },
);

test.concurrent("a health probe runs under a lease of its own and leaves nothing", async () => {
  await using world = new World();
  const lifecycle = await world.lifecycle();
  const ended: Promise<AcpxProcessLease | undefined>[] = [];
  const runtime = world.runtime(
    lifecycle.runtimeOptions({
      ...world.hostOptions(world.agent("--children=session")),
      probeAgent: "fixture",
      processLifecycle: {
        onSpawned: async () => {
          ended.push(world.ended(await world.lease()));
        },
      },
    }),
  );
  expect(await runtime.doctor()).toMatchObject({ ok: true });
  expect(await Promise.all(ended)).toMatchObject([{ sessionKey: "probe:fixture", state: "closed" }]);
  expect(world.processes()).toEqual([]);
});

test.concurrent.each([
  {
    what: "an unknown agent",
    agent: "no-such-agent",
    message: /neither an agent of the registry nor a command/u,
  },
  { what: "a program that is missing", agent: "missing", message: /no-such-program.*is not installed/u },
  { what: "a file that may not be executed", agent: "locked", message: /is not executable.*chmod/u },
])("$what: one error that names it, and nothing was started", async ({ agent, message }) => {
  await using world = new World();
  const locked = join(world.directory, "locked");
  writeFileSync(locked, "", { mode: 0o644 });
  const lifecycle = await world.lifecycle();
  const runtime = world.runtime(
    lifecycle.runtimeOptions({
      ...world.hostOptions([]),
      agentRegistry: createAgentRegistry({ overrides: { missing: ["/no-such-program"], locked: [locked] } }),
    }),
  );
  const refused = lifecycle.control(runtime).ensureSession({ sessionKey: "s", agent, mode: "persistent" });
  await expect(refused).rejects.toMatchObject({ code: "ERR_AGENT_COMMAND" });
  await expect(refused).rejects.toThrow(message);
  expect(await world.leftOpen()).toEqual([]);
  expect(world.processes()).toEqual([]);
});
