import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backend } from "../../lib/native.js";
import { hostId, lookAtOwner, removeDeadOwnerLocks, withSweepLock } from "../../lib/owner-lock.js";
import type { LeaseOwner } from "../../lib/owner-liveness.js";
import { openStateDir } from "../../lib/state-dir.js";
import { allGone, pin } from "../helpers/alive.js";
import { end } from "../helpers/child.js";
import { startLeaseWorker, startUnwaitedLeaseWorker, type LeaseWorker } from "../helpers/lease-worker.js";

const host = "a".repeat(64);
let directory: string;
let stateDir: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "acpx-owner-lock-"));
  stateDir = (await openStateDir(join(directory, "state"))).path;
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function self(): LeaseOwner {
  const { selfToken } = backend();
  if (!selfToken.ok) throw new Error(selfToken.call);
  return { pid: process.pid, token: selfToken.value, host };
}

/** Another gateway on the state directory, alive and known by its lock. */
async function gateway(startWorker = startLeaseWorker): Promise<{ worker: LeaseWorker; owner: LeaseOwner }> {
  const worker = await startWorker(stateDir);
  const owner = (await worker.ask({ command: "own" })) as LeaseOwner & { held: boolean };
  expect(owner.held).toBe(true);
  return { worker, owner: { pid: owner.pid, token: owner.token, host } };
}

/** A lease that changed just now. */
const leaseOf = (owner: LeaseOwner) => ({ owner, updatedAt: Date.now() });

/** We, as somebody in another PID namespace of this host: the owner's numbers mean nothing to us. */
function selfElsewhere(): LeaseOwner {
  const { pid, token } = self();
  return { pid, token: token.replace(/pidns=\d+/, "pidns=1"), host };
}

test("a gateway that runs is alive, by identity here and by its lock elsewhere; dead in both once it has ended", async () => {
  const { worker, owner } = await gateway();
  expect(await lookAtOwner(stateDir, leaseOf(owner), self())).toMatchObject({ kind: "alive", copied: false });
  expect(await lookAtOwner(stateDir, leaseOf(owner), selfElsewhere())).toMatchObject({ kind: "alive" });
  await end(worker.child);
  expect(await lookAtOwner(stateDir, leaseOf(owner), self())).toMatchObject({ kind: "dead" });
  expect(await lookAtOwner(stateDir, leaseOf(owner), selfElsewhere())).toMatchObject({
    kind: "dead-elsewhere",
  });
});

test("looking does not take the lock away", async () => {
  const { owner } = await gateway();
  for (let look = 0; look < 100; look++)
    expect(await lookAtOwner(stateDir, leaseOf(owner), selfElsewhere())).toMatchObject({ kind: "alive" });
});

test("a copy of the state directory of a living gateway: hands off here, whatever its free lock says", async () => {
  const { owner } = await gateway();
  const copy = join(directory, "copy");
  cpSync(stateDir, copy, { recursive: true });
  expect(await lookAtOwner(copy, leaseOf(owner), self())).toMatchObject({ kind: "alive", copied: true });
});

test("a gateway that its parent has not waited for is dead as soon as it has ended", async () => {
  const { worker, owner } = await gateway(startUnwaitedLeaseWorker);
  const handle = pin(owner.pid);
  expect(await lookAtOwner(stateDir, leaseOf(owner), self())).toMatchObject({ kind: "alive" });
  worker.child.stdin?.end();
  await allGone([handle]);
  expect(readFileSync(`/proc/${owner.pid}/stat`, "utf8")).toContain(") Z ");
  expect(await lookAtOwner(stateDir, leaseOf(owner), self())).toMatchObject({ kind: "dead" });
  expect(await lookAtOwner(stateDir, leaseOf(owner), selfElsewhere())).toMatchObject({
    kind: "dead-elsewhere",
  });
  handle.close();
});

test("the locks of ended gateways are removed, those of living ones and of named owners are not", async () => {
  const [living, ended, named] = [await gateway(), await gateway(), await gateway()];
  await end(ended.worker.child);
  await end(named.worker.child);
  expect(await removeDeadOwnerLocks(stateDir, [named.owner])).toBe(1);
  const left = (await readdir(join(stateDir, "owners"))).map((name) => Number(name.split(".")[0]));
  expect(left.sort()).toEqual([living.owner.pid, named.owner.pid].sort());
  expect(await lookAtOwner(stateDir, leaseOf(living.owner), selfElsewhere())).toMatchObject({
    kind: "alive",
  });
});

test("of two processes only one sweeps; the next may when the first has finished, or has died", async () => {
  const [first, second] = [await startLeaseWorker(stateDir), await startLeaseWorker(stateDir)];
  const sweep = { command: "sweep" };
  expect(await first.ask(sweep)).toBe("sweeping");
  expect(await second.ask(sweep)).toBe("busy");
  expect(await withSweepLock(stateDir, () => Promise.resolve("swept"))).toBe("busy");
  first.proceed();
  expect(await first.answer()).toBe("swept");
  expect(await second.ask(sweep)).toBe("sweeping");
  await end(second.child);
  expect(await withSweepLock(stateDir, () => Promise.resolve("swept"))).toBe("swept");
});

test("the host is the same for every look at it", () => {
  expect(hostId()).toBe(hostId());
  expect(hostId() ?? "0".repeat(64)).toMatch(/^[0-9a-f]{64}$/);
});
