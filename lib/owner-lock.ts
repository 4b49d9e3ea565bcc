/**
 * Locks that say "this gateway lives" to those who cannot see its process: one file per gateway process, locked
 * for as long as the process lives.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { LifecycleError } from "./errors.js";
import type { ProcessIdentity } from "./identity.js";
import * as addon from "./native.js";
import type { FileLock, Native } from "./native.js";
import type { LeaseOwner, OwnerLiveness, OwnerView } from "./owner-liveness.js";
import { ownerLiveness } from "./owner-liveness.js";
import { ignore, stateError } from "./state-file.js";

export type { OwnerLiveness } from "./owner-liveness.js";

type Locks = Pick<Native, "holdLock">;

/** Held for life: whoever releases it while agents run tells other namespaces that they are orphans. */
export interface OwnerLock extends FileLock {
  /** False where locks mean nothing (network and FUSE file systems): other namespaces then keep their hands off. */
  readonly held: boolean;
}

/** Locks that this process took, whether or not it has them still: it lives, so they are no dead gateway's. */
const taken = new Set<string>();

/** Who probes holds a lock for microseconds; who still finds it taken after so many looks has met a real holder. */
const ATTEMPTS = 50;
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
    if (!outcome.ok) {
      if (outcome.reason === "unsupported") return { held: false, release: () => undefined };
      throw stateError("lock", path, Object.assign(new Error(outcome.call), { code: outcome.errno }));
    }
    if ("busy" in outcome.value) {
      await delay(RETRY_MS);
      continue;
    }
    const lock = outcome.value.held;
    // A sweep may have removed the name between our open and our lock; a lock without a name tells nobody.
    if ((await inodeOf(path)) === undefined) {
      lock.release();
      continue;
    }
    taken.add(path);
    return { held: true, release: lock.release.bind(lock) };
  }
  throw new LifecycleError(
    "ERR_STATE_DIR",
    `${path} is locked by a process that is not this gateway: end it`,
  );
}

/** Looks at the owner of a lease from where `self` is. */
export async function lookAtOwner(
  stateDir: string,
  owner: LeaseOwner,
  self: LeaseOwner,
  native: Pick<Native, "holdLock" | "open"> = addon,
): Promise<OwnerLiveness> {
  // Not even probed: within one process a lock that is held already is given again, and with it taken from us.
  if (owner.pid === self.pid && owner.token === self.token)
    return { kind: "alive", because: "this gateway holds it", copied: false };
  const process = lookAtProcess(owner.pid, native);
  return ownerLiveness({
    owner,
    self,
    process,
    lock: await lookAtLock(ownerLockPath(stateDir, owner), native),
  });
}

function lookAtProcess(pid: number, native: Pick<Native, "open">): OwnerView["process"] {
  const opened = native.open(pid);
  if (opened.ok) {
    try {
      // A zombie still opens; only reading it says that it is dead.
      const reading = opened.value.read([]);
      if (reading.ok) return { kind: "live", token: reading.value.token };
      return reading.reason === "gone" ? { kind: "absent" } : { kind: "unreadable", detail: reading.call };
    } finally {
      opened.value.close();
    }
  }
  return opened.reason === "gone" ? { kind: "absent" } : { kind: "unreadable", detail: opened.call };
}

async function lookAtLock(path: string, native: Locks): Promise<OwnerView["lock"]> {
  // Trying a lock creates its file, and a fresh one is free: absence must not turn into "dead".
  if ((await inodeOf(path)) === undefined) return "missing";
  const outcome = native.holdLock(path, "probe");
  if (!outcome.ok) return "unknown";
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

/** Only while we hold it, and only if the name still means the file that we locked. */
async function removeIfFree(path: string, native: Locks): Promise<boolean> {
  const before = await inodeOf(path);
  if (before === undefined) return false;
  const outcome = native.holdLock(path, "exclusive");
  if (!outcome.ok || "busy" in outcome.value) return false;
  try {
    if ((await inodeOf(path)) !== before) return false;
    return await unlink(path).then(
      () => true,
      () => false,
    );
  } finally {
    outcome.value.held.release();
  }
}

const LOCK_NAME = /^[1-9]\d{0,9}\.[0-9a-f]{16}\.lock$/;

function ownerLockPath(stateDir: string, { pid, token }: ProcessIdentity): string {
  return join(stateDir, "owners", `${pid}.${sha256(token).slice(0, 16)}.lock`);
}

async function inodeOf(path: string): Promise<bigint | undefined> {
  return (await lstat(path, { bigint: true }).catch(ignore("ENOENT")))?.ino;
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
