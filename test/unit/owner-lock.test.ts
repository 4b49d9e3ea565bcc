import { existsSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Fault, LockOutcome, Native } from "../../lib/native.js";
import { holdOwnerLock, lookAtOwner, removeDeadOwnerLocks, withSweepLock } from "../../lib/owner-lock.js";
import type { LeaseOwner } from "../../lib/owner-liveness.js";
import { openStateDir } from "../../lib/state-dir.js";
import { tokenOf } from "../helpers/lease-samples.js";

const self = { pid: 4100, token: tokenOf(1000), host: "a".repeat(64) };
const owner = { pid: 3900, token: tokenOf(900), host: "a".repeat(64) };
const abroad = { ...owner, token: tokenOf(900, { pidns: 4026532999 }) };
const UNSUPPORTED: Fault = { ok: false, reason: "unsupported", call: "fstatfs" };
const GONE: Fault = { ok: false, reason: "gone", call: "open", errno: "ENOENT" };
const DENIED: Fault = { ok: false, reason: "denied", call: "open", errno: "EACCES" };
const BUSY: LockOutcome = { ok: true, value: { busy: true } };

let directory: string;
let stateDir: string;
let released: string[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "acpx-owner-lock-"));
  stateDir = (await openStateDir(directory)).path;
  released = [];
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** A lease that changed just now. */
const leaseOf = (holder: LeaseOwner) => ({ owner: holder, updatedAt: Date.now() });

/** Locks that answer in turn; `undefined`: ours. Like the real ones, taking creates the file and probing does not. */
function locks(...answers: readonly (LockOutcome | Fault | undefined)[]): Pick<Native, "holdLock"> {
  const turns = answers.values();
  return {
    holdLock(path, mode) {
      if (mode === "probe" && !existsSync(path)) return GONE;
      if (!existsSync(path)) writeFileSync(path, "", { mode: 0o600 });
      const answer = turns.next().value;
      return answer ?? { ok: true, value: { held: { release: () => void released.push(basename(path)) } } };
    },
  };
}

const noProcess: Pick<Native, "readMany"> = { readMany: () => Promise.resolve([GONE]) };

describe("saying that we live", () => {
  test("the lock's name is pid and token, and it lasts until it is released", async () => {
    const lock = await holdOwnerLock(stateDir, owner, locks());
    expect(await readdir(join(stateDir, "owners"))).toEqual([
      expect.stringMatching(/^3900\.[0-9a-f]{16}\.lock$/),
    ]);
    expect(lock.held).toBe(true);
    expect(released).toEqual([]);
    lock.release();
    expect(released).toHaveLength(1);
  });

  test("somebody's brief look at it is waited out", async () => {
    expect((await holdOwnerLock(stateDir, owner, locks(BUSY, BUSY, undefined))).held).toBe(true);
  });

  test("a lock whose name a sweep took away is taken anew", async () => {
    expect((await holdOwnerLock(stateDir, owner, locks(GONE, undefined))).held).toBe(true);
  });

  test("a lock that somebody else keeps is a typed error, after a while", async () => {
    const kept = { holdLock: () => BUSY };
    await expect(holdOwnerLock(stateDir, owner, kept)).rejects.toMatchObject({ code: "ERR_STATE_DIR" });
  });

  test.each([
    { name: "where locks mean nothing", fault: UNSUPPORTED },
    { name: "on a full disk", fault: { ...DENIED, reason: "garbled", errno: "ENOSPC" } as const },
    { name: "on a read-only disk", fault: { ...DENIED, errno: "EROFS" } },
  ])("$name it says so and goes on: what runs must still be ended", async ({ fault }) => {
    expect((await holdOwnerLock(stateDir, owner, locks(fault))).held).toBe(false);
  });

  test("a lock file that cannot be made is a typed error with path and remedy", async () => {
    await expect(holdOwnerLock(stateDir, owner, locks(DENIED))).rejects.toMatchObject({
      code: "ERR_STATE_DIR",
      message: expect.stringMatching(/owners\/3900.*EACCES.*must belong/) as string,
    });
  });
});

describe("looking at another owner", () => {
  test("our own lock is never probed: that would give it away", async () => {
    const native = { ...noProcess, holdLock: () => BUSY };
    expect(await lookAtOwner(stateDir, leaseOf(self), self, native)).toMatchObject({
      kind: "alive",
      copied: false,
    });
  });

  test("a lock that is not there is not created by looking, and proves nothing", async () => {
    expect(await lookAtOwner(stateDir, leaseOf(abroad), self, { ...noProcess, ...locks() })).toMatchObject({
      kind: "unknown",
    });
    expect(await readdir(join(stateDir, "owners"))).toEqual([]);
  });

  test.each([
    { name: "busy", answer: BUSY, kind: "alive" },
    { name: "free", answer: undefined, kind: "dead-elsewhere" },
    { name: "unsupported", answer: UNSUPPORTED, kind: "unknown" },
    { name: "denied", answer: DENIED, kind: "unknown" },
  ])("in another namespace, lock $name: $kind", async ({ answer, kind }) => {
    await holdOwnerLock(stateDir, abroad, locks());
    const native = { ...noProcess, ...locks(answer) };
    expect(await lookAtOwner(stateDir, leaseOf(abroad), self, native)).toMatchObject({ kind });
    expect(released).toHaveLength(kind === "dead-elsewhere" ? 1 : 0);
  });
});

