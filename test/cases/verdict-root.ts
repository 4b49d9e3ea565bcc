import type { Evidence, LiveEvidence, ProcessReading } from "../../lib/evidence.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import type { Check, JudgeOptions, Verdict } from "../../lib/verdict.js";
import {
  CLEARED,
  DENIED,
  INSTANCE,
  LEASE,
  OBSERVER,
  OTHER_BOOT,
  OTHER_INSTANCE,
  OTHER_LEASE,
  ROOT,
  environment,
  image,
  seen,
  token,
} from "../helpers/evidence.js";

export interface RootRow {
  readonly name: string;
  readonly lease?: { readonly [K in keyof AcpxProcessLease]?: AcpxProcessLease[K] | undefined };
  readonly reading?: Partial<ProcessReading>;
  readonly look?: Partial<LiveEvidence>;
  /** Instead of a live reading. */
  readonly evidence?: Evidence;
  readonly options?: Partial<JudgeOptions>;
  readonly heldSinceLaunch?: true;
  readonly verdict: Verdict["kind"];
  readonly basis?: "identity" | "environment";
  readonly checks?: Partial<Record<Check["name"], Check["outcome"]>>;
}

const weak = { token: token(1000) };
const unknownRoot = { rootToken: undefined, rootPid: 0 };
const direct = { launch: "direct", wrapperRoot: "", wrapperPath: "" } as const;
const elsewhere = image("/opt/other-gateway/wrappers/codex-wrapper");
const otherBoot = token(500).replace(/boot=[^;]+/, `boot=${OTHER_BOOT}`);
const otherNamespace = token(500).replace(/pidns=\d+/, "pidns=4026532777");
const longPath = `${ROOT}/${"d/".repeat(1_500)}codex-wrapper`;
const oddRoot = `/home/u/a b'c "d"/wrappers`;

