/** The three intents on real sessions: cancel signals nobody, close ends the session, and detaching does neither. */
import { expect, test } from "vitest";
import { allGone, isAlive } from "../helpers/alive.js";
import { Gate, World } from "./world.js";

const KEY = "agent:fixture:acp:1";
const ensure = { sessionKey: KEY, agent: "fixture", mode: "persistent" } as const;

test.concurrent(
  "three turns, the second cancelled: same process, same lease, not one signal; close then signals",
  async () => {
    await using world = new World();
    const lifecycle = await world.lifecycle();
    const runtime = world.runtime(lifecycle.runtimeOptions(world.hostOptions(world.agent("--stubborn"))));
    const controller = lifecycle.control(runtime);
    const handle = await controller.ensureSession(ensure);
    const lease = await world.lease();
    const tree = world.pinAll();

    expect((await world.turn(runtime, handle, "one")).status).toBe("completed");
    const second = world.beginTurn(runtime, handle, "hang");
    await second.promptStarted;
    await controller.cancelTurn(handle);
    expect(await second.result).toMatchObject({ status: "cancelled" });
    expect((await world.turn(runtime, handle, "three")).status).toBe("completed");

    expect(await world.lease()).toMatchObject({
      leaseId: lease.leaseId,
      rootPid: lease.rootPid,
      state: "open",
    });
    expect(tree.map(isAlive)).toEqual([true, true]);
    expect(world.heard("signal")).toEqual([]);

    await controller.closeSession({ handle });
    expect(world.heard("signal")).toContain("SIGTERM");
    expect(tree.map(isAlive)).toEqual([false, false]);
    expect(await world.stateOf(lease)).toMatchObject({ state: "closed", proof: "subreaper" });
  },
);

test.concurrent.each([{ by: "turn.cancel()" }, { by: "the turn's AbortSignal" }])(
  "cancelled by $by while the spawn is pending: the turn never starts and nothing is killed",
  async ({ by }) => {
    await using world = new World();
    const lifecycle = await world.lifecycle();
    const spawning = new Gate();
    const letSpawn = new Gate();
    const host = world.hostOptions(world.agent());
    const first = world.runtime(lifecycle.runtimeOptions(host));
    await lifecycle.close({ runtime: first, handle: await first.ensureSession(ensure) });

    const runtime = world.runtime(
      lifecycle.runtimeOptions({
        ...host,
        processLifecycle: {
          onBeforeSpawn: async () => {
            spawning.open();
            await letSpawn.opened;
          },
        },
      }),
    );
    const controller = lifecycle.control(runtime);
    const handle = await controller.ensureSession(ensure);
    const abort = new AbortController();
    const turn = world.beginTurn(runtime, handle, "never", abort.signal);
    await spawning.opened;
    if (by === "turn.cancel()") await turn.cancel();
    else abort.abort();
    letSpawn.open();
    expect(await turn.result).toMatchObject({ status: "cancelled" });
    expect(world.heard("session/prompt")).toEqual([]);

    const lease = await world.lease();
    await controller.cancelTurn(handle);
    expect(await world.lease()).toEqual(lease);
    expect(world.pinAll().map(isAlive)).toEqual([true, true]);
    expect((await world.turn(runtime, handle, "now")).status).toBe("completed");
  },
);

const intents: {
  name: string;
  switches: string[];
  act: "dispose" | "cancel" | "close" | "discard";
  alive: boolean;
  lease: string;
  resumes: boolean;
}[] = [
  {
    name: "detaching leaves all as it is",
    switches: [],
    act: "dispose",
    alive: true,
    lease: "open",
    resumes: true,
  },
  {
    name: "cancel leaves all as it is",
    switches: [],
    act: "cancel",
    alive: true,
    lease: "open",
    resumes: true,
  },
  {
    name: "close ends the processes and keeps the session",
    switches: [],
    act: "close",
    alive: false,
    lease: "closed",
    resumes: true,
  },
  {
    name: "discard-close ends the processes and the session",
    switches: [],
    act: "discard",
    alive: false,
    lease: "closed",
    resumes: false,
  },
  {
    name: "discard-close of an agent that cannot close sessions does the same",
    switches: ["--no-close"],
    act: "discard",
    alive: false,
    lease: "closed",
    resumes: false,
  },
];
test.concurrent.each(intents)("$name", async ({ switches, act, alive, lease: state, resumes }) => {
  await using world = new World();
  const lifecycle = await world.lifecycle();
  const runtime = world.runtime(
    lifecycle.runtimeOptions(
      world.hostOptions(world.agent("--children=plain,group,session,daemon", ...switches)),
    ),
  );
  const controller = lifecycle.control(runtime);
  const handle = await controller.ensureSession(ensure);
  const lease = await world.lease();
  const tree = world.pinAll();
  expect(tree.length).toBe(7);

  if (act === "dispose") await lifecycle[Symbol.asyncDispose]();
  else if (act === "cancel") await controller.cancelTurn(handle);
  else await controller.closeSession({ handle, discardPersistentState: act === "discard" });

  expect(tree.map(isAlive)).toEqual(tree.map(() => alive));
  expect((await world.stateOf(lease))?.state).toBe(state);
  const again = await runtime.ensureSession(ensure);
  expect(again.backendSessionId === handle.backendSessionId).toBe(resumes);
});

test.concurrent.each([{ fault: "rejects" }, { fault: "hangs" }])(
  "a runtime whose close $fault: the processes end all the same, and both is told",
  async ({ fault }) => {
    await using world = new World();
    const lifecycle = await world.lifecycle();
    const runtime = world.runtime(
      lifecycle.runtimeOptions(world.hostOptions(world.agent("--children=session"))),
    );
    const handle = await runtime.ensureSession(ensure);
    const tree = world.pinAll();
    const close = () =>
      fault === "rejects" ? Promise.reject(new Error("no close today")) : new Promise<never>(() => undefined);
    const broken = {
      close,
      cancel: runtime.cancel.bind(runtime),
      ensureSession: runtime.ensureSession.bind(runtime),
    };
    const outcome = await lifecycle.close({ runtime: broken, handle });
    await allGone(tree, 0);
    expect(outcome.runtime.kind).toBe(fault === "rejects" ? "failed" : "timed-out");
    expect(outcome.leases.map(({ state }) => state)).toEqual(["closed"]);
    if (fault === "rejects")
      await expect(lifecycle.control(broken).closeSession({ handle })).rejects.toThrow("no close today");
  },
);
