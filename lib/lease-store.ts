/**
 * Leases on disk: one directory per lease, one file per revision, published by `link` so that exactly one
 * writer gets each revision. No lock, nothing lost, nothing resurrected.
 */
import { randomUUID } from "node:crypto";
import { chmod, mkdir, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { cautiousNow } from "./cautious-clock.js";
import { LifecycleError } from "./errors.js";
import {
  discardLease,
  isOutrun,
  moveLease,
  readAll,
  readLatest,
  readRevision,
  removeOlder,
  removeOldRevisions,
  revisionFile,
} from "./lease-files.js";
import { isUuid, packWholeLease } from "./lease-format.js";
import type { AcpxProcessLease, LeaseEvent } from "./lease.js";
import { advanceLease, hasEnded } from "./lease.js";
import { beyondRetention, byEnd, type RetentionLimits, WEEK_MS } from "./lease-retention.js";
import type { StateDir } from "./state-dir.js";
import { openStateDir } from "./state-dir.js";
import { errnoOf, publishOnce, saysNoHardLinks, stateError, writeNew } from "./state-file.js";

export interface OpenLeases {
  readonly leases: readonly AcpxProcessLease[];
  /** Lease ids whose files were damaged; moved to leases/damaged/. */
  readonly setAside: readonly string[];
  /** Lease ids written by a newer version of this package; left alone. */
  readonly newer: readonly string[];
  /** Lease ids that could not be looked at (permissions, I/O errors); left alone. */
  readonly unreadable: readonly string[];
}

/** Defaults: a clock that never leaps ahead, 7 days, 1,000 (of a keyed store: 500). */
export type PruneOptions = Partial<RetentionLimits>;

/** What the lifecycle needs of a store; a host's keyed store with compare-and-apply can serve it too. */
export interface LeaseStore {
  /** Publishes revision 1. Throws LifecycleError: ERR_STATE_DIR (disk), ERR_INVALID_OPTION (not a whole new lease). */
  create(lease: AcpxProcessLease): Promise<void>;
  /** Compare-and-set: the published revision must be `next.revision - 1` and not ended. */
  publish(next: AcpxProcessLease): Promise<"published" | "superseded">;
  /** Open or ended; undefined when there is none, or none that this version can read. */
  load(leaseId: string): Promise<AcpxProcessLease | undefined>;
  listOpen(): Promise<OpenLeases>;
  listEnded(): Promise<readonly AcpxProcessLease[]>;
  /** Removes ended leases beyond age or number; how many. */
  prune(options?: PruneOptions): Promise<number>;
}

export type AdvanceOutcome =
  | { readonly ok: true; readonly lease: AcpxProcessLease }
  | { readonly ok: false; readonly because: "missing" | "refused" | "contended"; readonly detail: string };

/** Every lost race means that another writer made progress, so this many losses in a row are no accident. */
const ATTEMPTS = 100;

/** Loads, applies one event, publishes; again when somebody else was first. `now`: epoch milliseconds. */
export async function advance(
  store: LeaseStore,
  leaseId: string,
  event: LeaseEvent,
  now: number = Date.now(),
): Promise<AdvanceOutcome> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const current = await store.load(leaseId);
    if (!current) return { ok: false, because: "missing", detail: `there is no lease ${leaseId}` };
    const next = advanceLease(current, event, now);
    if (!next.ok) return { ok: false, because: "refused", detail: next.because };
    if ((await store.publish(next.lease)) === "published") return { ok: true, lease: next.lease };
  }
  return { ok: false, because: "contended", detail: `lease ${leaseId} changed ${ATTEMPTS} times meanwhile` };
}

/** A temporary file that old belongs to a writer that is gone. */
const STRAY_MS = 3600 * 1000;

type Directories = StateDir["leases"];

/** Opens (or creates) the leases of a state directory. Throws LifecycleError ERR_STATE_DIR. */
export async function createLeaseStore(options: { readonly stateDir: string }): Promise<LeaseStore> {
  const dirs = (await openStateDir(options.stateDir)).leases;
  await refuseWithoutHardLinks(dirs);
  return {
    create: (lease) => create(dirs, lease),
    publish: (next) => publish(dirs, next),
    load: (leaseId) => load(dirs, leaseId),
    listOpen: () => listOpen(dirs),
    listEnded: () => listEnded(dirs),
    prune: ({ now = cautiousNow(), maxAgeMs = WEEK_MS, maxEnded = 1000 } = {}) =>
      prune(dirs, { now, maxAgeMs, maxEnded }),
  };
}

/** The directory appears with its first revision in it: nobody ever sees it empty. */
async function create(dirs: Directories, lease: AcpxProcessLease): Promise<void> {
  const text = packWholeLease(lease);
  const { leaseId } = lease;
  if (lease.revision !== 1 || hasEnded(lease)) throw misuse(`lease ${leaseId} is not a new one`);
  const ended = await readLatest(dirs.ended, leaseId);
  if (ended.kind === "unreadable") throw stateError("read lease", join(dirs.ended, leaseId), ended.error);
  if (ended.kind !== "absent") throw misuse(`lease ${leaseId} has ended: take a new id`);

  const prepared = join(dirs.temporary, `${randomUUID()}.tmp`);
  try {
    await mkdir(prepared, { mode: 0o700 });
    await chmod(prepared, 0o700);
    await writeNew(join(prepared, revisionFile(1)), text);
    await rename(prepared, join(dirs.open, leaseId));
  } catch (error) {
    await rm(prepared, { recursive: true, force: true }).catch(() => undefined);
    if (["EEXIST", "ENOTEMPTY"].includes(errnoOf(error) ?? ""))
      throw misuse(`lease ${leaseId} exists: take a new id`);
    throw stateError("record a lease in", dirs.open, error);
  }
}

