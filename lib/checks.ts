/**
 * The single checks behind a verdict. Each compares one thing that the lease recorded with one thing that was read,
 * and says both in a sentence. None of them decides.
 */
import { DETACH, INSTANCE_ID, LEASE_ID, NIL_ID } from "./environment.js";
import type { ProcessReading } from "./evidence.js";
import { compareStartTokens, parseStartToken, sameScope, type TokenComparison } from "./identity.js";
import type { AcpxProcessLease } from "./lease.js";

export type CheckName =
  | "scope"
  | "identity"
  | "uid"
  | "lease-id"
  | "instance-id"
  | "executable"
  | "argv"
  | "process-group"
  | "kinship"
  | "detach";

export interface Check {
  readonly name: CheckName;
  readonly outcome: "match" | "mismatch" | "unreadable" | "not-recorded";
  /** One sentence: what was expected, what was read. */
  readonly detail: string;
}

/** Where the numbers of a lease mean something: as its root was seen, else as its gateway saw itself. */
export function leaseScope(lease: AcpxProcessLease): string {
  return lease.rootToken ?? lease.owner.token;
}

export function checkScope(lease: AcpxProcessLease, token: string): Check {
  const name = "scope";
  const expected = parseStartToken(leaseScope(lease));
  const read = parseStartToken(token);
  if (expected === undefined)
    return { name, outcome: "unreadable", detail: "The recorded start token makes no sense." };
  if (read === undefined)
    return { name, outcome: "unreadable", detail: "The start token could not be read." };
  return sameScope(leaseScope(lease), token)
    ? { name, outcome: "match", detail: "Recorded and read in the same boot and namespaces." }
    : {
        name,
        outcome: "mismatch",
        detail: `Recorded in ${scopeOf(leaseScope(lease))}, read in ${scopeOf(token)}.`,
      };
}

function scopeOf(token: string): string {
  return token.replace(/;(?:ticks|unique)=.*$/, "");
}

export type IdentityMatch = TokenComparison | "not-recorded";

/** A pid of 0 or an absent token: not recorded. */
export function matchIdentity(
  recorded: { readonly pid: number | undefined; readonly token: string | undefined },
  reading: ProcessReading,
): IdentityMatch {
  if (recorded.pid === undefined || recorded.pid <= 0) return "not-recorded";
  if (recorded.token === undefined) return recorded.pid === reading.pid ? "not-recorded" : "different";
  const tokens = compareStartTokens(recorded.token, reading.token);
  return tokens === "not-comparable" || recorded.pid === reading.pid ? tokens : "different";
}

export function checkIdentity(match: IdentityMatch, recordedPid: number, reading: ProcessReading): Check {
  const name = "identity";
  switch (match) {
    case "same":
      return { name, outcome: "match", detail: `Process ${reading.pid} is the very process recorded.` };
    case "same-weak":
      return {
        name,
        outcome: "match",
        detail: `Process ${reading.pid} has the recorded start tick; no unique id on both sides says more.`,
      };
    case "different":
      return {
        name,
        outcome: "mismatch",
        detail: `Expected process ${recordedPid} as recorded, read another process that has number ${reading.pid} now.`,
      };
    case "not-comparable":
      return {
        name,
        outcome: "unreadable",
        detail: `The start tokens for process ${reading.pid} cannot be compared.`,
      };
    case "not-recorded":
      return {
        name,
        outcome: "not-recorded",
        detail: `The lease does not say which process ${reading.pid} was.`,
      };
  }
}

export function checkUid(uid: number, reading: ProcessReading): Check {
  return {
    name: "uid",
    outcome: reading.uid === uid ? "match" : "mismatch",
    detail: `Expected uid ${uid}, read ${reading.uid}.`,
  };
}

export function checkLeaseId(lease: AcpxProcessLease, reading: ProcessReading): Check {
  return checkVariable("lease-id", LEASE_ID, lease.leaseId, reading);
}

export function checkInstanceId(lease: AcpxProcessLease, reading: ProcessReading): Check {
  return checkVariable("instance-id", INSTANCE_ID, lease.gatewayInstanceId, reading);
}

function checkVariable(name: CheckName, variable: string, expected: string, reading: ProcessReading): Check {
  const { environment } = reading;
  // A name that nobody asked for is as unread as a refused environment.
  const value = environment.ok ? environment.value[variable] : undefined;
  if (value === undefined) return { name, outcome: "unreadable", detail: `${variable} could not be read.` };
  if (value === null || value === "" || value === NIL_ID) {
    return { name, outcome: "not-recorded", detail: `The environment holds no ${variable}.` };
  }
  return {
    name,
    outcome: value === expected ? "match" : "mismatch",
    detail: `Expected ${variable} ${expected}, read ${value}.`,
  };
}

const COMMAND_HASH = /^argv0:[0-9a-f]{64}$/;

/** Report only: a process title, an interpreter or a shim changes argv without changing whose process it is. */
export function checkArgv(lease: AcpxProcessLease, commandHash: string | undefined): Check {
  const name = "argv";
  if (!COMMAND_HASH.test(lease.commandHash)) {
    return { name, outcome: "not-recorded", detail: "The lease holds no command hash of a known scheme." };
  }
  if (commandHash === undefined)
    return { name, outcome: "unreadable", detail: "The arguments could not be read." };
  const outcome = commandHash === lease.commandHash ? "match" : "mismatch";
  return {
    name,
    outcome,
    detail: `Expected command ${lease.commandHash}, read ${commandHash}; does not decide.`,
  };
}

/** Report only. The recorded group is the adapter's, so a wrapper's own group is no news. */
export function checkProcessGroup(
  lease: AcpxProcessLease,
  reading: ProcessReading,
  isWrapper: boolean,
): Check {
  const name = "process-group";
  if (isWrapper || lease.processGroupId === undefined) {
    return {
      name,
      outcome: "not-recorded",
      detail: `The lease records no group for process ${reading.pid}.`,
    };
  }
  const outcome = reading.pgid === lease.processGroupId ? "match" : "mismatch";
  return {
    name,
    outcome,
    detail: `Expected group ${lease.processGroupId}, read ${reading.pgid}; does not decide.`,
  };
}

/** Whether the process asks by itself to be left out of every clean-up. */
export function asksToDetach(reading: ProcessReading): boolean {
  return reading.environment.ok && reading.environment.value[DETACH] === "1";
}

/** There is such a check only where it vetoes. */
export function checkDetach(reading: ProcessReading): Check | undefined {
  if (!asksToDetach(reading)) return undefined;
  return { name: "detach", outcome: "mismatch", detail: `${DETACH}=1: it opted out of the clean-up.` };
}
