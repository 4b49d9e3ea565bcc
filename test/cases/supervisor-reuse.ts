/** Numbers that change hands while the supervisor is about to signal them. */
export interface ReuseRow {
  readonly name: string;
  /** Where the supervisor is frozen, see test/fixtures/supervisor-freeze.c. */
  readonly moment: "pidfd_open" | "pidfd_send_signal" | "kill" | "kill-group";
  readonly words: readonly string[];
  /** Announced; it dies while the supervisor is frozen unless `kill` is false. */
  readonly victim: string;
  readonly kill: boolean;
  /** Its parent has waited for it, so that the kernel gives its number away. */
  readonly reaped: boolean;
  readonly expected: {
    readonly whileFrozen: "started" | "failed 17" | "not tried";
    /** How the adapter ended, as a shell has it. */
    readonly code: number;
    /** What the tree said besides its announcements. */
    readonly said: readonly string[];
  };
}

const words = (text: string): readonly string[] => text.split(" ");
const waiting =
  "fork [ session tell TERM announce deep forever ] announce adapter children announce reaped forever";
const orphaned = "fork [ fork [ session tell TERM announce orphan forever ] ] announce adapter forever";
const terminated = 128 + 15;
const killed = 128 + 9;

export const reuses: readonly ReuseRow[] = [
  {
    name: "a grandchild that dies and is replaced after it was listed: the stranger is opened, and not signalled",
    moment: "pidfd_open",
    words: words(waiting),
    victim: "deep",
    kill: true,
    reaped: true,
    expected: { whileFrozen: "started", code: terminated, said: [] },
  },
  {
    name: "a grandchild that dies and is replaced after it was proven: the signal goes nowhere",
    moment: "pidfd_send_signal",
    words: words(waiting),
    victim: "deep",
    kill: true,
    reaped: true,
    expected: { whileFrozen: "started", code: terminated, said: [] },
  },
  {
    name: "the same grandchild gets its TERM if it is left alone",
    moment: "pidfd_open",
    words: words(waiting),
    victim: "deep",
    kill: false,
    reaped: false,
    expected: { whileFrozen: "not tried", code: terminated, said: ["got TERM"] },
  },
  {
    name: "an own child that dies before it is signalled keeps its number until it is waited for",
    moment: "kill",
    words: words(orphaned),
    victim: "orphan",
    kill: true,
    reaped: false,
    expected: { whileFrozen: "failed 17", code: terminated, said: [] },
  },
  {
    name: "the same own child gets its TERM if it is left alone",
    moment: "kill",
    words: words(orphaned),
    victim: "orphan",
    kill: false,
    reaped: false,
    expected: { whileFrozen: "not tried", code: terminated, said: ["got TERM"] },
  },
  {
    name: "an adapter that dies before its group is signalled keeps its number, and that of its group, to the end",
    moment: "kill-group",
    words: words("fork [ ignore TERM announce member forever ] announce adapter forever"),
    victim: "adapter",
    kill: true,
    reaped: false,
    expected: { whileFrozen: "failed 17", code: killed, said: [] },
  },
];
