/**
 * What an agent, a full disk or a stray file can do to a lease: never a signal to the wrong process, and never
 * `closed` while somebody may be left.
 */
import { mkdir, readFile, rm, watch, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { INSTANCE_ID, LEASE_ID } from "../../lib/environment.js";
import { allGone, isAlive } from "../helpers/alive.js";
import { compile } from "../helpers/compile.js";
import { LaunchStage } from "../helpers/launch-stage.js";
import { LaunchingGateway } from "../helpers/launching-gateway.js";

const family = compile("family");

const stage = new LaunchStage();

describe("after the wrapper was killed, the lease is lost and not closed", () => {
  it("while a relative names another lease; it is not signalled", async () => {
    await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await gateway.launch(family, ["a", "io"]);
    const evader = stage.pin(launched.pids["io"]);
    stage.pin(launched.rootPid).signal("SIGKILL");
    const { settlement } = await gateway.ended(launched.leaseId);
    const because = expect.stringContaining("is a relative that names another lease") as string;
    expect(settlement).toMatchObject({ state: "lost", because });
    expect(isAlive(evader)).toBe(true);
  });

  it("twin: with everybody accounted for it is closed", async () => {
    await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
    const launched = await gateway.launch(family, ["a", "ids"]);
    stage.pin(launched.rootPid).signal("SIGKILL");
    const { settlement } = await gateway.ended(launched.leaseId);
    expect(settlement).toMatchObject({ state: "closed", proof: "search" });
  });
});

it("a damaged newer revision takes no live agent out of its gateway's hands", async () => {
  await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
  const launched = await gateway.launch(family, ["i"]);
  const everyone = stage.pinAll(launched);
  await writeFile(stage.path("state", "leases", "open", launched.leaseId, "900.json"), "torn");
  await gateway.end(launched.leaseId);
  await allGone(everyone);
});

it("a report that cannot be written delays a launch and does not hang it", async () => {
  await using gateway = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
  const claims = stage.path("state", "claims");
  const blocked = blockReports(claims);
  const launched = await gateway.launch(family, ["a"]);
  await blocked.stop();
  const [row] = await gateway.status();
  expect(row?.lease).toMatchObject({ adapterPid: launched.pids["adapter"] });
  await gateway.end(launched.leaseId);
});

/** Puts a directory in the way of every report, as soon as its claim appears. */
function blockReports(claims: string): { stop: () => Promise<void> } {
  const abort = new AbortController();
  const blocking = (async () => {
    try {
      for await (const { filename } of watch(claims, { signal: abort.signal })) {
        if (filename !== null && /^\.?\d+\.\d+$/.test(filename))
          await mkdir(join(claims, `${filename.replace(/^\./, "")}.report`)).catch(() => undefined);
      }
    } catch {
      // Aborted.
    }
  })();
  return {
    stop: async () => {
      abort.abort();
      await blocking;
    },
  };
}

it("a gateway that an agent started is no leftover of that agent, nor is its session", async () => {
  const first = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
  const dead = await first.launch(family, ["is"], "agent:test:acp:dead");
  const survivor = stage.pin(dead.pids["is"]);
  const wrapper = stage.pin(dead.rootPid);
  wrapper.signal("SIGSTOP");
  await first.kill();
  wrapper.signal("SIGKILL");
  await allGone([wrapper]);

  const instanceId = (await readFile(stage.path("state", "gateway-instance-id"), "utf8")).trim();
  const inherited = ["env", `${LEASE_ID}=${dead.leaseId}`, `${INSTANCE_ID}=${instanceId}`];
  await using heir = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot, 300, inherited);
  const live = await heir.launch(family, ["a"], "agent:test:acp:live");
  const session = stage.pinAll(live);
  await using sweeper = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
  const report = await sweeper.reap();
  expect(report.deaths).toBe(1);
  expect(isAlive(survivor)).toBe(false);
  expect(session.every(isAlive)).toBe(true);
  expect(isAlive(stage.pin(heir.pid))).toBe(true);
  await heir.end(live.leaseId);
});

it("one lease that cannot be settled keeps no other from being swept", async () => {
  const first = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
  await first.launch(family, ["a"], "agent:test:acp:1");
  await first.launch(family, ["a"], "agent:test:acp:2");
  await first.kill();
  await using second = await LaunchingGateway.start(stage.stateDir, stage.wrapperRoot);
  // What tidying up stumbles over must not lose the report either.
  await rm(stage.path("state", "claims"), { recursive: true });
  await writeFile(stage.path("state", "claims"), "");
  const report = await second.reap();
  expect(report).toMatchObject({ kind: "swept" });
  expect(report.settled).toHaveLength(2);
});
