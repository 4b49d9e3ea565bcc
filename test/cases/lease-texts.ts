/** Texts that may be found where a lease belongs, and what becomes of each. */
import { packLease } from "../../lib/lease-format.js";
import { advanceLease } from "../../lib/lease.js";
import { CLOSED, preparedLease, REPORTED, SPAWNED } from "../helpers/lease-samples.js";

export interface LeaseTextRow {
  readonly name: string;
  readonly text: string;
  readonly becomes: "lease" | "damaged" | "newer-schema";
}

const whole = [SPAWNED, REPORTED, CLOSED].reduce((lease, event) => {
  const next = advanceLease(lease, event, 1_790_000_001_000);
  return next.ok ? next.lease : lease;
}, preparedLease());
const text = packLease(whole);

/** The lease with some fields replaced (undefined: left out). */
const withFields = (changes: Record<string, unknown>): string => JSON.stringify({ ...whole, ...changes });
const damaged = (name: string, changes: Record<string, unknown>): LeaseTextRow => ({
  name,
  text: withFields(changes),
  becomes: "damaged",
});

export const leaseTexts: readonly LeaseTextRow[] = [
  { name: "a whole lease", text, becomes: "lease" },
  { name: "a prepared lease", text: packLease(preparedLease()), becomes: "lease" },
  {
    name: "a wrapper path of 3,000 characters",
    text: withFields({ wrapperPath: `/${"w".repeat(3000)}` }),
    becomes: "lease",
  },
  {
    name: "a wrapper path with quotes",
    text: withFields({ wrapperPath: `/a b'c "d"/codex` }),
    becomes: "lease",
  },
  { name: "a field that this version does not know", text: withFields({ colour: "blue" }), becomes: "lease" },
  {
    name: "a direct launch without a wrapper",
    text: withFields({ launch: "direct", wrapperRoot: "", wrapperPath: "" }),
    becomes: "lease",
  },
  {
    name: "a command hash of another scheme",
    text: withFields({ commandHash: "shell:1234" }),
    becomes: "lease",
  },
  {
    name: "an owner without a known host",
    text: withFields({ owner: { pid: 1, token: "t" } }),
    becomes: "lease",
  },
  { name: "the next schema", text: withFields({ schema: "acpx.process-lease.v2" }), becomes: "newer-schema" },
  {
    name: "a later schema with nothing else in it",
    text: `{"schema":"acpx.process-lease.v12"}`,
    becomes: "newer-schema",
  },

  { name: "nothing", text: "", becomes: "damaged" },
  { name: "a zeroed block", text: "\0".repeat(512), becomes: "damaged" },
  { name: "half a lease", text: text.slice(0, text.length / 2), becomes: "damaged" },
  { name: "two leases in one file", text: text + text, becomes: "damaged" },
  { name: "null", text: "null", becomes: "damaged" },
  { name: "a list of leases", text: `[${text}]`, becomes: "damaged" },
  { name: "a number", text: "42", becomes: "damaged" },
  { name: "an empty object", text: "{}", becomes: "damaged" },
  { name: "all fields in the prototype", text: `{"__proto__":${text}}`, becomes: "damaged" },
  { name: "a megabyte of blanks around a lease", text: " ".repeat(1 << 20) + text, becomes: "damaged" },
  { name: "ten thousand open brackets", text: "[".repeat(10_000), becomes: "damaged" },
  damaged("another schema", { schema: "acpx.session.v1" }),
  damaged("schema zero", { schema: "acpx.process-lease.v0" }),
  damaged("no schema", { schema: undefined }),
  damaged("a lease id that climbs directories", { leaseId: "../../../../etc/passwd" }),
  damaged("a lease id in upper case", { leaseId: whole.leaseId.toUpperCase() }),
  damaged("the placeholder as lease id", { leaseId: "00000000-0000-0000-0000-000000000000" }),
  damaged("the placeholder as instance id", { gatewayInstanceId: "00000000-0000-0000-0000-000000000000" }),
  damaged("revision zero", { revision: 0 }),
  damaged("a revision as text", { revision: "1" }),
  damaged("half a revision", { revision: 1.5 }),
  damaged("root pid -1", { rootPid: -1 }),
  damaged("a root pid beyond 32 bits", { rootPid: 2 ** 32 + 4200 }),
  damaged("a root pid that is no number", { rootPid: null }),
  damaged("a root pid without its token", { rootToken: undefined }),
  damaged("a root token without its pid", { rootPid: 0 }),
  damaged("adapter pid 0", { adapterPid: 0 }),
  damaged("an adapter pid without its token", { adapterToken: undefined }),
  damaged("a negative group", { processGroupId: -4201 }),
  damaged("an empty session key", { sessionKey: "" }),
  damaged("a session key with a line break", { sessionKey: "agent\nmain" }),
  damaged("a session key with an escape sequence", { sessionKey: "agent\u001b[2J" }),
  damaged("half a character in the session key", { sessionKey: "agent\ud800" }),
  damaged("a session key of a megabyte", { sessionKey: "k".repeat(1 << 17) }),
  damaged("NUL in a path", { wrapperPath: "/wrappers/codex\0/../../bin/sh" }),
  damaged("a wrapper launch without a wrapper", { wrapperPath: "" }),
  damaged("a state of its own", { state: "reopened" }),
  damaged("a state from the prototype", { state: "constructor" }),
  damaged("a launch of its own", { launch: "remote" }),
  damaged("no owner", { owner: undefined }),
  damaged("an owner that is a list", { owner: [4100, "token"] }),
  damaged("owner pid 0", { owner: { pid: 0, token: "t" } }),
  damaged("an owner without a token", { owner: { pid: 4100 } }),
  damaged("an owner whose host is a number", { owner: { pid: 4100, token: "t", host: 7 } }),
  damaged("closed without a proof", { proof: undefined }),
  damaged("closed by a proof of its own", { proof: "trust me" }),
  damaged("closed without an end", { endedAt: undefined }),
  damaged("open with an end", { state: "open" }),
  damaged("an end beyond all dates", { endedAt: 1e300 }),
  damaged("an end before all dates", { endedAt: -1 }),
];

/** For tearing: any true prefix of it is no lease. */
export const wholeText = text;
