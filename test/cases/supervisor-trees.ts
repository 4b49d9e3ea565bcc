/** Trees and what ends them; words as in test/fixtures/adapter-script.c. */
import { DETACH } from "../../lib/environment.js";
import type { Ended } from "../helpers/supervisor.js";

export interface TreeRow {
  readonly name: string;
  readonly words: readonly string[];
  /** Sent to the supervisor alone once all are announced; "line": the adapter is told to go on. */
  readonly trigger: NodeJS.Signals | "line";
  /** Announced, and gone when the supervisor has ended. */
  readonly gone: readonly string[];
  /** Announced, alive afterwards, and listed as having opted out. */
  readonly detached?: readonly string[];
  readonly ended: Ended;
}

const words = (text: string): readonly string[] => text.split(" ");
const killed: Ended = { code: 137, signal: null };
const by = (signal: NodeJS.Signals): Ended => ({ code: null, signal });
const withCode = (code: number): Ended => ({ code, signal: null });
const opted = `with ${DETACH}=1`;

/** A chain in which each is the child of the one before, in a session of its own. */
function chain(length: number): string {
  return length === 0 ? "forever" : `fork [ session announce link${length} ${chain(length - 1)} ] forever`;
}

export const trees: readonly TreeRow[] = [
  {
    name: "an adapter that ends on TERM ends its supervisor in the same way",
    words: words("announce adapter forever"),
    trigger: "SIGTERM",
    gone: ["adapter"],
    ended: by("SIGTERM"),
  },
  {
    name: "an adapter that turns TERM into an exit code has it mirrored",
    words: words("announce adapter fork [ announce child forever ] line exit 9"),
    trigger: "line",
    gone: ["adapter", "child"],
    ended: withCode(9),
  },
  ...(["SIGINT", "SIGHUP", "SIGQUIT"] as const).map((signal) => ({
    name: `${signal} ends the tree, and the adapter gets just that signal`,
    words: words("ignore TERM announce adapter fork [ announce child forever ] forever"),
    trigger: signal,
    gone: ["adapter", "child"],
    ended: by(signal),
  })),
  ...(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const).map((signal) => ({
    name: `${signal} that everybody ignores ends in KILL`,
    words: words(
      "ignore TERM ignore INT ignore HUP ignore QUIT announce adapter fork [ announce child forever ] forever",
    ),
    trigger: signal,
    gone: ["adapter", "child"],
    ended: killed,
  })),
  {
    name: "adapter and child ignore TERM and the end of their input",
    words: words("ignore TERM fork [ announce child line forever ] announce adapter line forever"),
    trigger: "SIGTERM",
    gone: ["adapter", "child"],
    ended: killed,
  },
  {
    name: "servers in process groups of their own, one of them deaf to TERM",
    words: words(
      "announce adapter fork [ group announce one forever ] fork [ group ignore TERM announce two forever ] forever",
    ),
    trigger: "SIGTERM",
    gone: ["adapter", "one", "two"],
    ended: by("SIGTERM"),
  },
  {
    name: "a shim that forwards nothing and waits for its server",
    words: words("fork [ session announce server forever ] ignore TERM announce shim children exit 5"),
    trigger: "SIGTERM",
    gone: ["shim", "server"],
    ended: withCode(5),
  },
  {
    name: "a launcher that exits first takes its children with it",
    words: words(
      "fork [ announce child forever ] fork [ session ignore TERM announce deaf forever ] line exit 3",
    ),
    trigger: "line",
    gone: ["child", "deaf"],
    ended: withCode(3),
  },
  {
    name: "a double-forked worker in a session of its own",
    words: words("announce adapter fork [ session fork [ announce worker forever ] ] forever"),
    trigger: "SIGTERM",
    gone: ["adapter", "worker"],
    ended: by("SIGTERM"),
  },
  {
    name: "a double-forked worker that ignores TERM and cleared its environment",
    words: words(
      "announce adapter fork [ session ignore TERM fork [ cleared announce worker forever ] ] forever",
    ),
    trigger: "SIGTERM",
    gone: ["adapter", "worker"],
    ended: by("SIGTERM"),
  },
  {
    name: "children that nobody waited for are no survivors",
    words: words("announce adapter fork [ exit 1 ] fork [ fork [ exit 1 ] announce parent forever ] forever"),
    trigger: "SIGTERM",
    gone: ["adapter", "parent"],
    ended: by("SIGTERM"),
  },
  {
    name: "processes whose main thread has exited still run, and are ended",
    words: words(
      "announce adapter fork [ session announce half thread ] fork [ announce quarter thread ] forever",
    ),
    trigger: "SIGTERM",
    gone: ["adapter", "half", "quarter"],
    ended: by("SIGTERM"),
  },
  {
    name: "an adapter whose main thread has exited",
    words: words("ignore TERM announce adapter thread"),
    trigger: "SIGTERM",
    gone: ["adapter"],
    ended: killed,
  },
  {
    name: "stopped processes are continued so that they can end",
    words: words("announce adapter fork [ session announce stopped die STOP ] forever"),
    trigger: "SIGTERM",
    gone: ["adapter", "stopped"],
    ended: by("SIGTERM"),
  },
  {
    name: "an adapter behind a shell that stays",
    words: words("announce shell fork [ ignore TERM announce adapter forever ] children exit 0"),
    trigger: "SIGTERM",
    gone: ["shell", "adapter"],
    ended: by("SIGTERM"),
  },
  {
    name: "an adapter that spins on a closed pipe",
    words: words("ignore TERM announce adapter close spin"),
    trigger: "SIGTERM",
    gone: ["adapter"],
    ended: killed,
  },
  {
    name: "thirty sessions, each the child of the last, all deaf to TERM",
    words: words(`ignore TERM announce adapter ${chain(30)}`),
    trigger: "SIGTERM",
    gone: ["adapter", "link1", "link30"],
    ended: killed,
  },
  {
    name: "a daemon that opted out is left and listed",
    words: words(`announce adapter fork [ session fork [ ${opted} announce daemon forever ] ] forever`),
    trigger: "SIGTERM",
    gone: ["adapter"],
    detached: ["daemon"],
    ended: by("SIGTERM"),
  },
  {
    name: "the same daemon without the variable is ended",
    words: words("announce adapter fork [ session fork [ with OTHER=1 announce daemon forever ] ] forever"),
    trigger: "SIGTERM",
    gone: ["adapter", "daemon"],
    ended: by("SIGTERM"),
  },
  {
    name: "only the value 1 opts out",
    words: words(`announce adapter fork [ session with ${DETACH}=0 announce daemon forever ] forever`),
    trigger: "SIGTERM",
    gone: ["adapter", "daemon"],
    ended: by("SIGTERM"),
  },
  {
    name: "a daemon that opted out inside the adapter's group is left, its neighbours are ended",
    words: words(
      `announce adapter fork [ ${opted} announce daemon forever ] fork [ ignore TERM announce deaf forever ] forever`,
    ),
    trigger: "SIGTERM",
    gone: ["adapter", "deaf"],
    detached: ["daemon"],
    ended: by("SIGTERM"),
  },
  {
    name: "what a daemon that opted out has started is left with it, whatever its environment",
    words: words(
      `announce adapter fork [ session ${opted} announce daemon fork [ cleared announce helper forever ] forever ] forever`,
    ),
    trigger: "SIGTERM",
    gone: ["adapter"],
    detached: ["daemon", "helper"],
    ended: by("SIGTERM"),
  },
  {
    name: "an adapter that exits leaves its daemon that opted out",
    words: words(`announce adapter fork [ session ${opted} announce daemon forever ] line exit 4`),
    trigger: "line",
    gone: ["adapter"],
    detached: ["daemon"],
    ended: withCode(4),
  },
  {
    name: "the adapter itself cannot opt out",
    words: words(`${opted} announce adapter forever`),
    trigger: "SIGTERM",
    gone: ["adapter"],
    ended: by("SIGTERM"),
  },
];
