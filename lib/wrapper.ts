/**
 * The wrapper as the gateway sees it: a copy of the supervisor image under the wrapper root, and the environment
 * that tells it whom to wait for.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { link, lstat, open, readFile, rename, rm } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";

import { CLAIMS, DETACH, GATEWAY_PID, INSTANCE_ID, LEASE_ID, NIL_ID, TERM_GRACE } from "./environment.js";
import { LifecycleError } from "./errors.js";
import type { ProcessIdentity } from "./identity.js";
import { supervisorImage } from "./native.js";
import { errnoOf, makeDirectories } from "./state-file.js";

export interface WrapperRequest {
  readonly wrapperRoot: string;
  /** A file name. acpx keys special cases on it, see agent-command.ts. */
  readonly name: string;
  /** Path of the supervisor image; default: the one that was built or shipped for this machine. */
  readonly image?: string | undefined;
}

export interface InstalledWrapper {
  /** `<wrapperRoot>/<name>`, absolute, as stored commands have it. */
  readonly path: string;
  /** As the kernel names the running image. */
  readonly realPath: string;
  /** `<device>:<inode>`, decimal. */
  readonly fileId: string;
}

/**
 * Makes sure that the image is installed and runs here. An image of the same content stays as it is, any other is
 * replaced at once (running copies keep theirs). Throws LifecycleError ERR_WRAPPER_ROOT, which names the directory
 * and the remedy, and ERR_ADDON_UNAVAILABLE where there is no image for this machine.
 */
export function installWrapper({
  wrapperRoot,
  name,
  image = supervisorImage(),
}: WrapperRequest): Promise<InstalledWrapper> {
  if (typeof wrapperRoot !== "string" || wrapperRoot === "") {
    throw new TypeError("wrapperRoot must be a non-empty path");
  }
  if (name === "" || name === "." || name === ".." || name.includes("/")) {
    throw new LifecycleError("ERR_INVALID_OPTION", `The wrapper's name must be a file name, not "${name}".`);
  }
  const path = join(resolve(wrapperRoot), name);
  const running = installations.get(path);
  if (running !== undefined) return running;
  const installation = install(resolve(wrapperRoot), path, image).finally(() => installations.delete(path));
  installations.set(path, installation);
  return installation;
}

/** Two launches at once must not replace each other's image: the second would not be what was recorded. */
const installations = new Map<string, Promise<InstalledWrapper>>();

/** Installed files that have run here. */
const checked = new Set<string>();

/** What the supervisor needs in its environment; it takes these variables away before the adapter starts. */
export function wrapperEnvironment(options: {
  readonly claimsDir: string;
  readonly gateway: ProcessIdentity;
  readonly termGraceMs: number;
}): Record<string, string> {
  const { claimsDir, gateway, termGraceMs } = options;
  if (!isAbsolute(claimsDir)) throw new TypeError(`claimsDir must be absolute: ${claimsDir}`);
  return {
    [CLAIMS]: claimsDir,
    [GATEWAY_PID]: `${gateway.pid} ${gateway.token}`,
    [TERM_GRACE]: String(termGraceMs),
    [LEASE_ID]: NIL_ID,
    [INSTANCE_ID]: NIL_ID,
    // A gateway that opted out of somebody else's clean-up has not opted its own agents out.
    [DETACH]: "",
  };
}

async function install(
  wrapperRoot: string,
  path: string,
  image: string | undefined,
): Promise<InstalledWrapper> {
  if (image === undefined) {
    throw new LifecycleError(
      "ERR_ADDON_UNAVAILABLE",
      `There is no supervisor for ${process.platform}-${process.arch}: build one with "npm run build:native".`,
    );
  }
  const wanted = await readFile(image);
  try {
    await makeDirectories(wrapperRoot);
    await putImage(path, wanted);
    const { dev, ino } = await lstat(path, { bigint: true });
    const fileId = `${dev}:${ino}`;
    if (!checked.has(fileId)) await selfCheck(path);
    checked.add(fileId);
    return { path, realPath: realpathSync.native(path), fileId };
  } catch (error) {
    throw new LifecycleError(
      "ERR_WRAPPER_ROOT",
      `Wrappers cannot be installed in ${wrapperRoot}: ${explain(error)}.`,
      { cause: error },
    );
  }
}

async function putImage(path: string, wanted: Buffer): Promise<void> {
  if (await holds(path, wanted)) return;
  const temporary = `${path}.${randomUUID()}`;
  try {
    const file = await open(temporary, "wx", 0o700);
    try {
      await file.writeFile(wanted);
      await file.chmod(0o700);
    } finally {
      await file.close();
    }
    // Of several gateways that install the same image at once exactly one is first, and the others keep it.
    const first = await link(temporary, path).then(
      () => true,
      () => false,
    );
    if (!first && !(await holds(path, wanted))) await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function holds(path: string, wanted: Buffer): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isFile() || (found.mode & 0o777) !== 0o700 || found.uid !== process.geteuid?.()) return false;
  return found.size === wanted.length && wanted.equals(await readFile(path));
}

const SELF_CHECK_MS = 10_000;
const ATTEMPTS = 10;

/** A child that another thread forks just now holds our file open for writing until it calls exec: ETXTBSY. */
async function selfCheck(path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { stdout } = await promisify(execFile)(path, ["--self-check"], {
        timeout: SELF_CHECK_MS,
        env: {},
      });
      if (stdout === "ok\n") return;
      throw new Error("the image does not answer");
    } catch (error) {
      if (errnoOf(error) !== "ETXTBSY" || attempt === ATTEMPTS) throw new SelfCheckError(error);
    }
  }
}

class SelfCheckError extends Error {
  constructor(cause: unknown) {
    super("self-check failed", { cause });
  }
}

/** What stands in the way and what helps, for each errno that an operator meets. */
const WRITING: Readonly<Record<string, string>> = {
  EACCES: "it is not writable: give it to the gateway's user, or choose another wrapperRoot",
  EPERM: "it is not writable: give it to the gateway's user, or choose another wrapperRoot",
  EROFS: "its file system is read-only: choose another wrapperRoot",
  ENOSPC: "the disk is full: free some space",
  EDQUOT: "the disk quota is used up: free some space",
  ENOTDIR: "a part of the path is no directory: choose another wrapperRoot",
  EEXIST: "a part of the path is no directory: choose another wrapperRoot",
  EISDIR: "a directory has the wrapper's name: remove it",
};
const RUNNING: Readonly<Record<string, string>> = {
  EACCES: "programs in it may not be executed (mounted noexec?): choose a wrapperRoot elsewhere",
  EPERM: "programs in it may not be executed (quarantined?): allow them, or choose a wrapperRoot elsewhere",
  ENOEXEC: "the supervisor is for another machine: reinstall the package on this one",
  ENOENT: "the supervisor's loader is missing here: reinstall the package on this machine",
};

function explain(error: unknown): string {
  const running = error instanceof SelfCheckError;
  const code = errnoOf(running ? error.cause : error) ?? "";
  const known = (running ? RUNNING : WRITING)[code];
  if (known !== undefined) return `${known} (${code})`;
  const detail = running ? error.cause : error;
  const reason = detail instanceof Error ? detail.message : String(detail);
  return `${reason}; choose another wrapperRoot`;
}
