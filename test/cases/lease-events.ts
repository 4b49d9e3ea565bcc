/** What each event does to a lease in each state. */
import type { AcpxProcessLease, LeaseEvent } from "../../lib/lease.js";
import {
  CLOSED,
  CLOSING,
  LOST,
  preparedLease,
  REPORTED,
  SEEN,
  SPAWNED,
  tokenOf,
} from "../helpers/lease-samples.js";

export interface LeaseEventRow {
  readonly name: string;
  /** What has happened before, in order. */
  readonly before: readonly LeaseEvent[];
  readonly event: LeaseEvent;
  /** Fields of the next revision, or words of the refusal. */
  readonly then: Partial<AcpxProcessLease> | RegExp;
}

/** Revision 1 is prepared; each event adds one. */
export const prepared = preparedLease({ leaseId: "0b0f4a56-0a6b-4d2c-9d6d-0b2f5a1c7e11" });

const RUNNING = [SPAWNED, REPORTED];

export const leaseEvents: readonly LeaseEventRow[] = [
  {
    name: "a prepared lease learns its root",
    before: [],
    event: SPAWNED,
    then: { state: "open", revision: 2, rootPid: 4200, rootToken: tokenOf(2000) },
  },
  {
    name: "the same root told twice is one root",
    before: [SPAWNED],
    event: SPAWNED,
    then: { state: "open", revision: 3, rootPid: 4200 },
  },
  {
    name: "another root of the same pid is refused",
    before: [SPAWNED],
    event: { type: "spawned", rootPid: 4200, rootToken: tokenOf(9000) },
    then: /already names root 4200/,
  },
  {
    name: "another root is refused",
    before: [SPAWNED],
    event: { type: "spawned", rootPid: 4300, rootToken: tokenOf(2000) },
    then: /already names root 4200, not 4300/,
  },
  {
    name: "an adapter joins its root",
    before: [SPAWNED],
    event: REPORTED,
    then: {
      state: "open",
      adapterPid: 4201,
      adapterToken: tokenOf(2001),
      processGroupId: 4201,
      seenTicks: 2500,
    },
  },
  { name: "an adapter without a root is refused", before: [], event: REPORTED, then: /has no root/ },
  {
    name: "a second adapter is refused",
    before: RUNNING,
    event: { ...REPORTED, adapterPid: 4299 } as LeaseEvent,
    then: /already names adapter 4201, not 4299/,
  },
  {
    name: "a living adapter is seen",
    before: RUNNING,
    event: SEEN,
    then: { state: "open", seenTicks: 3000 },
  },
  {
    name: "an older look changes nothing that was seen",
    before: [...RUNNING, SEEN],
    event: { type: "seen", seenTicks: 2600 },
    then: { seenTicks: 3000 },
  },
  { name: "nobody is seen before an adapter is known", before: [SPAWNED], event: SEEN, then: /no adapter/ },
  {
    name: "a running lease starts to close",
    before: RUNNING,
    event: CLOSING,
    then: { state: "closing", reason: "closed by its user", rootPid: 4200 },
  },
  {
    name: "a prepared lease starts to close",
    before: [],
    event: { type: "closing" },
    then: { state: "closing", rootPid: 0 },
  },
  {
    name: "closing twice is closing",
    before: [CLOSING],
    event: { type: "closing" },
    then: { state: "closing", revision: 3, reason: "closed by its user" },
  },
  {
    name: "a closing lease still learns whom it has to end",
    before: [CLOSING],
    event: SPAWNED,
    then: { state: "closing", rootPid: 4200 },
  },
  {
    name: "a closing lease still learns its adapter",
    before: [SPAWNED, CLOSING],
    event: REPORTED,
    then: { state: "closing", adapterPid: 4201 },
  },
  {
    name: "a closing lease still sees its adapter",
    before: [...RUNNING, CLOSING],
    event: SEEN,
    then: { state: "closing", seenTicks: 3000 },
  },
  {
    name: "an open lease whose tree was seen to end is closed",
    before: RUNNING,
    event: CLOSED,
    then: { state: "closed", proof: "subreaper", endedAt: 77, updatedAt: 77, reason: "root exited" },
  },
  { name: "a closing lease is closed", before: [SPAWNED, CLOSING], event: CLOSED, then: { state: "closed" } },
  {
    name: "an open lease is lost",
    before: RUNNING,
    event: LOST,
    then: { state: "lost", endedAt: 77, reason: "its process was gone" },
  },
  { name: "a closing lease is lost", before: [CLOSING], event: LOST, then: { state: "lost" } },
  { name: "a prepared lease is lost", before: [], event: LOST, then: { state: "lost", rootPid: 0 } },
  {
    name: "a lease is not lost to a look from before it named its process",
    before: [SPAWNED],
    event: { ...LOST, lookedFor: { rootPid: 0 } },
    then: /process that was not looked for/,
  },
  {
    name: "a lease is not closed by a look from before it named its adapter",
    before: RUNNING,
    event: { ...CLOSED, lookedFor: { rootPid: 4200 } },
    then: /process that was not looked for/,
  },
  {
    name: "a lease ends by a look for everybody whom it names",
    before: RUNNING,
    event: { ...CLOSED, lookedFor: { rootPid: 4200, adapterPid: 4201 } },
    then: { state: "closed" },
  },
  {
    name: "a lease that never had a process is not closed",
    before: [],
    event: CLOSED,
    then: /can only be lost/,
  },
  {
    name: "a reason of several lines becomes one line",
    before: [],
    event: { type: "closing", reason: "first\r\n\u001b[31msecond\u2028third" },
    then: { reason: "first [31msecond third" },
  },
  {
    name: "a reason is cut between characters, never within one",
    before: [],
    event: { type: "closing", reason: `${"x".repeat(499)}😀 and more` },
    then: { reason: "x".repeat(499) },
  },
  ...[CLOSED, LOST].flatMap((end) =>
    [SPAWNED, REPORTED, SEEN, CLOSING, CLOSED, LOST].map((event) => ({
      name: `a lease that is ${stateAfter(end)} takes no ${stateAfter(event)}`,
      before: [...RUNNING, end],
      event,
      then: /comes too late/,
    })),
  ),
];

function stateAfter(event: LeaseEvent): string {
  return event.type === "ended" ? event.state : event.type;
}
