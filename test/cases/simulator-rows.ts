/**
 * What a gateway does about its processes, played on a simulated machine: whom it signals, in which order, and what
 * becomes of the lease. Rows with a case's number come from what people met.
 */
import type { Played, SimulatorEvent } from "../simulator/simulation.js";

export interface SimulatorRow extends Partial<Played> {
  readonly name: string;
  readonly events: readonly SimulatorEvent[];
  readonly signals: Played["signals"];
  readonly leases: Played["leases"];
  readonly alive: Played["alive"];
}

const ensure = { gateway: "A", does: "ensure" } as const;
const close = { gateway: "A", does: "close" } as const;
const look = { gateway: "A", does: "look" } as const;
const saveSession = { gateway: "A", does: "save" } as const;
/** A crash that the wrapper does not survive either, and a gateway that starts again. */
const lostBoth = [
  { gateway: "A", does: "crash", with: ["wrapper"] },
  { gateway: "B", does: "start" },
] as const satisfies readonly SimulatorEvent[];
const lookAgain = { gateway: "B", does: "look" } as const;
const reap = { gateway: "B", does: "reap" } as const;

export const seedRows: readonly SimulatorRow[] = [
  {
    name: "pid reused by an unrelated process",
    events: [ensure, ...lostBoth, { reuses: "wrapper", by: "a stranger" }, lookAgain, reap],
    verdicts: ["foreign"],
    signals: [],
    leases: ["lost"],
    alive: ["a stranger"],
    outcome: { settled: 1, left: 0, deaths: 0 },
  },
  {
    name: "pid reused by another gateway's wrapper root",
    events: [ensure, ...lostBoth, { reuses: "wrapper", by: "another gateway's wrapper" }, lookAgain, reap],
    verdicts: ["foreign"],
    signals: [],
    leases: ["lost"],
    alive: ["another gateway's wrapper"],
    outcome: { settled: 1, left: 0, deaths: 0 },
  },
  {
    name: "stored wrapper command shell-quoted, live command not",
    events: [
      ensure,
      { rewrites: ({ wrapperPath }) => ({ wrapperPath: `'${wrapperPath}' "--"`, commandHash: "sha256:1" }) },
      { process: "wrapper", argv: ["/srv/one/wrappers/codex-wrapper", "--", "codex-acp"] },
      look,
      close,
    ],
    verdicts: ["owned"],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper"],
    alive: [],
    outcome: { runtime: "closed", leases: ["closed"] },
  },
  {
    name: "adapter child exits, grandchild stays in the group",
    events: [
      { ...ensure, agent: { family: { child: "", grandchild: "d" } } },
      ...lostBoth,
      { process: "child", exits: 0 },
      lookAgain,
      reap,
    ],
    verdicts: ["gone"],
    signals: ["B TERM grandchild"],
    leases: ["closed by search"],
    alive: [],
    outcome: { settled: 1, deaths: 1 },
  },
  {
    name: "parent-death SIGTERM fallback reaches SIGKILL",
    events: [
      { ...ensure, agent: { adapter: "i", family: { stubborn: "ids" } } },
      { gateway: "A", does: "crash" },
      { passes: 299 },
      { passes: 1 },
      { gateway: "B", does: "start" },
      reap,
    ],
    signals: [
      "wrapper TERM adapter",
      "wrapper TERM stubborn",
      "wrapper KILL adapter",
      "wrapper KILL stubborn",
    ],
    leases: ["lost"],
    alive: [],
    outcome: { settled: 1, deaths: 0 },
  },
  {
    name: "process listing unavailable",
    events: [
      { ...ensure, agent: { family: { mcp: "ige" } } },
      ...lostBoth,
      { table: "unreadable" },
      reap,
      { table: "incomplete" },
      reap,
    ],
    signals: [],
    leases: ["open"],
    alive: ["mcp"],
    outcome: { settled: 0, left: 1, deaths: 0 },
  },
  {
    name: "stale lease with missing process",
    events: [ensure, ...lostBoth, lookAgain, reap],
    verdicts: ["gone"],
    signals: [],
    leases: ["lost"],
    alive: [],
    outcome: { settled: 1, deaths: 0 },
  },
  {
    name: "startup orphan with wrapper, adapter child and grandchild",
    events: [
      { ...ensure, agent: { family: { child: "g", grandchild: "d" } } },
      { process: "wrapper", is: "frozen" },
      { gateway: "A", does: "crash" },
      { gateway: "B", does: "start" },
      lookAgain,
      reap,
    ],
    verdicts: ["owned"],
    signals: ["B TERM wrapper", "wrapper TERM adapter", "wrapper TERM grandchild", "wrapper TERM child"],
    leases: ["closed by search"],
    alive: [],
    outcome: { settled: 1, deaths: 1 },
  },
];

