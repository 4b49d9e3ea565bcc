/**
 * Session rows on disk: whose session each is, and the lease that it runs under. One small file per session, which
 * appears whole and survives a power cut: unlike a lease it is worth something when no process is left.
 */
import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { canonicalSessionKey } from "./session-key.js";
import { packSessionRow, unpackSessionRow, type AcpSessionRow } from "./session-row-format.js";
import { errnoOf, ignore, readSmall, stateError, syncDirectory, writeNew } from "./state-file.js";

const SIZE_LIMIT = 16_384;

export interface SessionRows {
  get(sessionKey: string): Promise<AcpSessionRow | undefined>;
  /** The change gets the row as it stands; concurrent changes of this process come one after another. */
  change(
    sessionKey: string,
    change: (row: AcpSessionRow | undefined) => AcpSessionRow | undefined,
  ): Promise<void>;
  list(): Promise<readonly AcpSessionRow[]>;
  remove(sessionKey: string): Promise<void>;
}

/** Throws LifecycleError ERR_STATE_DIR, as every method does. */
export async function openSessionRows(stateDir: string): Promise<SessionRows> {
  const directory = join(stateDir, "session-rows");
  try {
    await mkdir(directory, { mode: 0o700 }).catch(ignore("EEXIST"));
    await chmod(directory, 0o700);
  } catch (error) {
    throw stateError("create", directory, error);
  }
  const changes = new Map<string, Promise<void>>();
  const fileOf = (sessionKey: string) => {
    const name = createHash("sha256").update(canonicalSessionKey(sessionKey)).digest("hex");
    return join(directory, `${name}.json`);
  };

  /** A row that is damaged counts as none: who owns a session is then not known, which shows it to fewer. */
  const read = async (path: string): Promise<AcpSessionRow | undefined> => {
    try {
      return unpackSessionRow(await readSmall(path, SIZE_LIMIT));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw stateError("read", path, error);
    }
  };

  const apply: SessionRows["change"] = async (sessionKey, change) => {
    const path = fileOf(sessionKey);
    const row = change(await read(path));
    if (row === undefined) return;
    const temporary = join(directory, `.${randomUUID()}.tmp`);
    try {
      await writeNew(temporary, packSessionRow(row), { durable: true });
      await rename(temporary, path);
      await syncDirectory(directory);
    } catch (error) {
      throw stateError("write", path, error);
    } finally {
      await rm(temporary, { force: true }).catch(() => undefined);
    }
  };

  return {
    get: (sessionKey) => read(fileOf(sessionKey)),
    change(sessionKey, change) {
      const path = fileOf(sessionKey);
      const next = (changes.get(path) ?? Promise.resolve())
        .catch(() => undefined)
        .then(() => apply(sessionKey, change))
        .finally(() => {
          if (changes.get(path) === next) changes.delete(path);
        });
      changes.set(path, next);
      return next;
    },
    async list() {
      const names = await readdir(directory).catch((error: unknown) => {
        throw stateError("read", directory, error);
      });
      const rows: AcpSessionRow[] = [];
      for (const name of names.sort()) {
        const row = /^[0-9a-f]{64}\.json$/.test(name) ? await read(join(directory, name)) : undefined;
        if (row !== undefined) rows.push(row);
      }
      return rows;
    },
    async remove(sessionKey) {
      const path = fileOf(sessionKey);
      await rm(path, { force: true }).catch((error: unknown) => {
        throw stateError("remove", path, error);
      });
    },
  };
}