/**
 * The name of the next revision can be linked once only, so a writer that slept loses: somebody has that name
 * (EEXIST), or the directory has left open/ (ENOENT). A name that is free again because it is old gives itself
 * away by the far newer ones beside it.
 */
async function publish(dirs: Directories, next: AcpxProcessLease): Promise<"published" | "superseded"> {
  const text = packWholeLease(next);
  const { leaseId, revision } = next;
  if (revision < 2) throw misuse(`lease ${leaseId} is new: create it`);
  const directory = join(dirs.open, leaseId);
  const previous = await readRevision(dirs.open, leaseId, revision - 1);
  if (previous.kind === "unreadable") throw stateError("read lease", directory, previous.error);
  // A terminal revision whose directory has not moved yet (its writer crashed) takes no successor.
  if (previous.kind !== "lease" || hasEnded(previous.lease)) return "superseded";

  const target = join(directory, revisionFile(revision));
  if ((await publishOnce(target, text, dirs.temporary)) === "superseded") return "superseded";
  if (await isOutrun([dirs.open, dirs.ended], leaseId, revision)) {
    // Below the newest it says nothing to anybody, if it must stay.
    await unlink(target).catch(() => undefined);
    return "superseded";
  }
  if (hasEnded(next)) await retire(dirs, leaseId);
  else await removeOldRevisions(dirs.open, leaseId, revision);
  return "published";
}

/** The terminal revision has ended the lease; this only tidies. Whoever lists does it again where it failed. */
async function retire(dirs: Directories, leaseId: string): Promise<void> {
  if (await moveLease(leaseId, dirs.open, dirs.ended)) return;
  // Still there beside an ended one of the same id: a directory restored from a copy.
  if ((await readLatest(dirs.ended, leaseId)).kind !== "absent")
    await discardLease(leaseId, dirs.open, dirs.damaged);
}

/** Leases only move from open/ to ended/ to trash/, so that looking in this order misses none. */
async function load(dirs: Directories, leaseId: string): Promise<AcpxProcessLease | undefined> {
  if (!isUuid(leaseId)) return undefined;
  for (const parent of [dirs.open, dirs.ended]) {
    const found = await readLatest(parent, leaseId);
    if (found.kind === "lease") return found.lease;
    if (found.kind === "unreadable") throw stateError("read lease", join(parent, leaseId), found.error);
  }
  return undefined;
}

async function listOpen(dirs: Directories): Promise<OpenLeases> {
  const leases: AcpxProcessLease[] = [];
  const ids = { setAside: [] as string[], newer: [] as string[], unreadable: [] as string[] };
  for (const [leaseId, found] of await readAll(dirs.open)) {
    switch (found.kind) {
      case "lease":
        if (hasEnded(found.lease)) await retire(dirs, leaseId);
        else leases.push(found.lease);
        break;
      case "damaged":
        if (await discardLease(leaseId, dirs.open, dirs.damaged)) ids.setAside.push(leaseId);
        else ids.unreadable.push(leaseId);
        break;
      case "newer":
      case "unreadable":
        ids[found.kind].push(leaseId);
        break;
      case "absent":
        break;
    }
  }
  leases.sort((a, b) => a.startedAt - b.startedAt);
  return { leases, ...ids };
}

/** Oldest end first. */
async function listEnded(dirs: Directories): Promise<readonly AcpxProcessLease[]> {
  const leases: AcpxProcessLease[] = [];
  for (const [leaseId, found] of await readAll(dirs.ended)) {
    if (found.kind === "lease" && hasEnded(found.lease)) leases.push(found.lease);
    else if (found.kind === "lease" || found.kind === "damaged")
      await discardLease(leaseId, dirs.ended, dirs.damaged);
  }
  return leases.sort(byEnd);
}

async function prune(dirs: Directories, limits: RetentionLimits): Promise<number> {
  let pruned = 0;
  // Moved before it is removed: a crash half-way leaves no half lease where leases are read.
  for (const { leaseId } of beyondRetention(await listEnded(dirs), limits))
    if (await discardLease(leaseId, dirs.ended, dirs.trash)) pruned++;
  await removeOlder(dirs.trash, Infinity, 0);
  await removeOlder(dirs.temporary, limits.now, STRAY_MS);
  await removeOlder(dirs.damaged, limits.now, limits.maxAgeMs);
  return pruned;
}

/** Tells at start-up rather than at the first launch. Whatever else is wrong with the disk is told when it matters. */
async function refuseWithoutHardLinks(dirs: Directories): Promise<void> {
  const probe = join(dirs.temporary, `${randomUUID()}.tmp`);
  try {
    await publishOnce(probe, "", dirs.temporary);
  } catch (error) {
    if (error instanceof LifecycleError && saysNoHardLinks(error.cause)) throw error;
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

const misuse = (message: string): LifecycleError => new LifecycleError("ERR_INVALID_OPTION", message);
