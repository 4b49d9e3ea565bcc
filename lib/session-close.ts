/**
 * Closing a session: the runtime is asked first and may fail or hang; what the session's leases name is ended all
 * the same, and both facts are told.
 */
import { setTimeout as delay } from "node:timers/promises";

import type { AcpRuntime, AcpRuntimeHandle } from "./acpx.js";
import { announce } from "./diagnostics.js";
import type { ProcessIdentity } from "./identity.js";
import type { AcpxProcessLease } from "./lease.js";
import { advance, type LeaseStore } from "./lease-store.js";
import type { Settlement } from "./settle.js";
import type { Survivor } from "./terminate.js";

/** acpx itself may use 8 s to end a session. */
const RUNTIME_CLOSE_MS = 10_000;
/** acpx starts processes inside its own close; what appears while we end others is looked for again this often. */
const ROUNDS = 5;

export interface CloseRequest {
  readonly runtime: Pick<AcpRuntime, "close" | "prepareFreshSession" | "findSession">;
  readonly handle: AcpRuntimeHandle;
  readonly reason?: string | undefined;
  /** Also drop the record, so that the next ensure starts afresh. */
  readonly discardPersistentState?: boolean | undefined;
}

export type RuntimeClose =
  | { readonly kind: "closed" }
  /** The agent cannot discard its own state: acpx keeps the record and creates a fresh session on the next ensure. */
  | { readonly kind: "prepared-fresh" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "timed-out"; readonly afterMs: number };

/** A live process that the session's record names and no lease does; pinned until it is disposed of. */
export interface UnleasedProcess extends Disposable {
  /** Ends it, if it was verified to be the recorded one. */
  end(): Promise<UnleasedEnding>;
}

export interface UnleasedEnding {
  readonly pid: number;
  /** False: left alone, or left over, and `because` says why. */
  readonly ended: boolean;
  readonly because: string;
  readonly deaths: readonly ProcessIdentity[];
  readonly survivors: readonly Survivor[];
}

export interface CloseOutcome {
  readonly sessionKey: string;
  readonly runtime: RuntimeClose;
  /** One per lease of the session that was open when the close began or appeared during it. */
  readonly leases: readonly Settlement[];
  /** Only of a record from before leases whose process is there. */
  readonly unleased?: UnleasedEnding;
}

export interface SessionCloseContext {
  readonly store: LeaseStore;
  /** The open leases of a session that this process may end: its own, and those of dead owners. */
  readonly leasesOf: (sessionKey: string) => Promise<readonly AcpxProcessLease[]>;
  readonly settle: (lease: AcpxProcessLease, reason: string) => Promise<Settlement | undefined>;
  /** Where sessions from before leases are looked after. */
  readonly unleased?: (handle: AcpRuntimeHandle) => Promise<UnleasedProcess | undefined>;
}

export async function closeSession(
  context: SessionCloseContext,
  request: CloseRequest,
): Promise<CloseOutcome> {
  const { sessionKey } = request.handle;
  const reason = request.reason ?? "session closed";
  const settlements = new Map<string, Settlement>();
  // Before the runtime is asked: it may forget which process it was.
  using unleased = await context.unleased?.(request.handle);
  const before = await context.leasesOf(sessionKey);
  await Promise.all(before.map((lease) => markClosing(context.store, lease, reason)));
  const runtime = await closeRuntime(request, reason);
  // What ended by itself during the runtime's close is told too; what appeared in it is ended too.
  const appeared = (await context.leasesOf(sessionKey)).filter(
    (lease) => !before.some((known) => known.leaseId === lease.leaseId),
  );
  let pending: readonly AcpxProcessLease[] = [...before, ...appeared];
  for (let round = 0; round < ROUNDS && pending.length > 0; round += 1) {
    const ended = await Promise.all(pending.map((lease) => context.settle(lease, reason)));
    for (const settlement of ended)
      if (settlement !== undefined) settlements.set(settlement.leaseId, settlement);
    const now = await context.leasesOf(sessionKey);
    pending = now.filter((lease) => !settlements.has(lease.leaseId));
  }
  const ended = await unleased?.end();
  return {
    sessionKey,
    runtime,
    leases: [...settlements.values()],
    ...(ended === undefined ? {} : { unleased: ended }),
  };
}

/** The state of the record is a courtesy to whoever looks meanwhile; the ending does not depend on it. */
async function markClosing(store: LeaseStore, lease: AcpxProcessLease, reason: string): Promise<void> {
  try {
    await advance(store, lease.leaseId, { type: "closing", reason });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    announce({ type: "warning", leaseId: lease.leaseId, message: `not marked as closing: ${detail}` });
  }
}

async function closeRuntime(request: CloseRequest, reason: string): Promise<RuntimeClose> {
  const { runtime, handle, discardPersistentState } = request;
  const discard = discardPersistentState === undefined ? {} : { discardPersistentState };
  const closed = await bounded(() => runtime.close({ handle, reason, ...discard }));
  if (closed.kind !== "failed" || discardPersistentState !== true || !isUnsupported(closed.error))
    return closed;
  const prepared = await bounded(async () => {
    if (runtime.prepareFreshSession === undefined) throw closed.error;
    await runtime.prepareFreshSession({ handle });
  });
  return prepared.kind === "closed" ? { kind: "prepared-fresh" } : prepared;
}

async function bounded(close: () => Promise<void>): Promise<RuntimeClose> {
  const abort = new AbortController();
  const timeout = delay(RUNTIME_CLOSE_MS, { kind: "timed-out", afterMs: RUNTIME_CLOSE_MS } as const, {
    signal: abort.signal,
  });
  const closed = Promise.resolve()
    .then(close)
    .then(
      () => ({ kind: "closed" }) as const,
      (error: unknown) => ({ kind: "failed", error }) as const,
    );
  try {
    return await Promise.race([closed, timeout]);
  } finally {
    abort.abort();
  }
}

/** acpx: the agent has no `session/close`. */
function isUnsupported(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ACP_BACKEND_UNSUPPORTED_CONTROL";
}
