/**
 * Where a lease lives on disk and how it is found there: `<parent>/<leaseId>/<revision>.json`, the highest
 * revision counts, and at least the newest 128 are kept. Other names are not ours and are left alone.
 */
import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { lutimes, lstat, readdir, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { isUuid, LEASE_SIZE_LIMIT, unpackLease } from "./lease-format.js";
import type { AcpxProcessLease } from "./lease.js";
import { errnoOf, readSmall, stateError } from "./state-file.js";

export type Found =
  | { readonly kind: "lease"; readonly lease: AcpxProcessLease }
  | { readonly kind: "damaged" | "newer" }
  /** Never there, or moved on a moment ago. */
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly error: unknown };

const REVISION_FILE = /^([1-9]\d{0,8})\.json$/;

/** So many leases are read at a time: neither descriptors nor the event loop run short. */
const BATCH = 16;

/**
 * A session that is seen once a minute for a week is ten thousand revisions. Every so many of them, all that are
 * at least so many older are removed.
 */
const KEPT_REVISIONS = 128;

export const revisionFile = (revision: number): string => `${revision}.json`;

/** Every lease below `parent`, by id. */
export async function readAll(
  parent: string,
): Promise<readonly (readonly [leaseId: string, found: Found])[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch((error: unknown) => {
    throw stateError("list", parent, error);
  });
  const ours = entries.filter(({ name }) => isUuid(name));
  const all: (readonly [string, Found])[] = [];
  for (let start = 0; start < ours.length; start += BATCH) {
    const batch = ours.slice(start, start + BATCH);
    const read = async (entry: Dirent): Promise<readonly [string, Found]> => [
      entry.name,
      // A link would lead to somebody else's files, or nowhere.
      entry.isDirectory() ? await readLatest(parent, entry.name) : { kind: "damaged" },
    ];
    all.push(...(await Promise.all(batch.map(read))));
  }
  return all;
}

export async function readLatest(parent: string, leaseId: string): Promise<Found> {
  for (let attempt = 1; ; attempt++) {
    let latest: number;
    try {
      latest = newest(await revisionsIn(parent, leaseId));
    } catch (error) {
      return misread(error);
    }
    if (latest === 0) return { kind: "damaged" };
    const found = await readRevision(parent, leaseId, latest);
    // Gone between the two looks: the directory has moved on, or so many newer revisions came that this one was
    // old. The next look tells.
    if (found.kind !== "absent" || attempt === 3) return found;
  }
}

async function revisionsIn(parent: string, leaseId: string): Promise<number[]> {
  const names = await readdir(join(parent, leaseId));
  return names.map((name) => Number(REVISION_FILE.exec(name)?.[1] ?? 0));
}

export async function readRevision(parent: string, leaseId: string, revision: number): Promise<Found> {
  let text: string;
  try {
    text = await readSmall(join(parent, leaseId, revisionFile(revision)), LEASE_SIZE_LIMIT);
  } catch (error) {
    return misread(error);
  }
  const unpacked = unpackLease(text);
  if (!unpacked.ok) return { kind: unpacked.reason === "newer-schema" ? "newer" : "damaged" };
  const { lease } = unpacked;
  // A file copied under another name would speak for a lease that is not its own.
  return lease.leaseId === leaseId && lease.revision === revision
    ? { kind: "lease", lease }
    : { kind: "damaged" };
}

const newest = (revisions: readonly number[]): number => revisions.reduce((a, b) => Math.max(a, b), 0);

/**
 * Was the name of this revision free only because it had been used and removed? Then its writer slept through at
 * least as many revisions as are kept, and a newer one than those is there.
 */
export async function isOutrun(
  parents: readonly string[],
  leaseId: string,
  revision: number,
): Promise<boolean> {
  for (const parent of parents) {
    const revisions = await revisionsIn(parent, leaseId).catch((error: unknown) => {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw stateError("list", join(parent, leaseId), error);
    });
    if (revisions) return newest(revisions) >= revision + KEPT_REVISIONS;
  }
  // Ended and pruned meanwhile.
  return true;
}

/** Now and then, after `revision` was published. What cannot be removed stays for next time. */
export async function removeOldRevisions(parent: string, leaseId: string, revision: number): Promise<void> {
  if (revision % KEPT_REVISIONS !== 0) return;
  for (const old of await revisionsIn(parent, leaseId).catch(() => []))
    if (old > 0 && old <= revision - KEPT_REVISIONS)
      await unlink(join(parent, leaseId, revisionFile(old))).catch(() => undefined);
}

/** A file where a directory belongs, or a directory, link, pipe or giant where a small file belongs. */
const BROKEN: readonly unknown[] = ["ENOTDIR", "EISDIR", "ELOOP", "EINVAL", "EFBIG", "ENXIO"];

function misread(error: unknown): Found {
  const code = errnoOf(error);
  if (code === "ENOENT") return { kind: "absent" };
  return BROKEN.includes(code) ? { kind: "damaged" } : { kind: "unreadable", error };
}

/** Moves a lease to another parent. False: somebody else has moved it, or this disk does not let us. */
export async function moveLease(leaseId: string, from: string, to: string): Promise<boolean> {
  return rename(join(from, leaseId), join(to, leaseId)).then(
    () => true,
    () => false,
  );
}

/** Like moveLease, to a name that is free in any case; its time then says since when it has been there. */
export async function discardLease(leaseId: string, from: string, to: string): Promise<boolean> {
  const target = join(to, `${leaseId}.${randomUUID()}`);
  try {
    await rename(join(from, leaseId), target);
  } catch {
    return false;
  }
  const now = new Date();
  await lutimes(target, now, now).catch(() => undefined);
  return true;
}

/** Removes what was last changed more than `maxAgeMs` before `now`. What cannot be removed stays for next time. */
export async function removeOlder(directory: string, now: number, maxAgeMs: number): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const changed = await lstat(path).catch(() => undefined);
    if (changed && now - changed.mtimeMs > maxAgeMs)
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}
