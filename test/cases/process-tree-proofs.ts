import type { LiveEvidence, ProcessReading } from "../../lib/evidence.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import type { OwnershipProof, Verdict } from "../../lib/verdict.js";
import {
  CARRIES,
  CLEARED,
  DENIED,
  INSTANCE,
  LEASE,
  NIL,
  OTHER_INSTANCE,
  OTHER_LEASE,
  SCOPE,
  environment,
  token,
} from "../helpers/evidence.js";

export interface ProofRow {
  readonly name: string;
  readonly lease?: { readonly [K in keyof AcpxProcessLease]?: AcpxProcessLease[K] | undefined };
  /** Default: the supervisor was killed, and its number is free. */
  readonly root?: "gone" | "alive" | "reused";
  readonly rootReading?: Partial<ProcessReading>;
  /** Other processes: what differs from an MCP server in the adapter's session with a cleared environment. */
  readonly others: readonly (Partial<ProcessReading> & { readonly confirmed?: LiveEvidence["confirmed"] })[];
  /** Proven, children first, with the ground of the proof. */
  readonly members: readonly (readonly [number, OwnershipProof["basis"]])[];
  readonly detached?: readonly number[];
  readonly unproven?: Readonly<Record<number, Verdict["kind"]>>;
}

const adapter = { pid: 200, ppid: 100, pgid: 200, sid: 200, token: token(1010, 70200), environment: CARRIES };
const orphanedAdapter = { ...adapter, ppid: 1 };
const strangerOf200 = { ...adapter, ppid: 1, token: token(9000, 90200), environment: CLEARED };
const DETACHED = environment(LEASE, INSTANCE, { OPENCLAW_ACPX_LEASE_DETACH: "1" });
const nested = environment(OTHER_LEASE, OTHER_INSTANCE);

