/** What was asked for: command, options, and where they come from when they are not given. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

export const STATE_DIR = "OPENCLAW_ACPX_STATE_DIR";
export const WRAPPER_ROOT = "OPENCLAW_ACPX_WRAPPER_ROOT";

/** sysexits(3) EX_USAGE, which no command of ours means anything else by. */
export const EXIT_USAGE = 64;
export const EXIT_OK = 0;
/** The answer is not what one would wish: not ours, left over, a problem. */
export const EXIT_FINDING = 1;
/** There is no answer: the state directory or the processes could not be looked at. */
export const EXIT_FAILED = 2;

export interface Where {
  /** Absolute. */
  readonly stateDir: string;
  /** Absolute; the first is the one that `run` installs its wrapper in. */
  readonly wrapperRoots: readonly [string, ...string[]];
}

export type Request = Where & { readonly json: boolean } & (
    | { readonly command: "status"; readonly argv: boolean; readonly ended: boolean }
    | { readonly command: "inspect"; readonly subject: string; readonly argv: boolean }
    | { readonly command: "reap"; readonly dryRun: boolean }
    | {
        readonly command: "run";
        readonly sessionKey?: string;
        readonly launch: readonly [string, ...string[]];
      }
    | { readonly command: "doctor" }
  );

export type Parsed =
  | { readonly kind: "request"; readonly request: Request }
  | { readonly kind: "help" | "version" }
  | { readonly kind: "usage"; readonly message: string };

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

export const HELP = `Usage: acpx-lifecycle <command> [options]

  status                 open leases and their live processes
  inspect <subject>      a lease id, pid or session key: every check about it
  reap                   end what dead gateways left behind, and nothing else
  run -- <command> ...   run a command under a lease, in the foreground
  doctor                 what works here, what does not, and what helps

  --state-dir <dir>      the leases [$${STATE_DIR}, else per user]
  --wrapper-root <dir>   where wrappers may be; repeatable
                         [$${WRAPPER_ROOT}, <state-dir>/wrappers]
  --json                 a report for programs
  --argv                 status, inspect: whole command lines
  --ended                status: ended leases too
  --dry-run              reap: only say what would be done
  --session-key <key>    run: the session that the lease is for
  --help, --version

Exit code: 0 done, 1 see the report, 2 could not look, 64 wrong usage.
run: its command's own; 125 not launched, 126 and 127 as in a shell.
Nothing is ever signalled that is not provably of a lease of this directory.`;

const OPTIONS = {
  "state-dir": { type: "string" },
  "wrapper-root": { type: "string", multiple: true },
  json: { type: "boolean" },
  argv: { type: "boolean" },
  ended: { type: "boolean" },
  "dry-run": { type: "boolean" },
  "session-key": { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

/** Which options mean something to a command, besides those that all of them take. */
const OWN_OPTIONS: Readonly<Record<Request["command"], readonly string[]>> = {
  status: ["argv", "ended"],
  inspect: ["argv"],
  reap: ["dry-run"],
  run: ["session-key"],
  doctor: [],
};
const COMMON = ["state-dir", "wrapper-root", "json"];

export function parseCommandLine(args: readonly string[], surroundings: Surroundings): Parsed {
  const dashes = args.indexOf("--");
  const ours = dashes < 0 ? args : args.slice(0, dashes);
  const launch = dashes < 0 ? [] : args.slice(dashes + 1);
  const parsed = parse(ours);
  if (typeof parsed === "string") return { kind: "usage", message: parsed };
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: "help" };
  if (values.version === true) return { kind: "version" };

  const [command, ...rest] = positionals;
  if (command === undefined) return { kind: "usage", message: "a command is missing" };
  if (!isCommand(command)) return { kind: "usage", message: `there is no command "${command}"` };
  const allowed = [...COMMON, ...OWN_OPTIONS[command]];
  const misplaced = Object.keys(values).find((name) => !allowed.includes(name));
  if (misplaced !== undefined) return { kind: "usage", message: `${command} has no option --${misplaced}` };
  const complaint = complainAbout(command, rest, launch, dashes >= 0);
  if (complaint !== undefined) return { kind: "usage", message: complaint };
  const { "session-key": sessionKey } = values;
  for (const name of ["state-dir", "session-key"] as const)
    if (values[name] === "") return { kind: "usage", message: `--${name} is empty` };

  const common = { ...whereabouts(values, surroundings), json: values.json ?? false };
  const argv = values.argv ?? false;
  const [first = "", ...others] = launch;
  const [subject = ""] = rest;
  const requests: { [Command in Request["command"]]: Extract<Request, { command: Command }> } = {
    status: { ...common, command: "status", argv, ended: values.ended ?? false },
    inspect: { ...common, command: "inspect", subject, argv },
    reap: { ...common, command: "reap", dryRun: values["dry-run"] ?? false },
    run: {
      ...common,
      command: "run",
      launch: [first, ...others],
      ...(sessionKey === undefined ? {} : { sessionKey }),
    },
    doctor: { ...common, command: "doctor" },
  };
  return { kind: "request", request: requests[command] };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split(". ");
    return sentence;
  }
}

const isCommand = (name: string): name is Request["command"] => Object.hasOwn(OWN_OPTIONS, name);

function complainAbout(
  command: Request["command"],
  rest: readonly string[],
  launch: readonly string[],
  dashes: boolean,
): string | undefined {
  const wanted = command === "inspect" ? 1 : 0;
  if (command === "run" && rest.length > 0) return `put "--" before the command: run -- ${rest.join(" ")}`;
  if (command === "run" && (launch[0] ?? "") === "") return "run needs a command: run -- <command> [args]";
  if (command !== "run" && dashes) return `${command} takes nothing behind "--"`;
  if (rest.length > wanted) return `${command} does not know what to do with "${rest[wanted] ?? ""}"`;
  if (wanted === 1 && (rest[0] ?? "") === "")
    return "inspect needs a lease id (or its first characters), a pid or a session key";
  return undefined;
}

function whereabouts(
  values: { "state-dir"?: string; "wrapper-root"?: string[] },
  surroundings: Surroundings,
): Where {
  const { env } = surroundings;
  const stateDir = resolve(values["state-dir"] ?? (env[STATE_DIR] || defaultStateDir(surroundings)));
  const ours = join(stateDir, "wrappers");
  const named = values["wrapper-root"] ?? [env[WRAPPER_ROOT] || ours];
  const [first = ours, ...others] = named.map((root) => resolve(root));
  return { stateDir, wrapperRoots: [first, ...new Set([...others, ours].filter((root) => root !== first))] };
}

/** Where the platform keeps what a program must remember and a person need not back up. */
export function defaultStateDir({ env, platform, home }: Surroundings): string {
  const name = "acpx-lifecycle";
  const given = (variable: string) => {
    const value = env[variable] ?? "";
    // The XDG base directory specification has relative ones ignored.
    return value.startsWith("/") || platform === "win32" ? value : "";
  };
  if (platform === "darwin") return join(home, "Library", "Application Support", name);
  if (platform === "win32") return join(given("LOCALAPPDATA") || join(home, "AppData", "Local"), name);
  return join(given("XDG_STATE_HOME") || join(home, ".local", "state"), name);
}
