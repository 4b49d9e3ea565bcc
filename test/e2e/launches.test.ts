/** Many launches under one session: none ends another's process, and close ends all. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import type { AcpProcessLaunch, AcpProcessLifecycle } from "../../lib/acpx.js";
import { open } from "../../lib/native.js";
import { isAlive } from "../helpers/alive.js";
import { World } from "./world.js";

const KEY = "agent:fixture:acp:1";
const ensure = { sessionKey: KEY, agent: "fixture", mode: "persistent" } as const;

async function opened(world: World, ...switches: string[]) {
  const lifecycle = await world.lifecycle();
  const runtime = world.runtime(lifecycle.runtimeOptions(world.hostOptions(world.agent(...switches))));
  return { lifecycle, runtime, controller: lifecycle.control(runtime) };
}

test.concurrent(
  "the wrapper killed five times, the session goes on each time, two turns at once",
  async () => {
    await using world = new World();
    const { runtime, controller } = await opened(world, "--children=plain,session");
    for (let round = 0; round < 5; round += 1) {
      const handle = await controller.ensureSession(ensure);
      const both = await Promise.all([
        world.turn(runtime, handle, "one"),
        world.turn(runtime, handle, "two"),
      ]);
      expect(both.map(({ status }) => status)).toEqual(["completed", "completed"]);
      const lease = await world.lease();
      const tree = world.pinAll();
      expect(tree.length).toBe(4);
      const ended = world.ended(lease);
      const wrapper = tree.find(({ pid }) => pid === lease.rootPid);
      wrapper?.signal("SIGKILL");
      await Promise.all(tree.map((handle) => handle.exited()));
      expect(await ended).toMatchObject({ state: "closed", proof: "search" });
    }
    const handle = await controller.ensureSession(ensure);
    expect((await world.turn(runtime, handle, "last")).status).toBe("completed");
    await controller.closeSession({ handle });
    expect(await world.leftOpen()).toEqual([]);
    expect(world.processes()).toEqual([]);
  },
);

test.concurrent("two oneshots under one key at once: the end of one leaves the other alone", async () => {
  await using world = new World();
  const { runtime, controller } = await opened(world, "--children=session");
  const oneshot = { ...ensure, mode: "oneshot" } as const;
  const first = await controller.ensureSession(oneshot);
  const hanging = world.beginTurn(runtime, first, "hang");
  await hanging.promptStarted;
  const tree = world.pinAll();
  const lease = await world.lease();

  const second = await controller.ensureSession(oneshot);
  expect((await world.turn(runtime, second, "two")).status).toBe("completed");
  expect(tree.map(isAlive)).toEqual([true, true, true]);
  expect(await world.lease()).toMatchObject({ leaseId: lease.leaseId, state: "open" });

  await controller.cancelTurn(first);
  expect((await hanging.result).status).toBe("cancelled");
  expect(await world.leftOpen()).toEqual([]);
  expect(world.processes()).toEqual([]);
});

test.concurrent.each([
  { what: "setting the mode of an idle session", discard: false },
  { what: "a discard-close of an idle session", discard: true },
])("$what starts a process of its own, and it is gone afterwards", async ({ discard }) => {
  await using world = new World();
  const { lifecycle, runtime, controller } = await opened(world, "--children=session");
  await lifecycle.close({ runtime, handle: await controller.ensureSession(ensure) });
  const handle = await controller.ensureSession(ensure);
  expect(world.processes()).toEqual([]);
  if (discard) await controller.closeSession({ handle, discardPersistentState: true });
  else await runtime.setMode({ handle, mode: "ask" });
  expect(world.heard(discard ? "session/close" : "session/set_mode").length).toBe(1);
  expect(await world.leftOpen()).toEqual([]);
  expect(world.processes()).toEqual([]);
});

test.concurrent(
  "an agent that never answers initialize: ten attempts fail in time and leave nothing",
  async () => {
    await using world = new World();
    const lifecycle = await world.lifecycle();
    const host = world.hostOptions(world.agent("--silent", "--stubborn"), { timeoutMs: 500 });
    const runtime = world.runtime(lifecycle.runtimeOptions(host));
    const controller = lifecycle.control(runtime);
    const attempts = Array.from({ length: 10 }, (_, attempt) =>
      controller.ensureSession({ ...ensure, sessionKey: `${KEY}:${attempt}` }),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.map(({ status }) => status)).toEqual(attempts.map(() => "rejected"));
    expect(await world.leftOpen()).toEqual([]);
    expect(world.processes()).toEqual([]);
  },
);

/** The hooks as acpx would call them, for one launch of `command`. */
async function hooksOf(world: World, launchId: string) {
  const lifecycle = await world.lifecycle();
  const { processLifecycle } = lifecycle.runtimeOptions(world.hostOptions(world.agent()));
  const launch: AcpProcessLaunch = {
    launchId,
    scope: { kind: "runtime-session", sessionKey: KEY },
    command: "/bin/sleep",
    args: ["600"],
    cwd: world.workDir,
  };
  const at = new Date().toISOString();
  return {
    hooks: processLifecycle as Required<AcpProcessLifecycle>,
    launch,
    started: (pid: number) => ({ ...launch, pid, startedAt: at }),
    exit: (pid: number) => ({ ...launch, pid, startedAt: at, exitCode: 0, signal: null, exitedAt: at }),
    failure: { ...launch, error: new Error("no such program"), failedAt: at },
  };
}

