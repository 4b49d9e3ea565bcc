import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import type * as fs from "node:fs/promises";
import {
  chmod,
  cp,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { packLease } from "../../lib/lease-format.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import { advanceLease } from "../../lib/lease.js";
import type { LeaseStore } from "../../lib/lease-store.js";
import { advance, createLeaseStore } from "../../lib/lease-store.js";
import { CLOSING, LOST, preparedLease, SEEN, SPAWNED } from "../helpers/lease-samples.js";
import { leaseStoreSuite } from "../helpers/lease-store-suite.js";

// Real files; the three calls are wrapped so that a test can count them, or let one fail or wait.
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof fs>();
  return { ...real, link: vi.fn(real.link), rename: vi.fn(real.rename), open: vi.fn(real.open) };
});

const mkfifo = async (path: string) => promisify(execFile)("mkfifo", [path]);

// Thousands of small files on whatever disk the temp directory is.
vi.setConfig({ testTimeout: 120_000 });

let stateDir: string;
let store: LeaseStore;
const at = (...names: string[]) => join(stateDir, "leases", ...names);

beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "acpx-lease-store-"));
  store = await createLeaseStore({ stateDir });
});

afterEach(() => {
  vi.mocked(link).mockReset();
  vi.mocked(rename).mockReset();
  vi.mocked(open).mockClear();
  rmSync(stateDir, { recursive: true });
});

leaseStoreSuite("leases in files", () => createLeaseStore({ stateDir }));

async function prepared(changes: Partial<AcpxProcessLease> = {}): Promise<AcpxProcessLease> {
  const lease = preparedLease(changes);
  await store.create(lease);
  return lease;
}

