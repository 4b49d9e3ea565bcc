/**
 * The environment variables by which gateway, supervisor and processes speak of a lease.
 */

/** Id of the lease that a process was started under. */
export const LEASE_ID = "OPENCLAW_ACPX_LEASE_ID";
/** Id of the gateway installation that holds the lease. */
export const INSTANCE_ID = "OPENCLAW_GATEWAY_INSTANCE_ID";
/** "1" takes a descendant, and its own descendants, out of the clean-up. */
export const DETACH = "OPENCLAW_ACPX_LEASE_DETACH";
/** Absolute directory in which the supervisor waits for its claim. */
export const CLAIMS = "OPENCLAW_ACPX_CLAIMS";
/** `<pid> <start token>` of the gateway that the supervisor expects as its parent. */
export const GATEWAY_PID = "OPENCLAW_GATEWAY_PID";
/** Milliseconds between TERM and KILL. */
export const TERM_GRACE = "OPENCLAW_ACPX_TERM_GRACE_MS";

/** Holds the place of an id that is not known yet: as long as a real one, and read as "not recorded". */
export const NIL_ID = "00000000-0000-0000-0000-000000000000";

/** What has to be read of a process to judge it; nobody's other variables are looked at. */
export const OWNERSHIP_VARIABLES: readonly string[] = [LEASE_ID, INSTANCE_ID, DETACH];