const twin = { ...close, session: "t" } as const;
const otherHost = "another-host";
const inAnotherScope = (text: string, part: RegExp, value: string) => text.replace(part, value);
const OTHER_BOOT = "0a1b2c3d-0000-4000-8000-0000000b0072";

export const caseRows: readonly SimulatorRow[] = [
  // Verify and judge.
  {
    name: "V1: the number went to a new wrapper of our own, not yet claimed",
    events: [ensure, ...lostBoth, { passes: 20 }, { reuses: "wrapper", by: "a new wrapper of ours" }, reap],
    signals: [],
    leases: ["lost"],
    alive: ["a new wrapper of ours"],
  },
  {
    name: "V1: on a kernel without pidfs, within the same tick, a wrapper that carries another lease",
    events: [
      { kernel: "without pidfs" },
      ensure,
      ...lostBoth,
      { reuses: "wrapper", by: "a wrapper of another lease" },
      lookAgain,
      reap,
    ],
    verdicts: ["foreign"],
    signals: [],
    leases: ["lost"],
    alive: ["a wrapper of another lease"],
  },
  {
    name: "V1: on a kernel without pidfs, within the same tick, a new wrapper of our own, not yet claimed",
    events: [
      { kernel: "without pidfs" },
      ensure,
      ...lostBoth,
      { reuses: "wrapper", by: "a new wrapper of ours" },
      lookAgain,
      reap,
    ],
    verdicts: ["unknown"],
    signals: [],
    leases: ["open"],
    alive: ["a new wrapper of ours"],
  },
  {
    name: "V2: argv replaced by a process title and cut",
    events: [ensure, { process: "wrapper", argv: ["codex: idl"] }, look, close],
    verdicts: ["owned"],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper"],
    alive: [],
  },
  {
    name: "V3: the owner is a zombie that nobody has waited for",
    events: [
      { process: "A", unwaited: true },
      { ...ensure, agent: { family: { mcp: "g" } } },
      ...lostBoth,
      reap,
    ],
    signals: ["B TERM mcp"],
    leases: ["closed by search"],
    alive: [],
  },
  {
    name: "V4: the wall clock steps an hour ahead and a day back",
    events: [ensure, { wallClockSteps: 3_600_000 }, look, { wallClockSteps: -90_000_000 }, look, close],
    verdicts: ["owned"],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper"],
    alive: [],
  },
  {
    name: "V5: the wrapper cannot be opened by the next gateway: unknown, and nothing changes",
    events: [
      ensure,
      { process: "wrapper", is: "frozen" },
      { gateway: "A", does: "crash" },
      { gateway: "B", does: "start" },
      { process: "wrapper", hides: "open" },
      lookAgain,
      reap,
    ],
    verdicts: ["unknown"],
    signals: [],
    leases: ["open"],
    alive: ["wrapper", "adapter"],
    outcome: { settled: 0, left: 1 },
  },
  {
    name: "V5: the environment is denied; the identity is enough",
    events: [ensure, { process: "wrapper", hides: "environment" }, look, close],
    verdicts: ["owned"],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper"],
    alive: [],
  },
  {
    name: "V5: on a kernel without pidfs a number, a tick and nothing else that can be read",
    events: [
      { kernel: "without pidfs" },
      ensure,
      { process: "wrapper", is: "frozen" },
      { gateway: "A", does: "crash" },
      { gateway: "B", does: "start" },
      { process: "wrapper", hides: "environment" },
      { process: "wrapper", hides: "executable" },
      lookAgain,
      reap,
    ],
    verdicts: ["unknown"],
    signals: [],
    leases: ["open"],
    alive: ["wrapper", "adapter"],
  },
  {
    name: "V6: the table is cut short while the wrapper lives: it ends its own tree, which needs no table",
    events: [ensure, { table: "incomplete" }, close],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper"],
    alive: [],
  },
  {
    name: "V9: a lease from another boot of this host, its lock free: lost without a look",
    events: [
      ensure,
      ...lostBoth,
      {
        rewrites: ({ owner, rootToken = "" }) => ({
          owner: { ...owner, token: inAnotherScope(owner.token, /boot=[^;]+/, `boot=${OTHER_BOOT}`) },
          rootToken: inAnotherScope(rootToken, /boot=[^;]+/, `boot=${OTHER_BOOT}`),
        }),
      },
      { ownerLock: "free" },
      { starts: "look-alike", carrying: "the lease" },
      reap,
    ],
    signals: [],
    leases: ["lost"],
    alive: ["look-alike"],
  },
  ...(["held", "missing"] as const).map((ownerLock): SimulatorRow => ({
    name: `V9: a lease from another PID namespace, its lock ${ownerLock}: hands off`,
    events: [
      ensure,
      ...lostBoth,
      {
        rewrites: ({ owner }) => ({
          owner: { ...owner, token: inAnotherScope(owner.token, /pidns=\d+/, "pidns=7") },
        }),
      },
      { ownerLock },
      reap,
    ],
    signals: [],
    leases: ["open"],
    alive: [],
    outcome: { settled: 0, held: 1 },
  })),
  {
    name: "V9: a lease from another host: hands off, whatever the lock says",
    events: [
      ensure,
      ...lostBoth,
      {
        rewrites: ({ owner }) => ({
          owner: {
            ...owner,
            host: otherHost,
            token: inAnotherScope(owner.token, /boot=[^;]+/, `boot=${OTHER_BOOT}`),
          },
        }),
      },
      { ownerLock: "free" },
      reap,
    ],
    signals: [],
    leases: ["open"],
    alive: [],
    outcome: { settled: 0, held: 1 },
  },
  {
    name: "V9: a copied state directory while the original gateway lives",
    events: [
      ensure,
      { ownerLock: "free" },
      { gateway: "B", does: "start" },
      reap,
      { gateway: "B", does: "close" },
    ],
    signals: [],
    leases: ["open"],
    alive: ["wrapper", "adapter"],
    outcome: { runtime: "closed", leases: [] },
  },
  {
    name: "V11: a process below the agent that carries another lease is not the agent's",
    events: [
      { ...ensure, agent: { family: { child: "" } } },
      ...lostBoth,
      { starts: "nested", carrying: "another lease" },
      reap,
    ],
    signals: ["B TERM child"],
    leases: ["closed by search"],
    alive: ["nested"],
  },

  // End a tree.
  {
    name: "K1: adapter and child ignore TERM",
    events: [{ ...ensure, agent: { adapter: "i", family: { child: "i" } } }, close],
    signals: [
      "A TERM wrapper",
      "wrapper TERM adapter",
      "wrapper TERM child",
      "wrapper KILL adapter",
      "wrapper KILL child",
    ],
    leases: ["closed by subreaper"],
    alive: [],
  },
  {
    name: "K1: without a wrapper, children first",
    events: [{ ...ensure, agent: { direct: true, adapter: "i", family: { child: "i" } } }, close],
    signals: ["A TERM child", "A TERM adapter", "A KILL child", "A KILL adapter"],
    leases: ["closed by search"],
    alive: [],
  },
  {
    name: "K1: without a wrapper, a child that carries nothing and outlives its parent",
    events: [{ ...ensure, agent: { direct: true, family: { child: "ie", other: "" } } }, close],
    signals: ["A TERM child", "A TERM other", "A TERM adapter", "A KILL child"],
    leases: ["closed by search"],
    alive: [],
  },
  {
    name: "K1: without pidfs, two such children that started in the same tick",
    events: [
      { kernel: "without pidfs" },
      { ...ensure, agent: { direct: true, family: { one: "ie", two: "ie" } } },
      close,
    ],
    signals: ["A TERM one", "A TERM two", "A TERM adapter", "A KILL one", "A KILL two"],
    leases: ["closed by search"],
    alive: [],
  },
  {
    name: "K3: a double-forked worker in a session of its own, its wrapper dead; twin: one that carries nothing",
    events: [
      { ...ensure, agent: { family: { worker: "ids" } } },
      ...lostBoth,
      { starts: "look-alike", carrying: "nothing" },
      reap,
    ],
    signals: ["B TERM worker", "B KILL worker"],
    leases: ["closed by search"],
    alive: ["look-alike"],
    outcome: { settled: 1, deaths: 1 },
  },
  {
    name: "K3: one that asked to be detached stays, and is told of",
    events: [{ ...ensure, agent: { family: { child: "", daemon: "Ds" } } }, close],
    signals: ["A TERM wrapper", "wrapper TERM adapter", "wrapper TERM child"],
    leases: ["closed by subreaper"],
    alive: ["daemon"],
    outcome: { leases: ["closed"], detached: ["daemon"] },
  },
  {
    name: "K4: a child that nobody waits for is no survivor",
    events: [{ ...ensure, agent: { direct: true, family: { child: "z" } } }, close],
    signals: ["A TERM child", "A TERM adapter"],
    leases: ["closed by search"],
    alive: [],
    outcome: { leases: ["closed"], survivors: [] },
  },
  {
    name: "K5: a child of another uid: never signalled, and never closed",
    events: [{ ...ensure, agent: { direct: true, family: { other: "u" } } }, close],
    signals: ["A TERM adapter"],
    leases: ["closing"],
    alive: ["other"],
    outcome: { leases: ["closing"], survivors: ["denied"] },
  },
  {
    name: "K5: the kernel refuses the signal",
    events: [{ ...ensure, agent: { direct: true } }, { process: "adapter", hides: "signal" }, close],
    signals: [],
    leases: ["closing"],
    alive: ["adapter"],
    outcome: { leases: ["closing"], survivors: ["denied"] },
  },
  {
    name: "K6: the group's leader is dead; its members are proven one by one",
    events: [
      { ...ensure, agent: { family: { leader: "g", member: "" } } },
      { process: "leader", forks: "led", letters: "i" },
      ...lostBoth,
      { process: "leader", exits: 0 },
      reap,
    ],
    signals: ["B TERM member", "B TERM led", "B KILL led"],
    leases: ["closed by search"],
    alive: [],
  },
  {
    name: "K10: cleared environment, own group, in the adapter's session; all others dead",
    events: [
      { ...ensure, agent: { family: { mcp: "ige" } } },
      { passes: 20 },
      saveSession,
      ...lostBoth,
      reap,
    ],
    signals: ["B TERM mcp", "B KILL mcp"],
    leases: ["closed by search"],
    alive: [],
  },
  {
    name: "K10 twin: born after the adapter was last seen: nothing proves whose it is",
    events: [
      ensure,
      { passes: 500 },
      { process: "adapter", forks: "mcp", letters: "ige" },
      ...lostBoth,
      reap,
    ],
    signals: [],
    leases: ["open"],
    alive: ["mcp"],
    outcome: { settled: 0, left: 1 },
  },
  {
    name: "a survivor that no signal ends keeps its lease",
    events: [{ ...ensure, agent: { direct: true, family: { stuck: "k" } } }, close],
    signals: ["A TERM stuck", "A TERM adapter", ...Array.from({ length: 16 }, () => "A KILL stuck")],
    leases: ["closing"],
    alive: ["stuck"],
    outcome: { leases: ["closing"], survivors: ["unkillable"] },
  },

  // The wrapper.
  {
    name: "W1: the gateway dies: the wrapper ends everybody",
    events: [
      { ...ensure, agent: { family: { mcp: "ige", worker: "ids" } } },
      { gateway: "A", does: "crash" },
      { passes: 300 },
    ],
    signals: [
      "wrapper TERM adapter",
      "wrapper TERM worker",
      "wrapper TERM mcp",
      "wrapper KILL mcp",
      "wrapper KILL worker",
    ],
    leases: ["open"],
    alive: [],
  },
  {
    name: "W3: the wrapper is killed: its gateway ends the rest at once",
    events: [
      { ...ensure, agent: { family: { worker: "ids" } } },
      { process: "wrapper", is: "killed" },
      { passes: 1_000 },
    ],
    signals: ["A TERM worker", "A KILL worker"],
    leases: ["closed by search"],
    alive: [],
  },

  // Reap.
  {
    name: "R1: a dead owner's tree goes, a living owner's on the same state directory stays",
    events: [
      { gateway: "C", does: "start" },
      { gateway: "C", does: "ensure", session: "t", agent: { suffix: " of C" } },
      { ...ensure, agent: { family: { worker: "ds" } } },
      ...lostBoth,
      reap,
    ],
    signals: ["B TERM worker"],
    leases: ["open", "closed by search"],
    alive: ["wrapper of C", "adapter of C"],
    outcome: { settled: 1, held: 1, deaths: 1 },
  },
  {
    name: "R1: another installation's sweep does not see the lease",
    events: [
      { ...ensure, agent: { family: { worker: "ds" } } },
      { gateway: "A", does: "crash", with: ["wrapper"] },
      { gateway: "B", does: "start", installation: "two" },
      reap,
    ],
    signals: [],
    leases: ["open"],
    alive: ["worker"],
    outcome: { settled: 0, held: 0 },
  },
  {
    name: "R4: two sweeps at once: one works, the other is told",
    events: [
      { ...ensure, agent: { family: { worker: "ds" } } },
      ...lostBoth,
      { gateway: "C", does: "start" },
      { together: [reap, { gateway: "C", does: "reap" }] },
    ],
    signals: ["B TERM worker"],
    leases: ["closed by search"],
    alive: [],
    outcome: [{ kind: "swept", deaths: 1 }, { kind: "busy" }],
  },
  {
    name: "R4: a launch during a sweep is not touched by it",
    events: [
      { ...ensure, agent: { family: { worker: "ids" } } },
      ...lostBoth,
      { together: [reap, { gateway: "B", does: "ensure", session: "t", agent: { suffix: " of B" } }] },
    ],
    signals: ["B TERM worker", "B KILL worker"],
    leases: ["closed by search", "open"],
    alive: ["wrapper of B", "adapter of B"],
  },
  {
    name: "R6: a sweep that was stopped says what it has not inspected",
    events: [{ ...ensure, agent: { family: { worker: "ds" } } }, ...lostBoth, { ...reap, aborted: true }],
    signals: [],
    leases: ["open"],
    alive: ["worker"],
    outcome: { settled: 0, left: 0, notInspected: 1 },
  },
  {
    name: "R6: a dry run names whom it would end, children first, and ends nobody",
    events: [
      { ...ensure, agent: { family: { worker: "s" } } },
      { process: "wrapper", is: "frozen" },
      { gateway: "A", does: "crash" },
      { gateway: "B", does: "start" },
      { ...reap, dryRun: true },
    ],
    signals: [],
    leases: ["open"],
    alive: ["wrapper", "adapter", "worker"],
    outcome: { settled: 0, planned: ["worker", "adapter", "wrapper"] },
  },

  // Store.
  {
    name: "S1: a spawn that fails leaves a lost lease and no row with root 0",
    events: [{ ...ensure, agent: { spawn: "fails" } }],
    signals: [],
    leases: ["lost"],
    alive: [],
    outcome: "spawn ENOENT",
  },
  {
    name: "S4: the disk is full: the launch is refused, nothing is started",
    events: [{ disk: "full", of: "A" }, ensure],
    signals: [],
    leases: [],
    alive: [],
    outcome: "ERR_LAUNCH_REFUSED",
  },
  {
    name: "S4: the disk fills up: a running tree ends all the same, the next sweep writes it down",
    events: [
      ensure,
      { disk: "full", of: "A" },
      close,
      { disk: "free", of: "A" },
      { gateway: "A", does: "crash" },
      { gateway: "B", does: "start" },
      reap,
    ],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["lost"],
    alive: [],
    outcome: { settled: 1, deaths: 0 },
  },

  // Controller.
  {
    name: "C1: cancel asks the runtime and signals nobody",
    events: [ensure, { gateway: "A", does: "cancel" }],
    signals: [],
    leases: ["open"],
    alive: ["wrapper", "adapter"],
  },
  {
    name: "C3: a second close of the same session finds nothing to do",
    events: [ensure, close, close],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper"],
    alive: [],
    outcome: { runtime: "closed", leases: [] },
  },
  {
    name: "C3: closing one session leaves another of the same gateway",
    events: [ensure, { ...ensure, session: "t", agent: { suffix: " of t" } }, close],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper", "open"],
    alive: ["wrapper of t", "adapter of t"],
  },
  ...(["rejects", "hangs"] as const).map((acpx): SimulatorRow => ({
    name: `C4: the runtime's close ${acpx}: the clean-up happens all the same`,
    events: [ensure, { ...close, acpx }],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper"],
    alive: [],
    outcome: { runtime: acpx === "rejects" ? "failed" : "timed-out", leases: ["closed"] },
  })),
  {
    name: "C4: acpx ends the agent itself; the lease closes by what its parent saw",
    events: [
      { ...ensure, agent: { family: { child: "" } } },
      { ...close, acpx: "ends the agent" },
    ],
    signals: ["acpx TERM wrapper", "wrapper TERM adapter", "wrapper TERM child"],
    leases: ["closed by subreaper"],
    alive: [],
    outcome: { runtime: "closed", leases: ["closed"] },
  },
  {
    name: "C5: acpx starts a process inside its close: that one ends too",
    events: [
      { ...ensure, agent: { suffix: "" } },
      { ...close, acpx: "starts another" },
    ],
    signals: ["A TERM wrapper", "wrapper TERM adapter", "A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper", "closed by subreaper"],
    alive: [],
    outcome: { leases: ["closed", "closed"] },
  },
  {
    name: "C5: an ensure leaves the living process of an earlier one alone",
    events: [ensure, { ...ensure, agent: { suffix: " 2" } }],
    signals: [],
    leases: ["open", "open"],
    alive: ["wrapper", "adapter", "wrapper 2", "adapter 2"],
  },
  {
    name: "C5: an ensure settles what a dead gateway left under its session, and nothing else",
    events: [
      { ...ensure, agent: { family: { worker: "ds" } } },
      { ...ensure, session: "t", agent: { suffix: " of t", family: { "worker of t": "ds" } } },
      { gateway: "A", does: "crash", with: ["wrapper", "wrapper of t"] },
      { gateway: "B", does: "start" },
      { gateway: "B", does: "ensure", agent: { suffix: " of B" } },
    ],
    signals: ["B TERM worker"],
    leases: ["closed by search", "open", "open"],
    alive: ["worker of t", "wrapper of B", "adapter of B"],
  },
  {
    name: "C6: a discard of what can never be verified drops the record and signals nobody",
    events: [
      ensure,
      { process: "wrapper", is: "frozen" },
      { gateway: "A", does: "crash" },
      { gateway: "B", does: "start" },
      { process: "wrapper", hides: "open" },
      { gateway: "B", does: "discard", acpx: "cannot discard" },
    ],
    signals: [],
    leases: ["closing"],
    alive: ["wrapper", "adapter"],
    outcome: { runtime: "prepared-fresh", leases: ["closing"] },
  },
  {
    name: "C7: a crash in the middle of a close: the closing lease is finished by the next sweep",
    events: [
      { ...ensure, agent: { family: { worker: "ds" } } },
      { process: "wrapper", hides: "open" },
      { rewrites: () => ({ state: "closing" }) },
      ...lostBoth,
      reap,
    ],
    signals: ["B TERM worker"],
    leases: ["closed by search"],
    alive: [],
  },
  {
    name: "C8: a wrapper that is killed before it has reported: the launch fails, nothing is left",
    events: [{ ...ensure, agent: { dies: "unclaimed" } }],
    signals: [],
    leases: ["lost"],
    alive: [],
    outcome: "the agent ended during its start",
  },
  {
    name: "C9: closed twice at once: each lease ends once",
    events: [ensure, { together: [close, { ...close }, twin] }],
    signals: ["A TERM wrapper", "wrapper TERM adapter"],
    leases: ["closed by subreaper"],
    alive: [],
    outcome: [{ leases: ["closed"] }, { leases: ["closed"] }, { leases: [] }],
  },
  {
    name: "C10: closed while its launch is naming its process: the close looks again, for that process",
    events: [{ together: [close, { ...ensure, agent: { family: { worker: "s" } }, afterTurns: 1 }] }],
    signals: ["A TERM wrapper", "wrapper TERM adapter", "wrapper TERM worker"],
    leases: ["closed by subreaper"],
    alive: [],
    outcome: [{ leases: ["closed"] }, "the agent ended during its start"],
  },
];
