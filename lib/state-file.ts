/**
 * Small private files that appear whole or not at all: written under a temporary name and linked to their own,
 * so that of several writers exactly one is first. Every failure of the disk becomes one typed error here.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, stat, statfs, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LifecycleError } from "./errors.js";

/**
 * Creates `target` with `text` unless something of that name exists. `superseded`: it does, or its directory is
 * gone. `durable`: survives a power cut (fsync of file and directory).
 */
export async function publishOnce(
  target: string,
  text: string,
  temporaryDir: string,
  { durable = false } = {},
): Promise<"published" | "superseded"> {
  const temporary = join(temporaryDir, `${randomUUID()}.tmp`);
  try {
    await writeNew(temporary, text, { durable });
    const outcome = await linkFirst(temporary, target);
    if (durable && outcome === "published") await syncDirectory(dirname(target));
    return outcome;
  } catch (error) {
    throw stateError("write", target, error);
  } finally {
    // A stray is swept later; its removal must not hide the error that left it.
    await unlink(temporary).catch(() => undefined);
  }
}

/** A new file, 0600 whatever the umask. */
export async function writeNew(path: string, text: string, { durable = false } = {}): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(text);
    if (durable) await file.sync();
  } finally {
    await file.close();
  }
}

async function linkFirst(temporary: string, target: string): Promise<"published" | "superseded"> {
  try {
    await link(temporary, target);
    return "published";
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT") return "superseded";
    // A network file system that repeats a lost reply says EEXIST to the one who was first: the second name
    // of our own file tells.
    if (code === "EEXIST") return (await linkCount(temporary)) === 2 ? "published" : "superseded";
    if (saysNoHardLinks(error))
      throw new LifecycleError(
        "ERR_STATE_DIR",
        `${dirname(target)} is on ${await fileSystemName(dirname(target))}, which has no hard links; ` +
          "leases need them: put the state directory on a local file system such as ext4, xfs, btrfs or apfs",
        { cause: error },
      );
    throw error;
  }
}

/** EPERM is what link(2) documents for it, and FAT says. */
export function saysNoHardLinks(error: unknown): boolean {
  return ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(errnoOf(error) ?? "");
}

async function linkCount(path: string): Promise<number> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return (await file.stat()).nlink;
  } finally {
    await file.close();
  }
}

/**
 * Reads a regular file of at most `limit` bytes, or throws the errno (EFBIG and EINVAL for what is too large or
 * not a file). Never follows a link and never waits on a pipe that somebody put there.
 */
export async function readSmall(path: string, limit: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw errno("EINVAL", path);
    if (found.size > limit) throw errno("EFBIG", path);
    const buffer = Buffer.alloc(found.size);
    const { bytesRead } = await file.read(buffer, 0, found.size, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/**
 * Creates a directory and what is missing above it, 0700; whether it was missing. Not by mkdir's own `recursive`,
 * which never returns on file systems that have no such names (/proc/x).
 */
export async function makeDirectories(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return false;
    const parent = dirname(path);
    // Still missing although its parent is there: nothing can be created in that place.
    if (code !== "ENOENT" || parent === path || !(await makeDirectories(parent))) throw error;
    return await makeDirectories(path);
  }
}

/** Linux and macOS; elsewhere directories cannot be opened, and need not be. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The remedy behind each errno that an operator meets. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full: free some space",
  EDQUOT: "the disk quota is used up: free some space",
  EROFS: "the file system is read-only: choose a writable state directory",
  EACCES: "permission denied: the state directory must belong to the user of the gateway",
  EPERM: "not permitted: the state directory must belong to the user of the gateway",
  ENOENT: "the state directory has been removed: restart the gateway to have a new one",
  ENOTDIR: "a part of the path is no directory: move that file away or choose another state directory",
  ELOOP: "a symbolic link stands where the package keeps its own files: remove it",
  ENAMETOOLONG: "the path is too long: choose a shorter state directory",
  EMFILE: "too many open files: raise the limit of the gateway",
  ENFILE: "too many open files on this host",
  EIO: "the disk reports an error: check it",
};

/** `verb` completes "cannot ... <path>". An error that is typed already stays what it is. */
export function stateError(verb: string, path: string, error: unknown): LifecycleError {
  if (error instanceof LifecycleError) return error;
  const code = errnoOf(error) ?? "unknown error";
  const remedy = REMEDIES[code] ?? "choose another state directory";
  return new LifecycleError("ERR_STATE_DIR", `cannot ${verb} ${path} (${code}): ${remedy}`, { cause: error });
}

export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** For `.catch`: swallows exactly the named errors. */
export function ignore(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(errnoOf(error) ?? "")) throw error;
  };
}

function errno(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

/** statfs(2) magic numbers of what people put state directories on by accident. */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x4d44: "a FAT file system",
  0x2011bab0: "an exFAT file system",
  0x6969: "NFS",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB",
  0x01021997: "9p",
  0x65735546: "a FUSE file system",
};

async function fileSystemName(path: string): Promise<string> {
  const type = await statfs(path).then(
    (stats) => stats.type >>> 0,
    () => undefined,
  );
  if (type === undefined) return "a file system";
  return FILE_SYSTEMS[type] ?? `a file system of type 0x${type.toString(16)}`;
}
