/**
 * From the claim to the adapter: what a wrapper waits for, and what is believed of its answer.
 */
import { setTimeout as delay } from "node:timers/promises";

import { INSTANCE_ID, LEASE_ID, OWNERSHIP_VARIABLES } from "./environment.js";
import { LifecycleError } from "./errors.js";
import type { ProcessReading } from "./evidence.js";
import { notYounger, type ProcessIdentity } from "./identity.js";
import type { GatewayInstanceId } from "./lease.js";
import type { Native, ProcessHandle } from "./native.js";
import type { WrapperPort } from "./wrapper-port.js";

export interface AdapterContext {
  readonly native: Native;
  readonly wrapper: WrapperPort;
  readonly gatewayInstanceId: GatewayInstanceId;
}

export interface StartedAdapter {
  readonly handle: ProcessHandle;
  readonly reading: ProcessReading;
}

/** A wrapper that cannot write its report (a full disk) has started its adapter all the same, milliseconds. */
const REPORT_MS = 5_000;

/**
 * Lets the wrapper `root` go ahead under a lease. Undefined when it ended first, or when no adapter could be
 * recognised; throws when it started something under other ids than ours.
 */
export async function startAdapter(
  context: AdapterContext,
  root: ProcessIdentity & { readonly handle: ProcessHandle },
  leaseId: string,
): Promise<StartedAdapter | undefined> {
  using report = context.wrapper.expectReport(root);
  await context.wrapper.claim(root, { leaseId, instanceId: context.gatewayInstanceId });
  const late = new AbortController();
  const hint = await Promise.race([
    report.arrived,
    root.handle.exited().then(() => "ended" as const),
    delay(REPORT_MS, "late" as const, { signal: late.signal }),
  ]).finally(() => {
    late.abort();
  });
  if (hint === "ended") return undefined;
  refuseOtherIds(context, root, leaseId);
  // The report only wakes us; what counts is what the kernel says, of the process that it names or of the children.
  const named = hint === "late" ? undefined : adapterAt(context.native, root, hint);
  if (named !== undefined) return named;
  for (const pid of await childrenOf(context.native, root.pid)) {
    const child = adapterAt(context.native, root, pid);
    if (child !== undefined) return child;
  }
  return undefined;
}

/** A claim that somebody else wrote would have the agent run under a lease that nobody has published. */
function refuseOtherIds(
  { gatewayInstanceId }: AdapterContext,
  root: ProcessIdentity & { readonly handle: ProcessHandle },
  leaseId: string,
): void {
  const reading = root.handle.read(OWNERSHIP_VARIABLES);
  if (!reading.ok || !reading.value.environment.ok) return;
  const ids = reading.value.environment.value;
  if (ids[LEASE_ID] === leaseId && ids[INSTANCE_ID] === gatewayInstanceId) return;
  throw new LifecycleError(
    "ERR_LAUNCH_REFUSED",
    `Wrapper ${root.pid} runs under lease ${ids[LEASE_ID] ?? "none"}, not under ${leaseId}: something else writes claims into the state directory.`,
  );
}

function adapterAt(native: Native, root: ProcessIdentity, pid: number): StartedAdapter | undefined {
  const opened = native.open(pid);
  if (!opened.ok) return undefined;
  const reading = opened.value.read([]);
  if (reading.ok && isAdapterOf(root, reading.value)) return { handle: opened.value, reading: reading.value };
  opened.value.close();
  return undefined;
}

function isAdapterOf(root: ProcessIdentity, adapter: ProcessReading): boolean {
  return (
    adapter.ppid === root.pid &&
    adapter.uid === process.geteuid?.() &&
    adapter.pgid === adapter.pid &&
    notYounger(root.token, adapter.token) === true
  );
}

async function childrenOf(native: Native, parent: number): Promise<number[]> {
  const snapshot = await native.snapshot();
  if (!snapshot.ok) return [];
  const { pid, ppid } = snapshot.value;
  return Array.from(pid).filter((_, row) => ppid[row] === parent);
}
