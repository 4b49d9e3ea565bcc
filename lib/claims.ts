/**
 * The files by which gateway and supervisor agree on a launch: the claim that lets the adapter start, the report
 * that it runs, and the list of processes that opted out. Named `<pid>.<start number>` of the supervisor;
 * each appears whole or not at all.
 */
import { watch, type FSWatcher } from "node:fs";
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { parseStartToken, startNumber, type ProcessIdentity } from "./identity.js";
import type { GatewayInstanceId } from "./lease.js";
import { ignore, readSmall, stateError, writeNew } from "./state-file.js";

const REPORT = ".report";
const DETACHED = ".detached";
const SIZE_LIMIT = 4096;
const NAME = /^\.?(?<pid>[1-9]\d{0,9})\.(?<ticks>\d{1,15})(?:\.report|\.detached)?$/;

/** How often a directory is looked at that cannot be watched (no inotify instance left), milliseconds. */
const UNWATCHED_MS = 25;

/** Lets the supervisor `root` start its adapter. Throws LifecycleError ERR_STATE_DIR. */
export async function publishClaim(
  claimsDir: string,
  root: ProcessIdentity,
  ids: { readonly leaseId: string; readonly instanceId: GatewayInstanceId },
): Promise<void> {
  const name = nameOf(root);
  const temporary = join(claimsDir, `.${name}`);
  try {
    await rm(temporary, { force: true });
    await writeNew(temporary, `token ${root.token}\nlease ${ids.leaseId}\ninstance ${ids.instanceId}\n`);
    await rename(temporary, join(claimsDir, name));
  } catch (error) {
    throw stateError("write", join(claimsDir, name), error);
  }
}

/** The adapter's pid as the supervisor `root` reports it: a hint where to look, not evidence. */
export async function readReport(claimsDir: string, root: ProcessIdentity): Promise<number | undefined> {
  const text = await readOwn(join(claimsDir, nameOf(root) + REPORT));
  const pid = /^adapter ([1-9]\d{0,9})\n$/.exec(text)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** Who opted out of the end of the tree of `root`, as its supervisor saw them. */
export async function readDetached(
  claimsDir: string,
  root: ProcessIdentity,
): Promise<readonly ProcessIdentity[]> {
  const text = await readOwn(join(claimsDir, nameOf(root) + DETACHED));
  return text.split("\n").flatMap((line) => {
    const [, pid, token = ""] = /^([1-9]\d{0,9}) (\S+)$/.exec(line) ?? [];
    return pid !== undefined && parseStartToken(token) !== undefined ? [{ pid: Number(pid), token }] : [];
  });
}

/** Everything that was exchanged with the supervisor `root`. What cannot be removed is left to the sweep. */
export async function removeClaimFiles(claimsDir: string, root: ProcessIdentity): Promise<void> {
  const name = nameOf(root);
  for (const file of [name, name + REPORT, name + DETACHED]) await remove(join(claimsDir, file));
}

/** Removes the files of every supervisor that is stale; unpublished ones too. Other names are left alone. */
export async function sweepClaims(
  claimsDir: string,
  isStale: (root: { readonly pid: number; readonly ticks: number }) => boolean,
): Promise<void> {
  for (const file of await readdir(claimsDir)) {
    const { pid, ticks } = NAME.exec(file)?.groups ?? {};
    if (pid === undefined || ticks === undefined) continue;
    if (isStale({ pid: Number(pid), ticks: Number(ticks) })) await remove(join(claimsDir, file));
  }
}

/** Disposing it gives up waiting: `arrived` then stays pending. */
export interface ExpectedReport extends Disposable {
  readonly arrived: Promise<number>;
}

/** One watch for all launches of a gateway. */
export interface ClaimWatch {
  /** Ask before the claim is published or after, the report is not missed. */
  expectReport(root: ProcessIdentity): ExpectedReport;
  close(): void;
}

/** Keeps no event loop alive: whoever waits for a report waits for the supervisor's end as well. */
export function watchClaims(claimsDir: string): ClaimWatch {
  const pending = new Map<string, () => void>();
  const lookAtAll = () => {
    for (const look of pending.values()) look();
  };
  let timer: NodeJS.Timeout | undefined;
  const lookNowAndThen = () => {
    timer ??= setInterval(lookAtAll, UNWATCHED_MS).unref();
  };
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(claimsDir, { persistent: false }, (_, file) => {
      if (file === null) lookAtAll();
      else pending.get(file)?.();
    });
    watcher.on("error", lookNowAndThen);
  } catch {
    lookNowAndThen();
  }
  return {
    expectReport(root) {
      const file = nameOf(root) + REPORT;
      let arrive: (pid: number) => void = () => undefined;
      const arrived = new Promise<number>((resolve) => (arrive = resolve));
      const look = () => {
        void readReport(claimsDir, root).then((pid) => {
          if (pid === undefined) return;
          stop();
          arrive(pid);
        });
      };
      // A look may end after somebody else has begun to expect the same file.
      const stop = () => {
        if (pending.get(file) === look) pending.delete(file);
      };
      pending.set(file, look);
      // The watch began earlier: what is not there yet will be announced.
      look();
      return { arrived, [Symbol.dispose]: stop };
    },
    close() {
      pending.clear();
      clearInterval(timer);
      watcher?.close();
    },
  };
}

function nameOf(root: ProcessIdentity): string {
  const start = startNumber(root.token);
  if (start === undefined) throw new TypeError(`not a start token: ${root.token}`);
  return `${root.pid}.${start}`;
}

/** "" for what is not there or not to be trusted: a link, a pipe, somebody else's, or too large. */
async function readOwn(path: string): Promise<string> {
  try {
    const { uid } = await lstat(path);
    return uid === process.geteuid?.() ? await readSmall(path, SIZE_LIMIT) : "";
  } catch {
    return "";
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { force: true }).catch(ignore("EACCES", "EPERM", "EROFS", "EISDIR", "ERR_FS_EISDIR"));
}
