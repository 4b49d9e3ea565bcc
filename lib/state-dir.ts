/**
 * The state directory: one real path however it was written, with private directories of ours in it.
 */
import type { Stats } from "node:fs";
import { realpathSync } from "node:fs";
import { chmod, lstat, mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { LifecycleError } from "./errors.js";
import { errnoOf, ignore, makeDirectories, stateError } from "./state-file.js";

export interface StateDir {
  /** Real path: absolute, links resolved, no trailing slash. Two gateways share state if and only if it is equal. */
  readonly path: string;
  readonly leases: {
    readonly open: string;
    readonly ended: string;
    /** Unpublished files; only names that nobody else knows. */
    readonly temporary: string;
    readonly trash: string;
    readonly damaged: string;
  };
  readonly claims: string;
  readonly owners: string;
  /** Sentences about ancestors that others may write to. */
  readonly warnings: readonly string[];
}

/**
 * Resolves `path` (relative to the working directory) and creates what is missing, 0700 whatever the umask. Our
 * own directories are put back to 0700; the state directory itself is left as the host made it.
 * Throws LifecycleError ERR_STATE_DIR, and TypeError for anything but a non-empty string.
 */
export async function openStateDir(path: string): Promise<StateDir> {
  if (typeof path !== "string" || path === "" || path.includes("\0"))
    throw new TypeError("stateDir must be a non-empty path");
  const real = await makeRoot(resolve(path));
  const stateDir = layout(real, await inspectAncestors(real));
  const { leases, claims, owners } = stateDir;
  for (const own of [join(real, "leases"), ...Object.values(leases), claims, owners]) await makePrivate(own);
  return stateDir;
}

/** Only looks: undefined where there is nothing yet. Throws like `openStateDir`. */
export async function findStateDir(path: string): Promise<StateDir | undefined> {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw stateError("inspect", path, error);
  }
  return layout(real, await inspectAncestors(real));
}

function layout(real: string, warnings: readonly string[]): StateDir {
  const at = (...names: string[]) => join(real, ...names);
  const leases = {
    open: at("leases", "open"),
    ended: at("leases", "ended"),
    temporary: at("leases", "tmp"),
    trash: at("leases", "trash"),
    damaged: at("leases", "damaged"),
  };
  return { path: real, leases, claims: at("claims"), owners: at("owners"), warnings };
}

async function makeRoot(path: string): Promise<string> {
  try {
    const created = await makeDirectories(path);
    const real = realpathSync.native(path);
    if (created) await chmod(real, 0o700);
    if (!(await stat(real)).isDirectory())
      throw new LifecycleError("ERR_STATE_DIR", `${path} is no directory: choose another state directory`);
    return real;
  } catch (error) {
    throw stateError("create the state directory", path, error);
  }
}

async function makePrivate(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 }).catch(ignore("EEXIST"));
    const found = await lstat(path);
    if (!found.isDirectory())
      throw new LifecycleError("ERR_STATE_DIR", `${path} is no directory of ours: move it away`);
    if (process.platform !== "win32" && (found.mode & 0o7777) !== 0o700) await chmod(path, 0o700);
  } catch (error) {
    throw stateError("make private", path, error);
  }
}

/** Whoever can rename an ancestor can put another state directory in its place. */
async function inspectAncestors(path: string): Promise<string[]> {
  if (process.platform === "win32") return [];
  const warnings: string[] = [];
  for (let current = path; ; current = dirname(current)) {
    const found = await stat(current).catch((error: unknown) => {
      throw stateError("inspect", current, error);
    });
    if (isOpenToAll(found)) {
      const sentence = `${current} is writable by every user: chmod o-w it, or choose another state directory`;
      if (process.geteuid?.() === 0) throw new LifecycleError("ERR_STATE_DIR", sentence);
      warnings.push(sentence);
    }
    if (current === dirname(current)) return warnings;
  }
}

/** World-writable without the sticky bit that keeps others from renaming what is not theirs. */
const isOpenToAll = ({ mode }: Stats): boolean => (mode & 0o002) !== 0 && (mode & 0o1000) === 0;
