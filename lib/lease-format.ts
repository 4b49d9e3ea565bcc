/**
 * A lease as text. What is on disk may be torn, copied by hand, hostile or from another version: it becomes a
 * whole lease or the reason why not, never half a lease.
 */
import { LifecycleError } from "./errors.js";
import type { AcpxProcessLease } from "./lease.js";

export type Unpacked =
  | { readonly ok: true; readonly lease: AcpxProcessLease }
  | { readonly ok: false; readonly reason: "damaged" | "newer-schema"; readonly detail: string };

/** Bytes; a lease with every field at its bound, in the longest encoding, is smaller. */
export const LEASE_SIZE_LIMIT = 256 * 1024;

type Check = (value: unknown) => boolean;
type OptionalField = {
  [K in keyof AcpxProcessLease]-?: undefined extends AcpxProcessLease[K] ? K : never;
}[keyof AcpxProcessLease];
type RequiredField = Exclude<keyof AcpxProcessLease, OptionalField>;

const NIL_UUID = "00000000-0000-0000-0000-000000000000";
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** A lone surrogate does not survive the way through UTF-8. */
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** The shape of our ids: lower case, because ids become directory names; the nil UUID means "not recorded". */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && UUID.test(value) && value !== NIL_UUID;
}

const integer =
  (low: number, high: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high;
const line =
  (low: number, high: number): Check =>
  (value) =>
    typeof value === "string" && value.length >= low && value.length <= high && !CONTROL.test(value);
const oneOf =
  (...names: readonly unknown[]): Check =>
  (value) =>
    names.includes(value);
/** Paths may hold anything but NUL; what shows them escapes them. */
const path: Check = (value) => typeof value === "string" && value.length <= 16_384 && isPath.test(value);
const isPath = /^[^\0\p{Cs}]*$/u;

const token = line(1, 512);
const pid = integer(1, 2 ** 31 - 1);
const ticks = integer(0, Number.MAX_SAFE_INTEGER);
/** What a Date can hold. */
const epochMs = integer(0, 8.64e15);

const REQUIRED = {
  schema: oneOf("acpx.process-lease.v1"),
  leaseId: isUuid,
  revision: integer(1, 999_999_999),
  gatewayInstanceId: isUuid,
  sessionKey: line(1, 4096),
  wrapperRoot: path,
  wrapperPath: path,
  rootPid: integer(0, 2 ** 31 - 1),
  commandHash: line(0, 512),
  startedAt: epochMs,
  state: oneOf("open", "closing", "closed", "lost"),
  launch: oneOf("wrapper", "direct"),
  launchId: line(1, 512),
  owner: (value) =>
    isRecord(value) &&
    pid(value["pid"]) &&
    token(value["token"]) &&
    (value["host"] === undefined || line(1, 128)(value["host"])),
  updatedAt: epochMs,
} satisfies Record<RequiredField, Check>;

const OPTIONAL = {
  rootToken: token,
  processGroupId: pid,
  adapterPid: pid,
  adapterToken: token,
  seenTicks: ticks,
  proof: oneOf("subreaper", "search"),
  endedAt: epochMs,
  reason: line(0, 1000),
} satisfies Record<OptionalField, Check>;

/** One line of JSON. */
export function packLease(lease: AcpxProcessLease): string {
  return `${JSON.stringify(lease)}\n`;
}

/** The same for a store: nothing is written that could not be read again. Throws LifecycleError ERR_INVALID_OPTION. */
export function packWholeLease(lease: AcpxProcessLease): string {
  const text = packLease(lease);
  const readBack = unpackLease(text);
  if (readBack.ok) return text;
  throw new LifecycleError("ERR_INVALID_OPTION", `this is no whole lease: ${readBack.detail}`);
}

export function unpackLease(text: string): Unpacked {
  if (text.length > LEASE_SIZE_LIMIT) return damaged("it is too large");
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return damaged("it is not JSON");
  }
  if (!isRecord(parsed)) return damaged("it is not an object");
  if (isNewerSchema(parsed["schema"]))
    return { ok: false, reason: "newer-schema", detail: `written as ${parsed["schema"]}` };

  // Copied field by field: what this version does not know (or `__proto__`) never comes along.
  const fields: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(REQUIRED)) {
    if (!Object.hasOwn(parsed, name)) return damaged(`${name} is missing`);
    if (!check(parsed[name])) return damaged(`${name} is not what a lease may hold`);
    fields[name] = parsed[name];
  }
  for (const [name, check] of Object.entries(OPTIONAL)) {
    if (!Object.hasOwn(parsed, name)) continue;
    if (!check(parsed[name])) return damaged(`${name} is not what a lease may hold`);
    fields[name] = parsed[name];
  }
  const { pid, token, host } = fields["owner"] as AcpxProcessLease["owner"];
  const lease = {
    ...fields,
    owner: { pid, token, ...(host !== undefined && { host }) },
  } as unknown as AcpxProcessLease;
  const contradiction = findContradiction(lease);
  return contradiction === undefined ? { ok: true, lease } : damaged(contradiction);
}

/** Fields that only make sense together. */
function findContradiction(lease: AcpxProcessLease): string | undefined {
  const ended = lease.state === "closed" || lease.state === "lost";
  if ((lease.rootPid !== 0) !== (lease.rootToken !== undefined)) return "root pid and token go together";
  if ((lease.adapterPid !== undefined) !== (lease.adapterToken !== undefined))
    return "adapter pid and token go together";
  if (lease.adapterPid !== undefined && lease.rootPid === 0) return "an adapter needs a root";
  if (ended !== (lease.endedAt !== undefined)) return "an ended lease, and no other, says when it ended";
  if (lease.state === "closed" && lease.proof === undefined)
    return "a closed lease says how its end was proven";
  if (lease.launch === "wrapper" && (lease.wrapperRoot === "" || lease.wrapperPath === ""))
    return "a wrapper launch names its wrapper and its root";
  return undefined;
}

function isNewerSchema(schema: unknown): schema is string {
  const version = typeof schema === "string" ? /^acpx\.process-lease\.v([1-9]\d{0,8})$/.exec(schema) : null;
  return version !== null && Number(version[1]) > 1;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const damaged = (detail: string): Unpacked => ({ ok: false, reason: "damaged", detail });
