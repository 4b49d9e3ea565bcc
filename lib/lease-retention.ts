/**
 * How long ended leases are kept. Pure: leases and limits in, those that go out.
 */
import { LifecycleError } from "./errors.js";
import type { AcpxProcessLease } from "./lease.js";

export interface RetentionLimits {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly maxAgeMs: number;
  readonly maxEnded: number;
}

export const WEEK_MS = 7 * 24 * 3600 * 1000;

const endOf = (lease: AcpxProcessLease): number => lease.endedAt ?? 0;

/** For sorting: oldest end first. */
export const byEnd = (a: AcpxProcessLease, b: AcpxProcessLease): number => endOf(a) - endOf(b);

/**
 * Those of `ended`, oldest end first, that are beyond age or number. One that ended in the future (the clock was
 * set back) is young, never old. Throws LifecycleError ERR_INVALID_OPTION.
 */
export function beyondRetention(
  ended: readonly AcpxProcessLease[],
  limits: RetentionLimits,
): readonly AcpxProcessLease[] {
  for (const [name, limit] of Object.entries(limits))
    if (Number.isNaN(limit) || limit < 0)
      throw new LifecycleError("ERR_INVALID_OPTION", `${name} must be a number of at least 0`);
  const excess = ended.length - limits.maxEnded;
  return ended.filter((lease, index) => index < excess || limits.now - endOf(lease) > limits.maxAgeMs);
}