function spawned(lease: AcpxProcessLease): AcpxProcessLease {
  const next = advanceLease(lease, SPAWNED, 60);
  if (!next.ok) throw new Error(next.because);
  return next.lease;
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe("damaged and foreign files", () => {
  const broken: { name: string; put: (lease: AcpxProcessLease) => Promise<unknown> }[] = [
    { name: "an empty file", put: ({ leaseId }) => writeFile(at("open", leaseId, "2.json"), "") },
    {
      name: "a torn file",
      put: (lease) => writeFile(at("open", lease.leaseId, "2.json"), packLease(spawned(lease)).slice(0, 200)),
    },
    {
      name: "a revision under another number",
      put: (lease) => writeFile(at("open", lease.leaseId, "7.json"), packLease(spawned(lease))),
    },
    {
      name: "the file of another lease",
      put: ({ leaseId }) => writeFile(at("open", leaseId, "2.json"), packLease(spawned(preparedLease()))),
    },
    {
      name: "a giant",
      put: ({ leaseId }) => writeFile(at("open", leaseId, "2.json"), Buffer.alloc(1 << 20)),
    },
    { name: "a directory", put: ({ leaseId }) => mkdir(at("open", leaseId, "2.json")) },
    { name: "a pipe", put: ({ leaseId }) => mkfifo(at("open", leaseId, "2.json")) },
    {
      name: "a link out of the store",
      put: ({ leaseId }) => symlink("/etc/passwd", at("open", leaseId, "2.json")),
    },
  ];

  test.each(broken)("$name as newest revision: set aside, the others listed", async ({ put }) => {
    const [good, bad] = [await prepared(), await prepared()];
    await put(bad);
    expect(await store.listOpen()).toEqual({
      leases: [good],
      setAside: [bad.leaseId],
      newer: [],
      unreadable: [],
    });
    expect(await store.listOpen()).toEqual({ leases: [good], setAside: [], newer: [], unreadable: [] });
    const kept = await readdir(at("damaged"));
    expect(kept.map((name) => name.split(".")[0])).toEqual([bad.leaseId]);
    expect(await store.load(bad.leaseId)).toBeUndefined();
  });

  test("a directory without any revision, or a file in its place: set aside", async () => {
    const [empty, file] = [randomUUID(), randomUUID()];
    await mkdir(at("open", empty));
    await writeFile(at("open", file), "");
    expect([...(await store.listOpen()).setAside].sort()).toEqual([empty, file].sort());
  });

  test("a damaged newest revision never lets an older one speak", async () => {
    const lease = await prepared();
    await advance(store, lease.leaseId, LOST);
    await writeFile(at("ended", lease.leaseId, "2.json"), "{");
    expect(await store.load(lease.leaseId)).toBeUndefined();
    expect(await store.listEnded()).toEqual([]);
  });

  test("a newer schema is left alone and named", async () => {
    const lease = await prepared();
    const text = packLease(lease).replace("process-lease.v1", "process-lease.v2");
    await writeFile(at("open", lease.leaseId, "2.json"), text);
    expect(await store.listOpen()).toEqual({
      leases: [],
      setAside: [],
      newer: [lease.leaseId],
      unreadable: [],
    });
    expect(await readFile(at("open", lease.leaseId, "2.json"), "utf8")).toBe(text);
    expect(await advance(store, lease.leaseId, SPAWNED)).toMatchObject({ ok: false, because: "missing" });
  });

  test("names that are not ours stay where they are", async () => {
    const lease = await prepared();
    const foreign = [at("open", ".DS_Store"), at("open", "notes"), at("open", lease.leaseId, ".3.json.swp")];
    for (const path of foreign) await writeFile(path, "x");
    expect(await store.listOpen()).toEqual({ leases: [lease], setAside: [], newer: [], unreadable: [] });
    for (const path of foreign) expect(await readFile(path, "utf8")).toBe("x");
  });

  test("what the disk refuses to show is reported and not touched", async () => {
    const [good, hidden] = [await prepared(), await prepared()];
    const real = vi.mocked(open).getMockImplementation();
    vi.mocked(open).mockImplementation(async (path, ...rest) => {
      if (String(path).includes(hidden.leaseId)) throw failure("EIO");
      return (real as typeof fs.open)(path, ...rest);
    });
    expect(await store.listOpen()).toEqual({
      leases: [good],
      setAside: [],
      newer: [],
      unreadable: [hidden.leaseId],
    });
    await expect(store.load(hidden.leaseId)).rejects.toMatchObject({ code: "ERR_STATE_DIR" });
    vi.mocked(open).mockImplementation(real as typeof fs.open);
    expect(await store.load(hidden.leaseId)).toEqual(hidden);
  });

  test("damaged leases that cannot be moved stay reported", async () => {
    const lease = await prepared();
    await writeFile(at("open", lease.leaseId, "2.json"), "");
    vi.mocked(rename).mockRejectedValueOnce(failure("EROFS"));
    expect(await store.listOpen()).toMatchObject({ setAside: [], unreadable: [lease.leaseId] });
  });
});

describe("a crash or a pause between two steps", () => {
  test("the terminal revision written, its directory not yet moved: ended all the same, and the next lister moves it", async () => {
    const lease = await prepared();
    vi.mocked(rename).mockRejectedValueOnce(failure("EIO"));
    expect(await advance(store, lease.leaseId, LOST)).toMatchObject({ ok: true });
    expect(await readdir(at("open"))).toEqual([lease.leaseId]);

    const other = await createLeaseStore({ stateDir });
    expect(await other.load(lease.leaseId)).toMatchObject({ state: "lost" });
    expect(await other.publish({ ...spawned(lease), revision: 3 })).toBe("superseded");
    expect((await other.listOpen()).leases).toEqual([]);
    expect(await readdir(at("open"))).toEqual([]);
    expect(await readdir(at("ended"))).toEqual([lease.leaseId]);
  });

  test.each([
    { name: "ended", then: () => Promise.resolve(0) },
    { name: "ended and pruned", then: () => store.prune({ maxEnded: 0 }) },
  ])("a writer held up right before its link, its lease $name meanwhile: loses", async ({ then }) => {
    const lease = await prepared();
    vi.mocked(link).mockImplementationOnce(async (existing, target) => {
      await advance(store, lease.leaseId, LOST);
      await then();
      await link(existing, target);
    });
    expect(await store.publish(spawned(lease))).toBe("superseded");
    expect((await store.listOpen()).leases).toEqual([]);
    expect(await readdir(at("open"))).toEqual([]);
    expect(await readdir(at("tmp"))).toEqual([]);
  });

  test("a writer held up right before its link until its revision was old and removed: loses", async () => {
    const lease = await prepared();
    vi.mocked(link).mockImplementationOnce(async (existing, target) => {
      await advance(store, lease.leaseId, SPAWNED);
      for (let change = 0; change < 300; change++) await advance(store, lease.leaseId, CLOSING);
      await link(existing, target);
    });
    expect(await store.publish(spawned(lease))).toBe("superseded");
    expect(await store.load(lease.leaseId)).toMatchObject({ revision: 302, state: "closing" });
    expect(await readdir(at("open", lease.leaseId))).not.toContain("2.json");
  });

  test("a link whose success was reported as a failure is a success", async () => {
    const lease = await prepared();
    vi.mocked(link).mockImplementationOnce(async (existing, target) => {
      await link(existing, target);
      throw failure("EEXIST");
    });
    expect(await store.publish(spawned(lease))).toBe("published");
  });

  test("an open directory restored from a copy beside its ended lease is set aside once it ends", async () => {
    const lease = await prepared();
    await cp(at("open", lease.leaseId), at("tmp", "copy"), { recursive: true });
    await advance(store, lease.leaseId, LOST);
    await rename(at("tmp", "copy"), at("open", lease.leaseId));
    await advance(store, lease.leaseId, LOST);
    expect(await readdir(at("open"))).toEqual([]);
    expect(await readdir(at("damaged"))).toHaveLength(1);
    expect(await readdir(at("ended"))).toEqual([lease.leaseId]);
  });

  test("what crashed writers left is swept once it is old, and not before", async () => {
    const [old, young] = [at("tmp", "old.tmp"), at("tmp", "young.tmp")];
    await writeFile(old, "");
    await writeFile(young, "");
    const yesterday = new Date(Date.now() - 24 * 3600 * 1000);
    await utimes(old, yesterday, yesterday);
    await mkdir(at("trash", "half", "removed"), { recursive: true });
    await store.prune();
    expect(await readdir(at("tmp"))).toEqual(["young.tmp"]);
    expect(await readdir(at("trash"))).toEqual([]);
  });

  test("a clock that leaps ahead while the store is open deletes nothing early", async () => {
    const lease = await prepared();
    await advance(store, lease.leaseId, LOST);
    const now = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(now + 50 * 365 * 24 * 3600 * 1000);
    try {
      expect(await store.prune()).toBe(0);
    } finally {
      clock.mockRestore();
    }
    expect(await store.listEnded()).toHaveLength(1);
  });
});

describe("a disk that does not do what it should", () => {
  const refusals = [
    { name: "full", code: "ENOSPC", remedy: /the disk is full: free some space/ },
    { name: "over quota", code: "EDQUOT", remedy: /quota/ },
    { name: "read-only", code: "EROFS", remedy: /read-only/ },
    { name: "not ours", code: "EACCES", remedy: /must belong to the user/ },
    { name: "of an unknown mood", code: "EUNKNOWN", remedy: /EUNKNOWN/ },
  ];

  test.each(refusals)(
    "$name: a launch is refused with path and remedy, nothing half written",
    async ({ code, remedy }) => {
      vi.mocked(rename).mockRejectedValueOnce(failure(code));
      const refusal: unknown = await store.create(preparedLease()).catch((error: unknown) => error);
      expect(refusal).toMatchObject({
        name: "LifecycleError",
        code: "ERR_STATE_DIR",
        message: expect.stringMatching(remedy) as string,
      });
      expect((refusal as Error).message).toContain(at("open"));
      expect(await readdir(at("open"))).toEqual([]);
      expect(await readdir(at("tmp"))).toEqual([]);
    },
  );

  test.each(refusals)("$name: a change is refused, the lease stays what it was", async ({ code, remedy }) => {
    const lease = await prepared();
    vi.mocked(link).mockRejectedValueOnce(failure(code));
    await expect(advance(store, lease.leaseId, SPAWNED)).rejects.toThrow(remedy);
    expect(await store.load(lease.leaseId)).toEqual(lease);
    expect(await readdir(at("tmp"))).toEqual([]);
  });

  test.each(["EPERM", "ENOTSUP", "ENOSYS"])(
    "without hard links (%s): refused by name when it is opened",
    async (code) => {
      vi.mocked(link).mockRejectedValueOnce(failure(code));
      await expect(createLeaseStore({ stateDir })).rejects.toThrow(/is on .*, which has no hard links/);
    },
  );

  test("a full disk does not keep the leases from being opened: running trees must still be ended", async () => {
    const lease = await prepared();
    vi.mocked(link).mockRejectedValueOnce(failure("ENOSPC"));
    expect((await (await createLeaseStore({ stateDir })).listOpen()).leases).toEqual([lease]);
  });
});

test("listing a hundred open leases among ten thousand ended ones reads the open ones only", async () => {
  // Empty: who listed them would have to say that they are damaged.
  for (let count = 0; count < 10_000; count++) mkdirSync(at("ended", randomUUID()));
  const running = await Promise.all(Array.from({ length: 100 }, () => prepared()));
  vi.mocked(open).mockClear();
  expect((await store.listOpen()).leases).toHaveLength(100);
  expect(
    vi
      .mocked(open)
      .mock.calls.map(([path]) => String(path))
      .sort(),
  ).toEqual(running.map(({ leaseId }) => at("open", leaseId, "1.json")).sort());
  expect(await readdir(at("ended"))).toHaveLength(10_000);
});

test("a lease that changes for days stays a small directory", async () => {
  const { leaseId } = await prepared();
  await advance(store, leaseId, SPAWNED);
  for (let change = 0; change < 600; change++) await advance(store, leaseId, CLOSING);
  expect((await readdir(at("open", leaseId))).length).toBeLessThanOrEqual(256);
  expect(await store.load(leaseId)).toMatchObject({ revision: 602 });
  // The directory moves as it is.
  await advance(store, leaseId, LOST);
  expect(await store.load(leaseId)).toMatchObject({ revision: 603, state: "lost" });
});

test("a revision that is removed between two looks of a reader was not the newest: it looks again", async () => {
  const { leaseId } = await prepared();
  await advance(store, leaseId, SPAWNED);
  const real = vi.mocked(open).getMockImplementation();
  vi.mocked(open).mockImplementationOnce(async () => {
    for (let change = 0; change < 300; change++) await advance(store, leaseId, CLOSING);
    throw failure("ENOENT");
  });
  expect(await store.load(leaseId)).toMatchObject({ revision: 302, state: "closing" });
  vi.mocked(open).mockImplementation(real as typeof fs.open);
});

test.each([0o002, 0o000, 0o277])("directories are 0700 and files 0600 under umask %o", async (mask) => {
  const before = process.umask(mask);
  try {
    const fresh = join(stateDir, "fresh");
    const other = await createLeaseStore({ stateDir: fresh });
    const lease = preparedLease();
    await other.create(lease);
    await advance(other, lease.leaseId, CLOSING);
    expect(await advance(other, lease.leaseId, SEEN)).toMatchObject({ ok: false });
    for (const entry of await readdir(fresh, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect([entry.name, mode & 0o7777]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
    }
    expect((await stat(fresh)).mode & 0o7777).toBe(0o700);
  } finally {
    process.umask(before);
  }
});

test("directories that somebody opened to others are private again", async () => {
  for (const path of [at(), at("open"), join(stateDir, "claims"), join(stateDir, "owners")])
    await chmod(path, 0o777);
  await createLeaseStore({ stateDir });
  for (const path of [at(), at("open"), join(stateDir, "claims"), join(stateDir, "owners")])
    expect((await stat(path)).mode & 0o7777).toBe(0o700);
});
