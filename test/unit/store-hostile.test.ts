/**
 * Whatever lies in the place of a lease: it becomes a whole lease or is told by its id, and the leases beside it are
 * what they were.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { packLease } from "../../lib/lease-format.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import { hasEnded, openLease } from "../../lib/lease.js";
import { createLeaseStore, type LeaseStore } from "../../lib/lease-store.js";
import { preparedLease } from "../helpers/lease-samples.js";

vi.setConfig({ testTimeout: 120_000 });

let base: string;
let stateDir: string;
let store: LeaseStore;
let witness: AcpxProcessLease;
const at = (...names: string[]) => join(stateDir, "leases", ...names);

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "acpx-store-hostile-"));
  stateDir = join(base, "state");
  store = await createLeaseStore({ stateDir });
  witness = preparedLease({ sessionKey: "witness" });
  await store.create(witness);
  execFileSync("mkfifo", [join(base, "pipe")]);
  writeFileSync(join(base, "precious"), "precious");
  mkdirSync(join(base, "precious.d"));
  writeFileSync(join(base, "precious.d", "1.json"), packLease(preparedLease()));
});
afterAll(() => {
  rmSync(base, { recursive: true });
});

/** What is put at a path, for a lease of that id. */
type Plant = (path: string, leaseId: string) => void;

const revisions = fc.integer({ min: 1, max: 4 });
const textOf = (leaseId: string, revision: number): string =>
  packLease({ ...openLease(preparedLease({ leaseId })), revision });

/** Its text under the number that the file has, or under another. */
const whole = fc
  .option(revisions)
  .map(
    (revision) => (path: string, leaseId: string) =>
      textOf(leaseId, revision ?? (Number.parseInt(basename(path), 10) || 1)),
  );
const text = fc.oneof(
  { weight: 3, arbitrary: whole },
  {
    weight: 2,
    arbitrary: fc.tuple(whole, fc.nat(900)).map(
      ([write, length]): typeof write =>
        (...place) =>
          write(...place).slice(0, length),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(whole, fc.nat(900), fc.string({ unit: "binary", maxLength: 3 }))
      .map(([write, where, what]): typeof write => (...place) => {
        const before = write(...place);
        return before.slice(0, where) + what + before.slice(where + what.length);
      }),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }).map((random) => () => random) },
);

const file = text.map((write): Plant => (path, leaseId) => {
  writeFileSync(path, write(path, leaseId));
});
const oddity = fc.constantFrom<Plant>(
  (path) => {
    mkdirSync(path);
  },
  (path) => {
    linkSync(join(base, "pipe"), path);
  },
  (path) => {
    symlinkSync(join(base, "precious"), path);
  },
  (path) => {
    symlinkSync(join(base, "precious.d"), path);
  },
  (path) => {
    symlinkSync("nowhere", path);
  },
  (path) => {
    symlinkSync(path, path);
  },
  (path) => {
    symlinkSync(at("open", witness.leaseId, "1.json"), path);
  },
  (path) => {
    writeFileSync(path, "");
    truncateSync(path, 2 ** 33);
  },
  (path, leaseId) => {
    writeFileSync(path, textOf(leaseId, 1));
    chmodSync(path, 0);
  },
  (path, leaseId) => {
    writeFileSync(path, textOf(leaseId, 2));
    if (process.geteuid?.() === 0) chownSync(path, 65_534, 65_534);
  },
);
const entry = fc.oneof(file, oddity);
const name = fc.oneof(
  { weight: 4, arbitrary: revisions.map((revision) => `${revision}.json`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "0.json",
      "01.json",
      "999999999.json",
      "9999999999.json",
      "-1.json",
      "1.JSON",
      "x",
    ),
  },
);
const lease = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(name, entry, { maxKeys: 4 }) },
  { weight: 1, arbitrary: oddity },
  { weight: 1, arbitrary: file },
);

function plant(parent: string, leaseId: string, what: Plant | Record<string, Plant>): void {
  if (typeof what === "function") {
    what(at(parent, leaseId), leaseId);
    return;
  }
  mkdirSync(at(parent, leaseId));
  for (const [fileName, put] of Object.entries(what)) put(at(parent, leaseId, fileName), leaseId);
}

/** The rest of a run, whatever became of it. */
function clear(): void {
  for (const parent of ["open", "ended", "damaged", "trash", "tmp"])
    for (const found of readdirSync(at(parent)))
      if (found !== witness.leaseId) rmSync(at(parent, found), { recursive: true, force: true });
}

/** Eight at a time, so that listing is not all that is done. */
const batch = fc.array(lease, { minLength: 8, maxLength: 8 });

test("a thousand, planted in the place of open leases", async () => {
  const seen = { lease: 0, told: 0 };
  await fc.assert(
    fc.asyncProperty(batch, async (leases) => {
      const planted = leases.map((what) => {
        const leaseId = randomUUID();
        plant("open", leaseId, what);
        return leaseId;
      });
      const loaded = new Map<string, unknown>();
      for (const leaseId of planted)
        loaded.set(leaseId, await store.load(leaseId).catch((error: unknown) => error));
      const listed = await store.listOpen();
      expect(listed.leases).toContainEqual(witness);
      for (const leaseId of planted) {
        const found = loaded.get(leaseId);
        const own = listed.leases.find((other) => other.leaseId === leaseId);
        const told = [listed.setAside, listed.newer, listed.unreadable].map((ids) => ids.includes(leaseId));
        const [setAside, newer, unreadable] = told;
        if (own !== undefined) {
          seen.lease++;
          expect(found).toEqual(own);
          expect(told).toEqual([false, false, false]);
        } else if (found instanceof Error) {
          expect(found).toMatchObject({ code: "ERR_STATE_DIR" });
          expect(unreadable).toBe(true);
        } else if (found === undefined) {
          seen.told++;
          expect(setAside === true || newer === true).toBe(true);
        } else expect(hasEnded(found as AcpxProcessLease)).toBe(true);
      }
      expect(await store.listOpen()).toEqual({ ...listed, setAside: [] });
      clear();
    }),
    { numRuns: 125 },
  );
  expect(Math.min(seen.lease, seen.told)).toBeGreaterThan(20);
});

test("a thousand, planted among the ended leases, then pruned", async () => {
  await fc.assert(
    fc.asyncProperty(batch, async (leases) => {
      for (const what of leases) plant("ended", randomUUID(), what);
      for (const found of await store.listEnded()) expect(hasEnded(found)).toBe(true);
      await store.prune({ maxEnded: 0 });
      expect((await store.listOpen()).leases).toEqual([witness]);
      clear();
    }),
    { numRuns: 125 },
  );
});

test("what links lead to is never touched", () => {
  expect(readFileSync(join(base, "precious"), "utf8")).toBe("precious");
  expect(readdirSync(join(base, "precious.d"))).toEqual(["1.json"]);
  expect(readFileSync(at("open", witness.leaseId, "1.json"), "utf8")).toBe(packLease(witness));
});
