/**
 * Locks that say "this gateway lives" to those who cannot see its process: one file per gateway process, locked
 * for as long as the process lives.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { cautiousNow } from "./cautious-clock.js";
import { LifecycleError } from "./errors.js";
import type { ProcessIdentity } from "./identity.js";
import type { AcpxProcessLease } from "./lease.js";
import * as addon from "./native.js";
import type { Fault, FileLock, Native, Observed, ProcessReading } from "./native.js";
import type { LeaseOwner, OwnerLiveness, OwnerView } from "./owner-liveness.js";
import { ownerLiveness } from "./owner-liveness.js";
import { stateError } from "./state-file.js";

export type { OwnerLiveness } from "./owner-liveness.js";

type Locks = Pick<Native, "holdLock">;

/** Held for life: whoever releases it while agents run tells other namespaces that they are orphans. */
export interface OwnerLock extends FileLock {
  /** False: none could be taken, see `isLockless`; other namespaces then keep their hands off. */
  readonly held: boolean;
}

/**
 * Locks mean nothing on network and FUSE file systems. A full or read-only disk has no room for one: it refuses
 * launches, but what runs must still be ended.
 */
function isLockless({ reason, errno = "" }: Fault): boolean {
  return reason === "unsupported" || ["ENOSPC", "EDQUOT", "EROFS"].includes(errno);
}

/** Locks that this process took, whether or not it has them still: it lives, so they are no dead gateway's. */
const taken = new Set<string>();

/** Sweeps hold the lock of another gateway for moments; who still finds it taken then has met a real holder. */
const ATTEMPTS = 20;
const RETRY_MS = 10;

/** Says that the process of `owner` lives. Throws LifecycleError ERR_STATE_DIR when its lock file cannot be made. */
export async function holdOwnerLock(
  stateDir: string,
  owner: ProcessIdentity,
  native: Locks = addon,
): Promise<OwnerLock> {
  const path = ownerLockPath(stateDir, owner);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const outcome = native.holdLock(path, "exclusive");
    if (outcome.ok && "held" in outcome.value) {
      taken.add(path);
      return Object.assign(outcome.value.held, { held: true });
    }
    if (!outcome.ok && isLockless(outcome)) return { held: false, release: () => undefined };
    // `gone`: a sweep removed the name between open and lock. Busy: a sweep is about to.
    if (!outcome.ok && outcome.reason !== "gone")
      throw stateError("lock", path, Object.assign(new Error(outcome.call), { code: outcome.errno }));
    await delay(RETRY_MS);
  }
  throw new LifecycleError(
    "ERR_STATE_DIR",
    `${path} is locked by a process that is not this gateway: end it`,
  );
}

/** Looks at the owner of a lease from where `self` is. */
export async function lookAtOwner(
  stateDir: string,
  { owner, updatedAt }: Pick<AcpxProcessLease, "owner" | "updatedAt">,
  self: LeaseOwner,
  native: Pick<Native, "holdLock" | "readMany"> = addon,
): Promise<OwnerLiveness> {
  // Our own lock is not tried: it looks free to the process that holds it, and to nobody else.
  if (owner.pid === self.pid && owner.token === self.token)
    return { kind: "alive", because: "this gateway holds it", copied: false };
  const [reading] = await native.readMany([owner.pid], []);
  const lock = lookAtLock(ownerLockPath(stateDir, owner), native);
  const silentMs = cautiousNow() - updatedAt;
  return ownerLiveness({ owner, self, process: processOf(reading), lock, silentMs });
}

/** A zombie can still be opened but no longer be read, so that only a living process has a reading. */
function processOf(reading: Observed<ProcessReading> | undefined): OwnerView["process"] {
  if (reading?.ok) return { kind: "live", token: reading.value.token };
  if (reading?.reason === "gone") return { kind: "absent" };
  return { kind: "unreadable", detail: reading?.call ?? "no answer" };
}

function lookAtLock(path: string, native: Locks): OwnerView["lock"] {
  const outcome = native.holdLock(path, "probe");
  if (!outcome.ok) return outcome.reason === "gone" ? "missing" : "unknown";
  if ("busy" in outcome.value) return "held";
  outcome.value.held.release();
  return "free";
}

/** Sweeps that this environment runs; a file lock does not exclude the process that holds it. */
const sweeping = new Set<string>();

/**
 * Runs `sweep` alone among all sweeps of the state directory, or answers `busy`. Where locks mean nothing it runs
 * all the same: exclusion spares double work, safety comes from proofs and from the store's compare-and-set.
 */
export async function withSweepLock<T>(
  stateDir: string,
  sweep: () => Promise<T>,
  native: Locks = addon,
): Promise<T | "busy"> {
  if (sweeping.has(stateDir)) return "busy";
  sweeping.add(stateDir);
  let lock: FileLock | undefined;
  try {
    const outcome = native.holdLock(join(stateDir, "sweep.lock"), "exclusive");
    if (outcome.ok) {
      if ("busy" in outcome.value) return "busy";
      lock = outcome.value.held;
    }
    return await sweep();
  } finally {
    lock?.release();
    sweeping.delete(stateDir);
  }
}

/**
 * Removes the locks of dead gateways, except those in `keep`: while a lease names an owner, its lock is what
 * tells other namespaces that it is dead. How many were removed.
 */
export async function removeDeadOwnerLocks(
  stateDir: string,
  keep: readonly ProcessIdentity[],
  native: Locks = addon,
): Promise<number> {
  const kept = new Set(keep.map((owner) => ownerLockPath(stateDir, owner)));
  let removed = 0;
  const directory = join(stateDir, "owners");
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    if (!LOCK_NAME.test(name) || kept.has(path) || taken.has(path)) continue;
    if (await removeIfFree(path, native)) removed++;
  }
  return removed;
}

/** Only while we hold it: its owner, if it is just starting, finds the name gone and makes a new one. */
async function removeIfFree(path: string, native: Locks): Promise<boolean> {
  const outcome = native.holdLock(path, "exclusive");
  if (!outcome.ok || "busy" in outcome.value) return false;
  try {
    await unlink(path);
    return true;
  } catch {
    // Left for the next sweep.
    return false;
  } finally {
    outcome.value.held.release();
  }
}

const LOCK_NAME = /^[1-9]\d{0,9}\.[0-9a-f]{16}\.lock$/;

function ownerLockPath(stateDir: string, { pid, token }: ProcessIdentity): string {
  return join(stateDir, "owners", `${pid}.${sha256(token).slice(0, 16)}.lock`);
}

/**
 * Hash of the machine id (machine-id(5) asks not to show it itself); undefined where there is none, as in small
 * containers.
 */
export function hostId(): string | undefined {
  for (const file of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    try {
      const id = readFileSync(file, "utf8").trim();
      if (/^[0-9a-f]{32}$/.test(id)) return sha256(id);
    } catch {
      // The next file may be there.
    }
  }
  return undefined;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
