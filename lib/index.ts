export { openAcpxLifecycle, AcpxLifecycle } from "./lifecycle.js";
export type { AcpxLifecycleController } from "./controller.js";
export type {
  AcpxLifecycleOptions,
  CloseOwnedRequest,
  LeaseStatus,
  RuntimeOptionsRequest,
} from "./lifecycle.js";
export type {
  AcpAgentRegistry,
  AcpProcessLifecycle,
  AcpRuntime,
  AcpRuntimeEnsureInput,
  AcpRuntimeHandle,
  AcpRuntimeOptions,
  AcpSessionRecord,
} from "./acpx.js";
export { LifecycleError, type LifecycleErrorCode } from "./errors.js";
export { DIAGNOSTICS_CHANNEL, type LifecycleEvent } from "./diagnostics.js";
export type { Executable, Fault, Observed, ProcessReading, Reason } from "./evidence.js";
export type { ProcessIdentity } from "./identity.js";
export type { AcpxProcessLease, GatewayInstanceId, LeaseState } from "./lease.js";
export type { OwnedMember, OwnedProcessTree } from "./ownership.js";
export { createKeyedLeaseStore, type KeyedLeaseStoreOptions, type KeyedStore } from "./keyed-lease-store.js";
export type { LeaseStore } from "./lease-store.js";
export type { LegacyOptions } from "./legacy.js";
export type { LeftLease, PlannedEnd, ReapOptions, ReapReport } from "./reaper.js";
export type { CloseOutcome, CloseRequest, RuntimeClose, UnleasedEnding } from "./session-close.js";
export type { SessionStore } from "./session-store.js";
export type { Settlement } from "./settle.js";
export type { AgentRequest, LaunchedAgent } from "./spawn-agent.js";
export type { Survivor, WayOfEnding } from "./terminate.js";
export type { Check, OwnershipProof, Verdict } from "./verdict.js";
export { backend } from "./native.js";
export type { AcpSessionRow } from "./session-row-format.js";
export {
  backgroundTaskRelation,
  sessionRelation,
  subagentRelation,
  type SessionRelation,
} from "./session-relation.js";
export * from "./visibility.js";
