/**
 * Where a lease lives on disk and how it is found there: `<parent>/<leaseId>/<revision>.json`, the highest
 * revision counts. Other names are not ours and are left alone.
 */
import { randomUUID } from "node:crypto";
import { lutimes, lstat, readdir, rename, rm } from "node:fs/promises";
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

export const revisionFile = (revision: number): string => `${revision}.json`;

/** Every lease below `parent`, by id. */
export async function readAll(
  parent: string,
): Promise<readonly (readonly [leaseId: string, found: Found])[]> {
  const names = await readdir(parent).catch((error: unknown) => {
    throw stateError("list", parent, error);
  });
  const leaseIds = names.filter(isUuid);
  const all: (readonly [string, Found])[] = [];
  for (let start = 0; start < leaseIds.length; start += BATCH) {
    const batch = leaseIds.slice(start, start + BATCH);
    const read = async (leaseId: string) => [leaseId, await readLatest(parent, leaseId)] as const;
    all.push(...(await Promise.all(batch.map(read))));
  }
  return all;
}

export async function readLatest(parent: string, leaseId: string): Promise<Found> {
  let latest = 0;
  try {
    for (const name of await readdir(join(parent, leaseId)))
      latest = Math.max(latest, Number(REVISION_FILE.exec(name)?.[1] ?? 0));
  } catch (error) {
    return misread(error);
  }
  return latest === 0 ? { kind: "damaged" } : readRevision(parent, leaseId, latest);
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