export const rootRows: readonly RootRow[] = [
  {
    name: "everything agrees",
    verdict: "owned",
    basis: "identity",
    checks: { identity: "match", executable: "match" },
  },

  // Another process has the number.
  {
    name: "V1: the number went to an unrelated process",
    reading: { token: token(5000, 81), executable: image("/usr/bin/vim"), environment: CLEARED },
    verdict: "foreign",
    checks: { identity: "mismatch", executable: "mismatch" },
  },
  {
    name: "V1: the number went to the wrapper of another gateway",
    reading: {
      token: token(5000, 81),
      executable: elsewhere,
      environment: environment(OTHER_LEASE, OTHER_INSTANCE),
    },
    verdict: "foreign",
    checks: { "lease-id": "mismatch", "instance-id": "mismatch" },
  },
  {
    name: "V1: the wrapper of another gateway took the number within the same tick, on a kernel without pidfs",
    reading: { ...weak, executable: elsewhere, environment: environment(OTHER_LEASE, OTHER_INSTANCE) },
    verdict: "foreign",
  },
  {
    name: "V7: same number and start tick, another inode",
    reading: { token: token(1000, 81) },
    verdict: "foreign",
    checks: { identity: "mismatch" },
  },
  {
    name: "a process of our own next launch has the number",
    reading: { token: token(5000, 81), environment: environment(OTHER_LEASE, INSTANCE) },
    verdict: "foreign",
  },

  // Vetoes against a process that is the recorded one: contradictory, so nothing is concluded.
  {
    name: "K5: it runs under another uid",
    reading: { uid: 0 },
    verdict: "unknown",
    checks: { uid: "mismatch" },
  },
  {
    name: "its environment names another lease",
    reading: { environment: environment(OTHER_LEASE, INSTANCE) },
    verdict: "unknown",
    checks: { identity: "match", "lease-id": "mismatch" },
  },
  {
    name: "its environment names another instance",
    reading: { environment: environment(LEASE, OTHER_INSTANCE) },
    verdict: "unknown",
    checks: { "instance-id": "mismatch" },
  },
  {
    name: "its executable is outside the configured roots",
    reading: { executable: elsewhere },
    verdict: "unknown",
    checks: { executable: "mismatch" },
  },
  {
    name: "the lease's own root is not configured any more",
    options: { wrapperRoots: ["/srv/elsewhere"] },
    verdict: "unknown",
    checks: { executable: "mismatch" },
  },
  { name: "no wrapper root is configured", options: { wrapperRoots: [] }, verdict: "unknown" },

  // The executable.
  {
    name: "a sibling directory with the root as its beginning is not under the root",
    reading: { executable: image(`${ROOT}-old/codex-wrapper`) },
    verdict: "unknown",
  },
  {
    name: "a path that climbs out of the root",
    reading: { executable: image(`${ROOT}/../../bin/sh`) },
    verdict: "unknown",
  },
  {
    name: "the root itself is not an image under it",
    reading: { executable: image(ROOT) },
    verdict: "unknown",
  },
  {
    name: "a relative root is under nothing",
    options: { wrapperRoots: ["", "wrappers", "."] },
    verdict: "unknown",
  },
  {
    name: "V8: the root was given with a trailing slash",
    options: { wrapperRoots: [`${ROOT}/`] },
    verdict: "owned",
  },
  {
    name: "the file of an installed image under another name",
    reading: { executable: image("/mnt/bind/codex-wrapper", { fileId: "8:99" }) },
    options: { wrapperImages: ["8:98", "8:99"] },
    verdict: "owned",
    checks: { executable: "match" },
  },
  {
    name: "R7: the image was replaced by an upgrade while it runs",
    reading: { executable: image(`${ROOT}/codex-wrapper`, { deleted: true }) },
    verdict: "owned",
    checks: { executable: "match" },
  },
  {
    name: "the executable cannot be read",
    reading: { executable: DENIED },
    verdict: "owned",
    checks: { executable: "unreadable" },
  },
  {
    name: "V2: a wrapper path of 3,000 characters",
    reading: { executable: image(longPath), argv: seen([longPath.slice(0, 80)]) },
    verdict: "owned",
  },
  {
    name: "V2: blanks and quotes in the state directory",
    lease: { wrapperRoot: oddRoot, wrapperPath: `${oddRoot}/codex-wrapper` },
    reading: { executable: image(`${oddRoot}/codex-wrapper`) },
    options: { wrapperRoots: [oddRoot] },
    verdict: "owned",
  },

  // Report only.
  {
    name: "V2: argv replaced by a process title, or cut",
    reading: { argv: seen(["codex-wrapper: idle"]) },
    look: { commandHash: `argv0:${"6".repeat(64)}` },
    verdict: "owned",
    checks: { argv: "mismatch" },
  },
  {
    name: "V2: the hash was recorded from a shell-quoted string by an older version",
    lease: { commandHash: "sha256:abc" },
    verdict: "owned",
    checks: { argv: "not-recorded" },
  },
  {
    name: "the wrapper's group is never the recorded one",
    verdict: "owned",
    checks: { "process-group": "not-recorded" },
  },
  {
    name: "V10: a 2 MB environment that could not be read whole",
    reading: { environment: { ok: false, reason: "garbled", call: "/proc/pid/environ" } },
    verdict: "owned",
    checks: { "lease-id": "unreadable", "instance-id": "unreadable" },
  },
  {
    name: "the environment still holds the placeholders",
    reading: {
      environment: environment(
        "00000000-0000-0000-0000-000000000000",
        "00000000-0000-0000-0000-000000000000",
      ),
    },
    verdict: "owned",
    checks: { "lease-id": "not-recorded", "instance-id": "not-recorded" },
  },
  {
    name: "V4: the clock was set back a day between lease and look",
    lease: { startedAt: 4e12 },
    verdict: "owned",
  },

  // Weak identity needs one more witness.
  {
    name: "start tick and both ids",
    reading: { ...weak, executable: DENIED },
    verdict: "owned",
    basis: "identity",
  },
  {
    name: "start tick and executable: two wrappers of ours may have started in one tick",
    reading: { ...weak, environment: DENIED },
    verdict: "unknown",
  },
  {
    name: "start tick and the lease id without the instance id",
    reading: { ...weak, executable: DENIED, environment: environment(LEASE, null) },
    verdict: "unknown",
  },
  {
    name: "start tick alone",
    reading: { ...weak, executable: DENIED, environment: DENIED },
    verdict: "unknown",
  },
  {
    name: "start tick alone, through the handle held since the launch",
    reading: { ...weak, executable: DENIED, environment: DENIED },
    heldSinceLaunch: true,
    verdict: "owned",
  },
  {
    name: "another start tick through the handle held since the launch",
    reading: { token: token(1001) },
    heldSinceLaunch: true,
    verdict: "foreign",
  },

  // No identity recorded.
  {
    name: "prepared lease: both ids and the executable",
    lease: unknownRoot,
    verdict: "owned",
    basis: "environment",
    checks: { identity: "not-recorded" },
  },
  {
    name: "prepared lease: both ids, executable unreadable",
    lease: unknownRoot,
    reading: { executable: DENIED },
    verdict: "unknown",
  },
  {
    name: "prepared lease: executable without the ids",
    lease: unknownRoot,
    reading: { environment: CLEARED },
    verdict: "unknown",
  },
  {
    name: "prepared lease: another PID namespace than its gateway's",
    lease: { ...unknownRoot, owner: { pid: 50, token: otherNamespace } },
    verdict: "unknown",
    checks: { scope: "mismatch" },
  },
  {
    name: "a number without a token: not the number that was recorded",
    lease: { rootToken: undefined, rootPid: 101 },
    verdict: "foreign",
  },
  {
    name: "a number without a token, ids and executable agree",
    lease: { rootToken: undefined },
    verdict: "owned",
    basis: "environment",
  },

  // Direct launches.
  {
    name: "direct launch with a unique identity",
    lease: direct,
    reading: { environment: CLEARED },
    verdict: "owned",
  },
  {
    name: "direct launch after a restart, start tick only",
    lease: direct,
    reading: { ...weak, environment: CLEARED },
    verdict: "unknown",
    checks: { executable: "not-recorded" },
  },
  {
    name: "direct launch of this gateway's life, start tick only",
    lease: direct,
    reading: { ...weak, environment: CLEARED },
    heldSinceLaunch: true,
    verdict: "owned",
  },
  {
    name: "direct launch whose executable is outside the wrapper roots, as it should be",
    lease: direct,
    reading: { executable: image("/usr/bin/node"), environment: CLEARED },
    verdict: "owned",
  },
  {
    name: "direct launch that leads the recorded group",
    lease: { ...direct, processGroupId: 100 },
    verdict: "owned",
    checks: { "process-group": "match" },
  },
  {
    name: "direct launch without an identity, both ids",
    lease: { ...direct, ...unknownRoot },
    verdict: "unknown",
  },

  // Other scopes, and nothing to see.
  {
    name: "V9: recorded in another boot",
    lease: { rootToken: otherBoot },
    verdict: "unknown",
    checks: { scope: "mismatch" },
  },
  { name: "V9: recorded in another PID namespace", lease: { rootToken: otherNamespace }, verdict: "unknown" },
  {
    name: "V5: start time unreadable",
    reading: { token: "" },
    verdict: "unknown",
    checks: { scope: "unreadable" },
  },
  { name: "a recorded token that makes no sense", lease: { rootToken: "linux" }, verdict: "unknown" },
  {
    name: "absent in the same boot and namespaces",
    evidence: { kind: "absent", observer: OBSERVER },
    verdict: "gone",
  },
  {
    name: "V9: absent, seen from another boot",
    evidence: { kind: "absent", observer: { ...OBSERVER, token: otherBoot } },
    verdict: "unknown",
  },
  {
    name: "V9: absent, seen from another PID namespace",
    evidence: { kind: "absent", observer: { ...OBSERVER, token: otherNamespace } },
    verdict: "unknown",
  },
  {
    name: "absent, by an observer who does not know where it is itself",
    evidence: { kind: "absent", observer: { ...OBSERVER, token: "" } },
    verdict: "unknown",
  },
  {
    name: "absent, while the lease names nobody yet",
    lease: unknownRoot,
    evidence: { kind: "absent", observer: OBSERVER },
    verdict: "unknown",
  },
  {
    name: "V12: opening it was refused",
    evidence: { kind: "unreadable", observer: OBSERVER, fault: DENIED },
    verdict: "unknown",
  },
  {
    name: "it went away between open and read",
    evidence: { kind: "unreadable", observer: OBSERVER, fault: { ok: false, reason: "gone", call: "read" } },
    verdict: "unknown",
  },
];
