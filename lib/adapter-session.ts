/**
 * The adapter's session. A session is numbered after the pid of its founder, can only be inherited by fork, and the
 * kernel gives its number to nobody while anyone is in it. So whoever was born into session `adapterPid` while the
 * adapter lived is the adapter's descendant, and while such a one lives the number means the same session.
 */
import { matchIdentity } from "./checks.js";
import type { ProcessReading } from "./evidence.js";
import { compareStartTokens, notYounger, startTicks } from "./identity.js";
import type { AcpxProcessLease } from "./lease.js";

export function isRecordedAdapter(lease: AcpxProcessLease, reading: ProcessReading): boolean {
  switch (matchIdentity({ pid: lease.adapterPid, token: lease.adapterToken }, reading)) {
    case "same":
      return true;
    case "same-weak":
      // Seen alive in a later tick than it started in: within its first tick nobody else can have had the number.
      return startedBefore(reading.token, lease.seenTicks);
    case "different":
    case "not-comparable":
    case "not-recorded":
      return false;
  }
}

/** Whether this living process shows that session number `adapterPid` is still the adapter's. */
export function anchorsSession(lease: AcpxProcessLease, reading: ProcessReading): boolean {
  if (lease.adapterPid === undefined || reading.sid !== lease.adapterPid) return false;
  return isRecordedAdapter(lease, reading) || wasBornWhileAdapterLived(lease, reading);
}

/**
 * Whether a process with the session number of a living anchor is in the anchor's session. An anchor other than the
 * adapter could leave the session after it was read, so it speaks only for those born before that.
 */
export function followsAnchor(
  lease: AcpxProcessLease,
  anchor: ProcessReading,
  reading: ProcessReading,
): boolean {
  if (!anchorsSession(lease, anchor) || reading.sid !== anchor.sid || disownsSession(lease, reading))
    return false;
  if (notYounger(lease.adapterToken ?? "", reading.token) !== true) return false;
  if (isRecordedAdapter(lease, anchor)) return true;
  return startedBefore(reading.token, anchor.readAtTicks);
}

/** Shows that the number is no longer the adapter's: another process has it, or a member is older than the adapter. */
export function disownsSession(lease: AcpxProcessLease, reading: ProcessReading): boolean {
  const { adapterPid, adapterToken } = lease;
  if (adapterPid === undefined || adapterToken === undefined) return false;
  if (reading.pid === adapterPid) return compareStartTokens(adapterToken, reading.token) === "different";
  return reading.sid === adapterPid && notYounger(adapterToken, reading.token) === false;
}

function wasBornWhileAdapterLived(lease: AcpxProcessLease, reading: ProcessReading): boolean {
  if (reading.pid === lease.adapterPid || lease.adapterToken === undefined) return false;
  return (
    notYounger(lease.adapterToken, reading.token) === true && startedBefore(reading.token, lease.seenTicks)
  );
}

/** The tick of a sight itself does not count: the rest of it was unobserved, and long enough for a reuse. */
function startedBefore(token: string, ticks: number | undefined): boolean {
  const started = startTicks(token);
  return started !== undefined && ticks !== undefined && started < ticks;
}
