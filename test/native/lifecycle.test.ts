import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { ProcessHandle } from "../../lib/native.js";
import { createLeaseStore } from "../../lib/lease-store.js";
import { allGone, isAlive, pin, put } from "../helpers/alive.js";
import { compile } from "../helpers/compile.js";
import { LaunchingGateway, type Launched } from "../helpers/launching-gateway.js";

const family = compile("family");

let stateDir: string;
let wrapperRoot: string;
let base: string;
let pinned: ProcessHandle[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "acpx-lifecycle-"));
  stateDir = join(base, "state");
  wrapperRoot = join(base, "wrappers");
  pinned = [];
});
afterEach(async () => {
  pinned.forEach(put);
  await rm(base, { recursive: true });
});

function pinAll(launched: Launched): ProcessHandle[] {
  const handles = [launched.rootPid, ...Object.values(launched.pids)].map(pin);
  pinned.push(...handles);
  return handles;
}

/** Kept apart from `pinAll` where a test lets one member live. */
function pinned1(pid: number | undefined): ProcessHandle {
  const handle = pin(pid);
  pinned.push(handle);
  return handle;
}

const EVERY_KIND = ["a", "i", "ge", "s", "d", "ds", "ids"];

async function leaseOf(leaseId: string) {
  const lease = await (await createLeaseStore({ stateDir })).load(leaseId);
  if (lease === undefined) throw new Error(`no lease ${leaseId}`);
  return lease;
}

describe("a launch under the wrapper", () => {
  it("is owned from the root to the last double-forked grandchild, children first", async () => {
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, EVERY_KIND);
    pinAll(launched);
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
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, EVERY_KIND);
    const everyone = pinAll(launched);
    const settlement = await gateway.end(launched.leaseId);
    expect(settlement).toMatchObject({ state: "closed", proof: "subreaper", survivors: [] });
    expect(everyone.filter(isAlive)).toEqual([]);
    expect(await leaseOf(launched.leaseId)).toMatchObject({ state: "closed", proof: "subreaper" });
  });

  it("closes its lease by itself when the adapter exits and children stay behind", async () => {
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, ["xi", "s"]);
    const ended = await gateway.ended(launched.leaseId);
    expect(ended).toMatchObject({ code: 0, settlement: { state: "closed", proof: "subreaper" } });
  });

  it("leaves a descendant that asked to be detached, and lists it", async () => {
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, ["a", "Ds"]);
    const detached = pinned1(launched.pids["Ds"]);
    const settlement = await gateway.end(launched.leaseId);
    expect(settlement).toMatchObject({ state: "closed", detached: [{ pid: launched.pids["Ds"] }] });
    expect(isAlive(detached)).toBe(true);
  });

  it("leaves no claim, report or list behind", async () => {
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, ["a", "Ds"]);
    pinned1(launched.pids["Ds"]);
    await gateway.end(launched.leaseId);
    await gateway.ended(launched.leaseId);
    expect(await readdir(join(stateDir, "claims"))).toEqual([]);
  });
});

describe("the gateway is killed", () => {
  it("ends every descendant through the wrapper; a restart settles the lease", async () => {
    const first = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await first.launch(family, EVERY_KIND);
    const everyone = pinAll(launched);
    await first.kill();
    await allGone(everyone);
    await using second = await LaunchingGateway.start(stateDir, wrapperRoot);
    const report = await second.reap();
    expect(report).toMatchObject({
      kind: "swept",
      settled: [{ leaseId: launched.leaseId, state: "lost" }],
      deaths: 0,
    });
  });

  it("and its wrapper too: a restart ends those who carry the lease, however far they went", async () => {
    const first = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await first.launch(family, ["i", "is", "ids"]);
    const survivors = ["i", "is", "ids"].map((letters) => pinned1(launched.pids[letters]));
    const wrapper = pinned1(launched.rootPid);
    const adapter = pinned1(launched.pids["adapter"]);
    wrapper.signal("SIGSTOP");
    await first.kill();
    wrapper.signal("SIGKILL");
    // The adapter goes with its wrapper (parent-death signal); the rest is nobody's child now.
    await allGone([wrapper, adapter]);
    expect(survivors.every(isAlive)).toBe(true);
    await using second = await LaunchingGateway.start(stateDir, wrapperRoot);
    const report = await second.reap();
    expect(report.settled).toMatchObject([{ leaseId: launched.leaseId, state: "closed", proof: "search" }]);
    expect(report.deaths).toBe(3);
    expect(survivors.some(isAlive)).toBe(false);
  });

  it("twin: carriers of a lease that another, living gateway holds are left alone", async () => {
    await using owner = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await owner.launch(family, ["is"]);
    const everyone = pinAll(launched);
    await using other = await LaunchingGateway.start(stateDir, wrapperRoot);
    const report = await other.reap();
    expect(report).toMatchObject({ settled: [], held: [{ leaseId: launched.leaseId }], deaths: 0 });
    expect(everyone.every(isAlive)).toBe(true);
    await owner.end(launched.leaseId);
  });

  it("twin: a gateway of another installation does not even see the lease", async () => {
    const first = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await first.launch(family, ["is"]);
    const survivor = pinned1(launched.pids["is"]);
    const wrapper = pinned1(launched.rootPid);
    wrapper.signal("SIGSTOP");
    await first.kill();
    wrapper.signal("SIGKILL");
    await allGone([wrapper]);
    await using stranger = await LaunchingGateway.start(join(base, "other-state"), wrapperRoot);
    expect(await stranger.reap()).toMatchObject({ settled: [], held: [], deaths: 0 });
    expect(isAlive(survivor)).toBe(true);
  });

  it("a dry run names whom a sweep would end, and ends nobody", async () => {
    const first = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await first.launch(family, ["is"]);
    const survivor = pinned1(launched.pids["is"]);
    const wrapper = pinned1(launched.rootPid);
    wrapper.signal("SIGSTOP");
    await first.kill();
    wrapper.signal("SIGKILL");
    await allGone([wrapper]);
    await using second = await LaunchingGateway.start(stateDir, wrapperRoot);
    const plan = await second.reap({ dryRun: true });
    expect(plan.planned).toMatchObject([{ leaseId: launched.leaseId, pids: [launched.pids["is"]] }]);
    expect(isAlive(survivor)).toBe(true);
    expect((await leaseOf(launched.leaseId)).state).toBe("open");
  });
});

describe("the wrapper is killed while its gateway lives", () => {
  it("the gateway ends the rest at once", async () => {
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, ["i", "is", "ids"]);
    const everyone = pinAll(launched);
    pin(launched.rootPid).signal("SIGKILL");
    const ended = await gateway.ended(launched.leaseId);
    expect(ended).toMatchObject({ signal: "SIGKILL", settlement: { state: "closed", proof: "search" } });
    expect(everyone.filter(isAlive)).toEqual([]);
  });
});