describe("an owner of another host", () => {
  const lookFrom = (elsewhere: LeaseOwner, updatedAt: number) =>
    lookAtOwner(stateDir, { owner: elsewhere, updatedAt }, self, { ...noProcess, ...locks() });
  const stranger = { ...abroad, host: "b".repeat(64) };

  test("is believed dead once its lease has not changed for a month, by the wall clock", async () => {
    expect(await lookFrom(stranger, Date.now() - 29 * 24 * 3600 * 1000)).toMatchObject({ kind: "unknown" });
    expect(await lookFrom(stranger, Date.now() - 31 * 24 * 3600 * 1000)).toMatchObject({
      kind: "dead-elsewhere",
      because: expect.stringContaining("another host") as string,
    });
  });

  test("is not believed dead because the clock leaps ahead, nor while its lease is from the future", async () => {
    const now = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(now + 50 * 365 * 24 * 3600 * 1000);
    try {
      expect(await lookFrom(stranger, now)).toMatchObject({ kind: "unknown" });
    } finally {
      clock.mockRestore();
    }
    expect(await lookFrom(stranger, now + 50 * 365 * 24 * 3600 * 1000)).toMatchObject({ kind: "unknown" });
  });
});

describe("sweeping alone", () => {
  test("a second sweep of this process finds the first", async () => {
    const inner = await withSweepLock(
      stateDir,
      () => withSweepLock(stateDir, () => Promise.resolve(1), locks()),
      locks(),
    );
    expect(inner).toBe("busy");
    expect(await withSweepLock(stateDir, () => Promise.resolve(2), locks())).toBe(2);
  });

  test("a sweep of another process is found", async () => {
    expect(await withSweepLock(stateDir, () => Promise.resolve(1), locks(BUSY))).toBe("busy");
    expect(await withSweepLock(stateDir, () => Promise.resolve(2), locks())).toBe(2);
  });

  test("where locks mean nothing the sweep runs all the same", async () => {
    expect(await withSweepLock(stateDir, () => Promise.resolve(3), locks(UNSUPPORTED))).toBe(3);
  });

  test("a sweep that fails leaves the next one free", async () => {
    const failing = withSweepLock(stateDir, () => Promise.reject(new Error("no")), locks());
    await expect(failing).rejects.toThrow("no");
    expect(released).toEqual(["sweep.lock"]);
    expect(await withSweepLock(stateDir, () => Promise.resolve(4), locks())).toBe(4);
  });
});

describe("removing the locks of dead gateways", () => {
  const dead = (pid: number) => ({ pid, token: tokenOf(pid) });
  const plant = (pid: number) => writeFile(join(stateDir, "owners", `${pid}.${"0".repeat(16)}.lock`), "");
  const names = () => readdir(join(stateDir, "owners"));

  test("free ones go; a busy one, one that a lease names, ours and foreign files stay", async () => {
    await holdOwnerLock(stateDir, self, locks());
    await plant(1);
    await plant(2);
    await holdOwnerLockOfDead(dead(3));
    await writeFile(join(stateDir, "owners", "notes"), "");
    const native: Pick<Native, "holdLock"> = {
      holdLock: (path, mode) => (basename(path).startsWith("2.") ? BUSY : locks().holdLock(path, mode)),
    };
    expect(await removeDeadOwnerLocks(stateDir, [dead(3)], native)).toBe(1);
    expect((await names()).map((name) => name.split(".")[0]).sort()).toEqual(["2", "3", "4100", "notes"]);
  });

  test("one that cannot be removed is left, and let go of", async () => {
    await plant(1);
    const vanishing: Pick<Native, "holdLock"> = {
      holdLock(path, mode) {
        const outcome = locks().holdLock(path, mode);
        unlinkSync(path);
        return outcome;
      },
    };
    expect(await removeDeadOwnerLocks(stateDir, [], vanishing)).toBe(0);
    expect(released).toHaveLength(1);
  });

  /** As its process left it: not known to this one. */
  async function holdOwnerLockOfDead(identity: { pid: number; token: string }): Promise<void> {
    const elsewhere = (await openStateDir(join(directory, "elsewhere"))).path;
    await holdOwnerLock(elsewhere, identity, locks());
    for (const name of await readdir(join(elsewhere, "owners")))
      renameSync(join(elsewhere, "owners", name), join(stateDir, "owners", name));
  }
});