export const proofRows: readonly ProofRow[] = [
  { name: "nothing is left", others: [], members: [] },

  // (a) Carriers
  {
    name: "K3: a double-forked worker in a session of its own carries the lease",
    others: [{ pid: 700, sid: 700, environment: CARRIES }],
    members: [[700, "environment"]],
  },
  {
    name: "one id without the other is not a carrier",
    others: [
      { pid: 700, sid: 700, environment: environment(LEASE, null) },
      { pid: 701, sid: 701, environment: environment(null, INSTANCE) },
    ],
    members: [],
    unproven: { 700: "unknown", 701: "unknown" },
  },
  {
    name: "K5: a carrier under another uid is ours and cannot be signalled",
    others: [{ pid: 700, sid: 700, uid: 0, environment: CARRIES }],
    members: [],
    unproven: { 700: "unknown" },
  },
  {
    name: "V9: a carrier seen from another PID namespace",
    others: [
      {
        pid: 700,
        sid: 700,
        environment: CARRIES,
        token: token(1500, 1).replace(/pidns=\d+/, "pidns=4026532777"),
      },
    ],
    members: [],
    unproven: { 700: "unknown" },
  },
  {
    name: "the number of the dead root went to one of our own carriers",
    root: "reused",
    rootReading: { environment: CARRIES, sid: 700 },
    others: [],
    members: [[100, "environment"]],
  },
  {
    name: "a lease whose own id is the placeholder has no carriers",
    lease: { leaseId: NIL, gatewayInstanceId: NIL },
    others: [{ pid: 700, sid: 700, environment: environment(NIL, NIL) }],
    members: [],
    unproven: { 700: "unknown" },
  },

  // (b) Descendants
  {
    name: "a live root proves its children and theirs, whatever their environment says",
    root: "alive",
    others: [
      { pid: 300, ppid: 200, sid: 300, environment: DENIED },
      { pid: 400, ppid: 300, sid: 400, environment: CLEARED },
      { ...adapter, environment: DENIED, token: token(1010) },
    ],
    lease: { adapterPid: undefined, adapterToken: undefined, seenTicks: undefined },
    members: [
      [400, "descendant"],
      [300, "descendant"],
      [200, "descendant"],
      [100, "identity"],
    ],
  },
  {
    name: "a parent that may have died in between proves nobody",
    others: [
      { pid: 700, sid: 700, environment: CARRIES, confirmed: false },
      { pid: 701, ppid: 700, sid: 701 },
    ],
    members: [[700, "environment"]],
    unproven: { 701: "unknown" },
  },
  {
    name: "a child older than its parent was not born to it",
    others: [
      { pid: 700, sid: 700, environment: CARRIES, token: token(1600, 1) },
      { pid: 701, ppid: 700, sid: 701, token: token(1599, 2) },
    ],
    members: [[700, "environment"]],
    unproven: { 701: "unknown" },
  },
  {
    name: "a child of the same tick as its parent",
    others: [
      { pid: 700, sid: 700, environment: CARRIES, token: token(1600, 1) },
      { pid: 701, ppid: 700, sid: 701, token: token(1600, 2) },
    ],
    members: [
      [701, "descendant"],
      [700, "environment"],
    ],
  },
  {
    name: "V11: a nested gateway goes with the tree, its agents and theirs do not",
    root: "alive",
    others: [
      adapter,
      { pid: 300, ppid: 200, environment: CARRIES },
      { pid: 400, ppid: 300, sid: 400, environment: nested },
      { pid: 401, ppid: 400, sid: 400, environment: CLEARED },
    ],
    members: [
      [300, "environment"],
      [200, "environment"],
      [100, "identity"],
    ],
    unproven: { 400: "foreign", 401: "unknown" },
  },
  {
    name: "below a process of another uid the chain is broken",
    root: "alive",
    others: [
      { pid: 300, ppid: 100, sid: 300, uid: 0 },
      { pid: 301, ppid: 300, sid: 301 },
    ],
    members: [[100, "identity"]],
    unproven: { 300: "unknown", 301: "unknown" },
  },
  {
    name: "a loop of parent numbers",
    others: [
      { pid: 700, ppid: 701, sid: 700, environment: CARRIES },
      { pid: 701, ppid: 700, sid: 700, environment: CARRIES },
      { pid: 702, ppid: 703, sid: 702 },
      { pid: 703, ppid: 702, sid: 702 },
    ],
    members: [
      [700, "environment"],
      [701, "environment"],
    ],
    unproven: { 702: "unknown", 703: "unknown" },
  },

  // (c) The adapter's session
  {
    name: "the living adapter proves its session",
    others: [orphanedAdapter, { token: token(2500, 70300) }],
    members: [
      [300, "session"],
      [200, "environment"],
    ],
  },
  {
    name: "the adapter is known by its identity even with a cleared environment",
    others: [{ ...orphanedAdapter, environment: CLEARED }],
    members: [[200, "identity"]],
  },
  {
    name: "on a kernel without pidfs the adapter is known by having been seen after its first tick",
    lease: { adapterToken: token(1010) },
    others: [{ ...orphanedAdapter, token: token(1010), environment: CLEARED }],
    members: [[200, "identity"]],
  },
  {
    name: "on a kernel without pidfs an adapter never seen after its first tick may be somebody else",
    lease: { adapterToken: token(1010), seenTicks: 1010 },
    others: [{ ...orphanedAdapter, token: token(1010), environment: CLEARED }, { token: token(2500, 70300) }],
    members: [],
    unproven: { 200: "unknown", 300: "unknown" },
  },
  {
    name: "K10: supervisor, shim and adapter are dead; a server born while the adapter was seen alive",
    others: [{}],
    members: [[300, "session"]],
  },
  {
    name: "K10: from one such server all others of the session follow, born later or never seen",
    others: [{}, { pid: 301, token: token(2900, 70301) }, { pid: 302, pgid: 302, token: token(2999, 70302) }],
    members: [
      [302, "session"],
      [301, "session"],
      [300, "session"],
    ],
  },
  {
    name: "a server that may have died in between speaks for itself alone",
    others: [{ confirmed: false }, { pid: 301, token: token(2900, 70301) }],
    members: [[300, "session"]],
    unproven: { 301: "unknown" },
  },
  {
    name: "born after its witness was read, so perhaps into another session of that number",
    others: [{ readAtTicks: 2899 }, { pid: 301, token: token(2900, 70301) }],
    members: [[300, "session"]],
    unproven: { 301: "unknown" },
  },
  {
    name: "a bare session number after the last sight of the adapter proves nothing",
    others: [{ token: token(2001, 70300) }],
    members: [],
    unproven: { 300: "unknown" },
  },
  {
    name: "the tick of the last sight itself is not covered by it",
    others: [{ token: token(2000, 70300) }],
    members: [],
    unproven: { 300: "unknown" },
  },
  {
    name: "the adapter was never seen alive",
    lease: { seenTicks: undefined },
    others: [{}],
    members: [],
    unproven: { 300: "unknown" },
  },
  {
    name: "no adapter was reported",
    lease: {
      adapterPid: undefined,
      adapterToken: undefined,
      seenTicks: undefined,
      processGroupId: undefined,
    },
    others: [{}],
    members: [],
    unproven: { 300: "unknown" },
  },
  {
    name: "a bare group number proves nothing (K6)",
    others: [{ sid: 999, pgid: 200 }],
    members: [],
    unproven: { 300: "unknown" },
  },
  {
    name: "K10 twin: the session number belongs to a stranger by now",
    others: [
      strangerOf200,
      { ppid: 200, token: token(9001, 90300) },
      { pid: 301, token: token(9002, 90301) },
    ],
    members: [],
    unproven: { 200: "foreign", 300: "foreign", 301: "foreign" },
  },
  {
    name: "a session older than the adapter is not the adapter's",
    others: [{ pid: 301, token: token(900, 1) }, {}],
    members: [],
    unproven: { 300: "foreign", 301: "foreign" },
  },
  {
    name: "the stranger's session does not hide one of ours elsewhere",
    others: [strangerOf200, { pid: 700, sid: 700, environment: CARRIES }],
    members: [[700, "environment"]],
    unproven: { 200: "foreign" },
  },
  {
    name: "V11: a member of the session that carries another lease",
    others: [orphanedAdapter, { environment: nested }],
    members: [[200, "environment"]],
    unproven: { 300: "foreign" },
  },
  {
    name: "V5: the start time of a member cannot be read",
    others: [orphanedAdapter, { token: SCOPE }],
    members: [[200, "environment"]],
    unproven: { 300: "unknown" },
  },

  // The root's number
  {
    name: "V1: the root's number went to a stranger, whose children are none of ours",
    root: "reused",
    others: [{ ppid: 100, sid: 100, pgid: 100, token: token(9100, 3) }],
    members: [],
    unproven: { 300: "foreign" },
  },
  {
    name: "below the stranger on the root's number, one with the adapter's session number: open",
    root: "reused",
    others: [{ ppid: 100, token: token(9100, 3) }],
    members: [],
    unproven: { 300: "unknown" },
  },
  {
    name: "the root's number went to a stranger, and the rest of the tree is found all the same",
    root: "reused",
    others: [orphanedAdapter, {}],
    members: [
      [300, "session"],
      [200, "environment"],
    ],
  },
  {
    name: "an undecided root proves no children",
    root: "alive",
    rootReading: { uid: 0 },
    others: [{ ppid: 100, sid: 100 }],
    members: [],
    unproven: { 300: "unknown" },
  },

  // Opting out
  {
    name: "K3: one that opted out is left, and whoever is below it",
    root: "alive",
    others: [
      adapter,
      { pid: 300, ppid: 200, sid: 300, environment: DETACHED },
      { pid: 301, ppid: 300, sid: 300, environment: CLEARED },
      { pid: 302, ppid: 301, sid: 302, environment: CARRIES },
    ],
    members: [
      [200, "environment"],
      [100, "identity"],
    ],
    detached: [300, 301, 302],
  },
  {
    name: "an opted-out carrier without parents",
    others: [{ pid: 700, sid: 700, environment: DETACHED }],
    members: [],
    detached: [700],
  },
  {
    name: "opting out needs the very value 1",
    others: [
      { pid: 700, sid: 700, environment: environment(LEASE, INSTANCE, { OPENCLAW_ACPX_LEASE_DETACH: "0" }) },
      { pid: 701, sid: 701, environment: environment(LEASE, INSTANCE, { OPENCLAW_ACPX_LEASE_DETACH: "" }) },
    ],
    members: [
      [700, "environment"],
      [701, "environment"],
    ],
  },
  {
    name: "the variable in the supervisor's own environment opts nobody out",
    root: "alive",
    rootReading: { environment: DETACHED },
    others: [adapter],
    members: [
      [200, "environment"],
      [100, "identity"],
    ],
  },
  {
    name: "a stranger that opted out of something is not listed as ours",
    others: [strangerOf200, { environment: environment(null, null, { OPENCLAW_ACPX_LEASE_DETACH: "1" }) }],
    members: [],
    unproven: { 200: "foreign", 300: "foreign" },
  },
];
