/**
 * What an agent, a full disk or a stray file can do to a lease: never a signal to the wrong process, and never
 * `closed` while somebody may be left.
 */
import { mkdir, mkdtemp, readFile, rm, watch, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { INSTANCE_ID, LEASE_ID } from "../../lib/environment.js";
import type { ProcessHandle } from "../../lib/native.js";
import { allGone, isAlive, pin, put } from "../helpers/alive.js";
import { compile } from "../helpers/compile.js";
import { LaunchingGateway } from "../helpers/launching-gateway.js";

const family = compile("family");

let base: string;
let stateDir: string;
let wrapperRoot: string;
let pinned: ProcessHandle[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "acpx-attacks-"));
  stateDir = join(base, "state");
  wrapperRoot = join(base, "wrappers");
  pinned = [];
});
afterEach(async () => {
  pinned.forEach(put);
  await rm(base, { recursive: true });
});

function pinning(pid: number | undefined): ProcessHandle {
  const handle = pin(pid);
  pinned.push(handle);
  return handle;
}

describe("after the wrapper was killed, the lease is lost and not closed", () => {
  it("while a relative names another lease; it is not signalled", async () => {
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, ["a", "io"]);
    const evader = pinning(launched.pids["io"]);
    pinning(launched.rootPid).signal("SIGKILL");
    const { settlement } = await gateway.ended(launched.leaseId);
    const because = expect.stringContaining("is a relative that names another lease") as string;
    expect(settlement).toMatchObject({ state: "lost", because });
    expect(isAlive(evader)).toBe(true);
  });

  it("twin: with everybody accounted for it is closed", async () => {
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, ["a", "ids"]);
    pinning(launched.rootPid).signal("SIGKILL");
    const { settlement } = await gateway.ended(launched.leaseId);
    expect(settlement).toMatchObject({ state: "closed", proof: "search" });
  });
});

it("a damaged newer revision takes no live agent out of its gateway's hands", async () => {
  await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
  const launched = await gateway.launch(family, ["i"]);
  const everyone = [launched.rootPid, ...Object.values(launched.pids)].map(pinning);
  await writeFile(join(stateDir, "leases", "open", launched.leaseId, "900.json"), "torn");
  await gateway.end(launched.leaseId);
  await allGone(everyone);
});

it("a report that cannot be written delays a launch and does not hang it", async () => {
  await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
  const claims = join(stateDir, "claims");
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
  const first = await LaunchingGateway.start(stateDir, wrapperRoot);
  const dead = await first.launch(family, ["is"], "agent:test:acp:dead");
  const survivor = pinning(dead.pids["is"]);
  const wrapper = pinning(dead.rootPid);
  wrapper.signal("SIGSTOP");
  await first.kill();
  wrapper.signal("SIGKILL");
  await allGone([wrapper]);

  const instanceId = (await readFile(join(stateDir, "gateway-instance-id"), "utf8")).trim();
  const inherited = ["env", `${LEASE_ID}=${dead.leaseId}`, `${INSTANCE_ID}=${instanceId}`];
  await using heir = await LaunchingGateway.start(stateDir, wrapperRoot, 300, inherited);
  const live = await heir.launch(family, ["a"], "agent:test:acp:live");
  const session = [live.rootPid, ...Object.values(live.pids)].map(pinning);
  await using sweeper = await LaunchingGateway.start(stateDir, wrapperRoot);
  const report = await sweeper.reap();
  expect(report.deaths).toBe(1);
  expect(isAlive(survivor)).toBe(false);
  expect(session.every(isAlive)).toBe(true);
  expect(isAlive(pinning(heir.pid))).toBe(true);
  await heir.end(live.leaseId);
});

it("one lease that cannot be settled keeps no other from being swept", async () => {
  const first = await LaunchingGateway.start(stateDir, wrapperRoot);
  await first.launch(family, ["a"], "agent:test:acp:1");
  await first.launch(family, ["a"], "agent:test:acp:2");
  await first.kill();
  await using second = await LaunchingGateway.start(stateDir, wrapperRoot);
  // What tidying up stumbles over must not lose the report either.
  await rm(join(stateDir, "claims"), { recursive: true });
  await writeFile(join(stateDir, "claims"), "");
  const report = await second.reap();
  expect(report).toMatchObject({ kind: "swept" });
  expect(report.settled).toHaveLength(2);
});
