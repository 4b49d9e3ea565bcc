import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { afterAll, describe, expect, test } from "vitest";

import { type FileLock, holdLock } from "../../lib/native.js";
import { end, lines, ready, start } from "../helpers/child.js";
import { compile } from "../helpers/compile.js";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "acpx-environments-"));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** What another process gets when it asks; it is still there, and with it its lock, until the test ends. */
async function elsewhere(path: string, mode: "exclusive" | "probe") {
  const child = start(process.execPath, [fixture("lock.mjs"), path, mode]);
  return { child, answer: await lines(child).next() };
}

function held(path: string): FileLock {
  const outcome = holdLock(path, "exclusive");
  if (!outcome.ok || !("held" in outcome.value)) throw new Error(JSON.stringify(outcome));
  return outcome.value.held;
}

describe("a lock", () => {
  test("is ours, then another's once released, and is never both", async () => {
    const path = join(directory, "owner.lock");
    const lock = held(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await elsewhere(path, "exclusive")).answer).toBe("busy");
    expect((await elsewhere(path, "probe")).answer).toBe("busy");
    lock.release();
    lock.release();
    const other = await elsewhere(path, "exclusive");
    expect(other.answer).toBe("held");
    expect(holdLock(path, "exclusive")).toEqual({ ok: true, value: { busy: true } });
    expect(holdLock(path, "probe")).toEqual({ ok: true, value: { busy: true } });
    await end(other.child);
    held(path).release();
  });

  test("goes with its process, however that ends", async () => {
    const path = join(directory, "killed.lock");
    const other = await elsewhere(path, "exclusive");
    expect(holdLock(path, "probe")).toMatchObject({ value: { busy: true } });
    await end(other.child);
    expect(holdLock(path, "probe")).toMatchObject({ value: { held: {} } });
  });

  test("that this process holds can be taken again, and goes with the last holder", async () => {
    const path = join(directory, "shared.lock");
    const [first, second] = [held(path), held(path)];
    first.release();
    expect((await elsewhere(path, "probe")).answer).toBe("busy");
    second.release();
    expect((await elsewhere(path, "probe")).answer).toBe("held");
  });

  test("is only looked for, and not made, by a probe", () => {
    const path = join(directory, "absent.lock");
    expect(holdLock(path, "probe")).toMatchObject({ ok: false, reason: "gone", errno: "ENOENT" });
    expect(readdirSync(directory)).not.toContain("absent.lock");
  });

  test("is not taken through a symbolic link, nor on a directory", () => {
    symlinkSync(join(directory, "elsewhere"), join(directory, "link.lock"));
    expect(holdLock(join(directory, "link.lock"), "exclusive")).toMatchObject({ ok: false, errno: "ELOOP" });
    mkdirSync(join(directory, "directory.lock"));
    expect(holdLock(join(directory, "directory.lock"), "exclusive")).toMatchObject({
      ok: false,
      errno: "EISDIR",
    });
    expect(holdLock(join(directory, "directory.lock"), "probe")).toMatchObject({
      ok: false,
      reason: "garbled",
    });
  });

  test.each(["", "a\0b"])("on a file named %j is misuse", (path) => {
    expect(() => holdLock(path, "probe")).toThrow(TypeError);
  });
});

describe("three workers at once", () => {
  /** Descriptors on processes and locks: what a worker could leave behind. */
  const left = () =>
    readdirSync("/proc/self/fd")
      .map((name) => {
        try {
          return readlinkSync(`/proc/self/fd/${name}`);
        } catch {
          return "";
        }
      })
      .filter((target) => /pidfd|^\/proc\/\d+$|\.lock$/.test(target));

  test.each([
    ["that end by themselves", false],
    ["that are terminated while everything pends", true],
  ])("%s use all verbs and leave nothing", async (_kind, pending) => {
    const pid = await ready(start(compile("idle")));
    const lock = join(directory, `workers-${String(pending)}.lock`);
    const before = left();
    for (let round = 0; round < 5; ++round) {
      const workers = [0, 1, 2].map(
        () => new Worker(fixture("native-worker.mjs"), { workerData: { pid, lock, pending } }),
      );
      const ended = workers.map((worker) => once(worker, "exit"));
      const reports = await Promise.all(
        workers.map(async (worker) => (await once(worker, "message")) as unknown[]),
      );
      for (const [report] of reports) {
        expect(report).toEqual({ supported: true, sameToken: true, seen: true, held: true });
      }
      if (pending) await Promise.all(workers.map((worker) => worker.terminate()));
      await Promise.all(ended);
    }
    expect(left()).toEqual(before);
    expect((await elsewhere(lock, "probe")).answer).toBe("held");
  });
});