test.concurrent("the spawn fails after the lease was written: the lease is lost, once", async () => {
  await using world = new World();
  const { hooks, launch, failure } = await hooksOf(world, "fails");
  await hooks.onBeforeSpawn(launch);
  const lease = await world.lease();
  expect(lease).toMatchObject({ rootPid: 0, state: "open", launch: "direct", sessionKey: KEY });
  await hooks.onSpawnFailed(failure);
  const ended = await world.stateOf(lease);
  expect(ended?.state).toBe("lost");
  await hooks.onSpawnFailed(failure);
  expect(await world.stateOf(lease)).toEqual(ended);
});

test.concurrent(
  "the process has ended and was waited for before the spawn is reported: the lease ends, once",
  async () => {
    await using world = new World();
    const { hooks, launch, started, exit } = await hooksOf(world, "early");
    await hooks.onBeforeSpawn(launch);
    const lease = await world.lease();
    const child = spawn("/bin/true");
    await once(child, "exit");
    const pid = child.pid ?? 0;
    await hooks.onSpawned(started(pid));
    await hooks.onExit(exit(pid));
    const ended = await world.stateOf(lease);
    expect(ended?.state).toMatch(/^(?:closed|lost)$/u);
    await hooks.onExit(exit(pid));
    expect(await world.stateOf(lease)).toEqual(ended);
  },
);

test.concurrent(
  "an exit that is told twice ends the lease once, and a spawn told afterwards is refused",
  async () => {
    await using world = new World();
    const { hooks, launch, started, exit } = await hooksOf(world, "twice");
    await hooks.onBeforeSpawn(launch);
    const child = spawn("/bin/sleep", ["600"]);
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    await hooks.onSpawned(started(pid));
    const lease = await world.lease();
    expect(lease).toMatchObject({ rootPid: pid, state: "open" });
    child.kill("SIGKILL");
    await once(child, "exit");
    await Promise.all([hooks.onExit(exit(pid)), hooks.onExit(exit(pid))]);
    const ended = await world.stateOf(lease);
    expect(ended?.state).toBe("closed");
    await expect(hooks.onSpawned(started(pid))).rejects.toMatchObject({ code: "ERR_LAUNCH_REFUSED" });
    expect(await world.stateOf(lease)).toEqual(ended);
  },
);

test.concurrent("a process that is no child of this one is never taken for a launch", async () => {
  await using world = new World();
  const { hooks, launch, started } = await hooksOf(world, "foreign");
  await hooks.onBeforeSpawn(launch);
  const shell = spawn("sh", ["-c", "sleep 600 & echo $!; wait"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(shell.stdout, "data")) as [Buffer];
  const stranger = open(Number(line));
  if (!stranger.ok) throw new Error("the stranger is gone");
  await expect(hooks.onSpawned(started(stranger.value.pid))).rejects.toMatchObject({
    code: "ERR_LAUNCH_REFUSED",
  });
  expect(isAlive(stranger.value)).toBe(true);
  stranger.value.signal("SIGKILL");
  stranger.value.close();
  await once(shell, "exit");
});
