import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";

import { createLeaseStore } from "../../lib/lease-store.js";
import { allGone, isAlive } from "../helpers/alive.js";
import { compile } from "../helpers/compile.js";
import { LaunchStage } from "../helpers/launch-stage.js";
import { LaunchingGateway } from "../helpers/launching-gateway.js";

const family = compile("family");

const stage = new LaunchStage();

const EVERY_KIND = ["a", "i", "ge", "s", "d", "ds", "ids"];

async function leaseOf(leaseId: string) {
  const lease = await (await createLeaseStore({ stateDir: stage.stateDir })).load(leaseId);
  if (lease === undefined) throw new Error(`no lease ${leaseId}`);
  return lease;
}

describe("a launch under the wrapper", () => {
  it("is owned from the root to the last double-forked grandchild, children first", async () => {
    await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await gateway.launch(family, EVERY_KIND);
    stage.pinAll(launched);
    const [row] = await gateway.status();
    expect(row?.verdict.kind).toBe("owned");
    const pids = row?.members.map(({ pid }) => pid) ?? [];
    expect(new Set(pids)).toEqual(new Set([launched.rootPid, ...Object.values(launched.pids)]));
    expect(pids.at(-1)).toBe(launched.rootPid);
    expect(pids.at(-2)).toBe(launched.pids["adapter"]);
    expect(row?.lease).toMatchObject({
      adapterPid: launched.pids["adapter"],
      state: "open",
      launch: "wrapper",
    });
    await gateway.end(launched.leaseId);
  });

  it("ends whole by `end`, with the subreaper's word for it", async () => {
    await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await gateway.launch(family, EVERY_KIND);
    const everyone = stage.pinAll(launched);
    const settlement = await gateway.end(launched.leaseId);
    expect(settlement).toMatchObject({ state: "closed", proof: "subreaper", survivors: [] });
    expect(everyone.filter(isAlive)).toEqual([]);
    expect(await leaseOf(launched.leaseId)).toMatchObject({ state: "closed", proof: "subreaper" });
  });

  it("closes its lease by itself when the adapter exits and children stay behind", async () => {
    await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await gateway.launch(family, ["xi", "s"]);
    const ended = await gateway.ended(launched.leaseId);
    expect(ended).toMatchObject({ code: 0, settlement: { state: "closed", proof: "subreaper" } });
  });

  it("leaves a descendant that asked to be detached, and lists it", async () => {
    await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await gateway.launch(family, ["a", "Ds"]);
    const detached = stage.pin(launched.pids["Ds"]);
    const settlement = await gateway.end(launched.leaseId);
    expect(settlement).toMatchObject({ state: "closed", detached: [{ pid: launched.pids["Ds"] }] });
    expect(isAlive(detached)).toBe(true);
  });

  it("leaves no claim, report or list behind", async () => {
    await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await gateway.launch(family, ["a", "Ds"]);
    stage.pin(launched.pids["Ds"]);
    await gateway.end(launched.leaseId);
    await gateway.ended(launched.leaseId);
    expect(await readdir(stage.path("state", "claims"))).toEqual([]);
  });
});

describe("the gateway is killed", () => {
  it("ends every descendant through the wrapper; a restart settles the lease", async () => {
    const first = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await first.launch(family, EVERY_KIND);
    const everyone = stage.pinAll(launched);
    await first.kill();
    await allGone(everyone);
    await using second = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const report = await second.reap();
    expect(report).toMatchObject({
      kind: "swept",
      settled: [{ leaseId: launched.leaseId, state: "lost" }],
      deaths: 0,
    });
  });

  it("and its wrapper too: a restart ends those who carry the lease, however far they went", async () => {
    const first = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await first.launch(family, ["i", "is", "ids"]);
    const survivors = ["i", "is", "ids"].map((letters) => stage.pin(launched.pids[letters]));
    const wrapper = stage.pin(launched.rootPid);
    const adapter = stage.pin(launched.pids["adapter"]);
    wrapper.signal("SIGSTOP");
    await first.kill();
    wrapper.signal("SIGKILL");
    // The adapter goes with its wrapper (parent-death signal); the rest is nobody's child now.
    await allGone([wrapper, adapter]);
    expect(survivors.every(isAlive)).toBe(true);
    await using second = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const report = await second.reap();
    expect(report.settled).toMatchObject([{ leaseId: launched.leaseId, state: "closed", proof: "search" }]);
    expect(report.deaths).toBe(3);
    expect(survivors.some(isAlive)).toBe(false);
  });

  it("twin: carriers of a lease that another, living gateway holds are left alone", async () => {
    await using owner = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await owner.launch(family, ["is"]);
    const everyone = stage.pinAll(launched);
    await using other = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const report = await other.reap();
    expect(report).toMatchObject({ settled: [], held: [{ leaseId: launched.leaseId }], deaths: 0 });
    expect(everyone.every(isAlive)).toBe(true);
    await owner.end(launched.leaseId);
  });

  it("twin: a gateway of another installation does not even see the lease", async () => {
    const first = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await first.launch(family, ["is"]);
    const survivor = stage.pin(launched.pids["is"]);
    const wrapper = stage.pin(launched.rootPid);
    wrapper.signal("SIGSTOP");
    await first.kill();
    wrapper.signal("SIGKILL");
    await allGone([wrapper]);
    await using stranger = await LaunchingGateway.start(stage.path("other-state"), stage.wrapperRoot);
    expect(await stranger.reap()).toMatchObject({ settled: [], held: [], deaths: 0 });
    expect(isAlive(survivor)).toBe(true);
  });

  it("a dry run names whom a sweep would end, and ends nobody", async () => {
    const first = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await first.launch(family, ["is"]);
    const survivor = stage.pin(launched.pids["is"]);
    const wrapper = stage.pin(launched.rootPid);
    wrapper.signal("SIGSTOP");
    await first.kill();
    wrapper.signal("SIGKILL");
    await allGone([wrapper]);
    await using second = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const plan = await second.reap({ dryRun: true });
    expect(plan.planned).toMatchObject([{ leaseId: launched.leaseId, pids: [launched.pids["is"]] }]);
    expect(isAlive(survivor)).toBe(true);
    expect((await leaseOf(launched.leaseId)).state).toBe("open");
  });
});

describe("the wrapper is killed while its gateway lives", () => {
  it("the gateway ends the rest at once", async () => {
    await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await gateway.launch(family, ["i", "is", "ids"]);
    const everyone = stage.pinAll(launched);
    stage.pin(launched.rootPid).signal("SIGKILL");
    const ended = await gateway.ended(launched.leaseId);
    expect(ended).toMatchObject({ signal: "SIGKILL", settlement: { state: "closed", proof: "search" } });
    expect(everyone.filter(isAlive)).toEqual([]);
  });
});
