/**
 * The gateway instance id: which installation a lease belongs to. Created once per state directory, by whoever
 * comes first.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { LifecycleError } from "./errors.js";
import { isUuid } from "./lease-format.js";
import type { GatewayInstanceId } from "./lease.js";
import { openStateDir } from "./state-dir.js";
import { errnoOf, publishOnce, readSmall, stateError } from "./state-file.js";

const FILE = "gateway-instance-id";

/**
 * The id of this state directory; the same for every process that asks. Throws LifecycleError ERR_STATE_DIR: a
 * damaged file is named, never replaced, because under a new id every lease of the old one would be a stranger's.
 */
export async function resolveGatewayInstanceId(options: {
  readonly stateDir: string;
}): Promise<GatewayInstanceId> {
  const { path, leases } = await openStateDir(options.stateDir);
  const file = join(path, FILE);
  const existing = await read(file);
  if (existing !== undefined) return existing;

  // Durable: an id that is forgotten by a power cut would orphan the session records that name it.
  await publishOnce(file, `${randomUUID()}\n`, leases.temporary, { durable: true });
  const published = await read(file);
  if (published === undefined)
    throw new LifecycleError(
      "ERR_STATE_DIR",
      `${file} vanished while it was created: leave it to the package`,
    );
  return published;
}

/** The id of a state directory that need not have one yet. Throws like `resolveGatewayInstanceId`. */
export async function readGatewayInstanceId(stateDir: string): Promise<GatewayInstanceId | undefined> {
  return await read(join(stateDir, FILE));
}

async function read(file: string): Promise<GatewayInstanceId | undefined> {
  let text: string;
  try {
    text = await readSmall(file, 4096);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw stateError("read", file, error);
  }
  const id = text.trimEnd();
  if (isUuid(id)) return id;
  throw new LifecycleError(
    "ERR_STATE_DIR",
    `${file} holds no gateway instance id: restore it from a backup, or, once no agent of this state directory ` +
      "runs any more, remove it to be given a new one",
  );
}
