/**
 * Wall-clock time for retention alone: it never leaps ahead, as the wall clock does when a board without battery
 * finds a time server, so that nothing is old before its time.
 */
const offset = Date.now() - performance.now();

/** Epoch milliseconds, at most as far from the start of this process as the monotonic clock says. */
export const cautiousNow = (): number => Math.min(Date.now(), offset + performance.now());
