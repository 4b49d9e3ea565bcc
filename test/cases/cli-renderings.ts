/** Reports and how they read, on which terminal. Texts are compared whole, trailing spaces aside. */
import { doctorText } from "../../lib/cli-doctor-text.js";
import { inspectText } from "../../lib/cli-inspect-text.js";
import { planText, sweptText } from "../../lib/cli-reap-text.js";
import { statusText } from "../../lib/cli-status-text.js";
import type { TextStyle } from "../../lib/terminal-text.js";
import {
  inspectSample,
  leaseSample,
  orphanSample,
  processSample,
  recordedSample,
  statusSample,
  sweepSample,
} from "../helpers/cli-samples.js";

export const wide: TextStyle = { width: 100, colour: false, unicode: true, boxes: true };
export const narrow: TextStyle = { ...wide, width: 60 };
/** Piped: nothing is cut, whatever the locale. */
export const piped: TextStyle = { colour: false, unicode: true, boxes: false };
/** A terminal under LC_ALL=C. */
export const ascii: TextStyle = { ...narrow, unicode: false, boxes: false };

interface Rendering {
  readonly name: string;
  readonly text: string;
  readonly reads: string;
}

export const renderings: readonly Rendering[] = [
  {
    name: "a lease and its tree on a wide terminal",
    text: statusText(wide, statusSample(), false),
    reads: `
LEASE     VERDICT  STATE    AGE     ROOT     GROUP    SESSION
3f2a9c01  owned    open     2h05m   4200     4201     agent:codex:acp:main
  4200    codex-wrapper
  └─ 4201    program-4201
     ├─ 4202    program-4202
     └─ 4203    program-4203

1 open lease in /srv/state: 1 owned; 4 processes.`,
  },
  {
    name: "whole command lines on a narrow terminal, where the group has no column",
    text: statusText(
      narrow,
      statusSample({
        leases: [
          leaseSample({
            members: [
              processSample(4201, 4200, { argv: ["node", "-e", "a very long script that does not fit"] }),
            ],
          }),
        ],
      }),
      true,
    ),
    reads: `
LEASE     VERDICT  STATE    AGE     ROOT     SESSION
3f2a9c01  owned    open     2h05m   4200     agent:c…cp:main
  4201    node -e 'a very long script that does not fit'

1 open lease in /srv/state: 1 owned; 1 process.`,
  },
  {
    name: "a hostile session key and program under a locale without UTF-8",
    text: statusText(
      ascii,
      statusSample({
        leases: [
          leaseSample({
            sessionKey: "a\x1b[2J\u202eé",
            members: [processSample(4201, 1, { program: "x\ny" })],
          }),
        ],
      }),
      false,
    ),
    reads: `
LEASE     VERDICT  STATE    AGE     ROOT     SESSION
3f2a9c01  owned    open     2h05m   4200     a\\x1b[2..e}\\xe9
  4201    x\\ny

1 open lease in /srv/state: 1 owned; 1 process.`,
  },
  {
    name: "what a dead gateway left, piped",
    text: statusText(piped, statusSample({ leases: [orphanSample()] }), false),
    reads: `
LEASE     VERDICT  STATE    AGE     ROOT     GROUP    SESSION
3f2a9c01  gone     open     2h05m   4200     4201     agent:codex:acp:main
  4202    program-4202
  4203    program-4203 (unknown: Nothing proves whose it is.)
  The kernel knows no process of that number.
  Left behind, its gateway (pid 4100) has ended: acpx-lifecycle reap

1 open lease in /srv/state: 1 gone; 1 process.`,
  },
  {
    name: "an unknown wrapper under a root that was not named, and what helps",
    text: statusText(
      wide,
      statusSample({
        wrapperRoots: ["/srv/state/wrappers"],
        leases: [
          leaseSample({
            verdict: { kind: "unknown", because: "Expected an image under a wrapper root." },
            members: [],
          }),
        ],
        damaged: ["5b0c1b2a-0d7e-4c55-9a41-3c1f6d2f9e10"],
      }),
      false,
    ),
    reads: `
LEASE     VERDICT  STATE    AGE     ROOT     GROUP    SESSION
3f2a9c01  unknown  open     2h05m   4200     4201     agent:codex:acp:main
  Expected an image under a wrapper root.

1 open lease in /srv/state: 1 unknown; 0 processes.
1 lease could not be read: acpx-lifecycle doctor
If these wrappers are yours: --wrapper-root /srv/wrappers`,
  },
  {
    name: "ended leases with how their end was proven",
    text: statusText(
      wide,
      statusSample({
        leases: [],
        ended: [recordedSample({ state: "closed", proof: "subreaper", reason: "its root ended" })],
        endedCount: 1,
      }),
      false,
    ),
    reads: `
LEASE     VERDICT  STATE    AGE     ROOT     GROUP    SESSION
3f2a9c01  ended    closed   2h05m   4200     4201     agent:codex:acp:main
  closed, proven by subreaper: its root ended

No open leases in /srv/state.`,
  },
  {
    name: "an empty state directory",
    text: statusText(wide, statusSample({ leases: [], endedCount: 2 }), false),
    reads: `
No open leases in /srv/state.
2 leases have ended in the last week: status --ended`,
  },
  {
    name: "every check of a lease on a wide terminal",
    text: inspectText(wide, inspectSample(), false),
    reads: `
lease 3f2a9c01-0d7e-4c55-9a41-3c1f6d2f9e10
  session   agent:codex:acp:main
  state     open, revision 3
  started   2h05m ago
  launch    wrapper, /srv/wrappers/codex-wrapper
  root      4200, adapter 4201, group 4201
  gateway   pid 4100, alive: its gateway (pid 4100) lives
  verdict   owned: It is the very process that the lease names.
    identity       match         Process 4200 is the very process recorded.
    uid            mismatch      Expected uid 1000, read 0.
  follows   It may be signalled, through the handle that the proof belongs to. Only its own gateway
            ends this lease.
  processes
  4200    codex-wrapper
  └─ 4201    program-4201
     ├─ 4202    program-4202
     └─ 4203    program-4203`,
  },
  {
    name: "checks below their names on a narrow one",
    text: inspectText(narrow, inspectSample({ ...orphanSample(), members: [] }), false),
    reads: `
lease 3f2a9c01-0d7e-4c55-9a41-3c1f6d2f9e10
  session   agent:codex:acp:main
  state     open, revision 3
  started   2h05m ago
  launch    wrapper, /srv/wrappers/codex-wrapper
  root      4200, adapter 4201, group 4201
  gateway   pid 4100, dead: its gateway (pid 4100) has ended
  verdict   gone: The kernel knows no process of that
            number.
    identity       match
      Process 4200 is the very process recorded.
    uid            mismatch
      Expected uid 1000, read 0.
  follows   There is nobody to signal; survivors are looked
            for one by one. Its gateway is dead:
            acpx-lifecycle reap ends what is proven. The
            rest only you can know: if it is yours, end it
            by hand, then reap again.
  processes
  4203    program-4203 (unknown: Nothing proves whose it
          is.)`,
  },
  {
    name: "a process that is not ours",
    text: inspectText(
      wide,
      {
        ...inspectSample(),
        kind: "process",
        subject: "77",
        leases: [],
        process: {
          ...processSample(77, 1),
          found: "live",
          verdict: { kind: "foreign", because: "No open lease of this state directory names it." },
          checks: [],
        },
      },
      false,
    ),
    reads: `
process 77
  program   program-77
  argv      program-77 --acp
  numbers   parent 1, group 77, session 77, uid 1000
  verdict   foreign: No open lease of this state directory names it.
  follows   Never signalled.`,
  },
  {
    name: "nothing of that name",
    text: inspectText(
      narrow,
      { ...inspectSample(), kind: "nothing", subject: "no\tbody", leases: [] },
      false,
    ),
    reads: `
No lease of /srv/state has an id that begins with "no\\tbody"
or is for a session "no\\tbody".`,
  },
  {
    name: "the plan of a sweep",
    text: planText(
      wide,
      sweepSample({
        planned: [
          { leaseId: "3f2a9c01-x", sessionKey: "main", pids: [4203, 4202] },
          { leaseId: "4f2a9c01-x", sessionKey: "other", pids: [] },
        ],
        held: [{ leaseId: "5f2a9c01-x", sessionKey: "third", because: "its gateway (pid 4100) lives" }],
      }),
    ),
    reads: `
To be settled
  3f2a9c01  main: end 4203, 4202, in this order
  4f2a9c01  other: nothing of it is alive
Not ours to end
  5f2a9c01  third: its gateway (pid 4100) lives`,
  },
  {
    name: "the sum of a sweep that left something",
    text: sweptText(
      wide,
      sweepSample({
        deaths: 2,
        left: [{ leaseId: "3f2a9c01-x", sessionKey: "main", because: "members outlived the budget" }],
      }),
    ),
    reads: `
0 leases settled, 2 processes ended.
1 lease left open: acpx-lifecycle inspect <lease>`,
  },
  {
    name: "a sweep while another is under way",
    text: sweptText(wide, sweepSample({ kind: "busy" })),
    reads: `
Another sweep began meanwhile; nothing was done here.`,
  },
  {
    name: "a problem with its remedy",
    text: doctorText(narrow, {
      schema: "acpx-lifecycle.doctor.v1",
      stateDir: "/srv/state",
      wrapperRoots: [],
      checkups: [
        { about: "addon", outcome: "ok", found: "Works." },
        {
          about: "leases",
          outcome: "problem",
          found: "One was left behind.",
          remedy: "Run acpx-lifecycle reap and look at what it says.",
        },
      ],
    }),
    reads: `
ok       addon       Works.
problem  leases      One was left behind.
                     Run acpx-lifecycle reap and look at
                     what it says.

1 problem: see above for what helps.`,
  },
];
