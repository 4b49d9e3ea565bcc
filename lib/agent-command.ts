/**
 * How an agent is started, in acpx's words: text or argv, what acpx derives from a command's name, and how the
 * same command looks behind a wrapper. Pure; the rules that repeat acpx's are held to it by acpx-commands.test.ts.
 */

/** What an agent registry answers and a session record stores: argv, or a command line as text. */
export type AgentCommand = string | readonly string[];

/** The two fields by which acpx decides whether a stored session belongs to an agent: both must be equal. */
export interface CommandIdentity {
  readonly agentCommand: string;
  readonly agentArgv?: readonly string[];
}

const SAFE_WORD = /^[A-Za-z0-9_@%+=:,./^~-]+$/u;

/** acpx's text for an argv: words that need no quotes as they are, the rest as JSON strings. */
export function identityOf(command: AgentCommand): CommandIdentity {
  if (typeof command === "string") return { agentCommand: command };
  const words = command.map((word) => (SAFE_WORD.test(word) ? word : JSON.stringify(word)));
  return { agentCommand: words.join(" "), agentArgv: [...command] };
}

/** Splits a command line as acpx does: quotes of both kinds, backslash except in single quotes. `null`: open quote. */
export function splitCommandLine(text: string): string[] | null {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  let escaped = false;
  for (const character of text) {
    if (escaped) {
      word = (word ?? "") + character;
      escaped = false;
    } else if (character === "\\" && quote !== "'") {
      escaped = true;
    } else if (quote !== "") {
      if (character === quote) quote = "";
      else word = (word ?? "") + character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (/\s/u.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quote !== "") return null;
  if (escaped) word = (word ?? "") + "\\";
  if (word !== undefined) words.push(word);
  return words;
}

/** argv of a command; `null` where there is no command in it. */
export function argvOf(command: AgentCommand): readonly string[] | null {
  const argv = typeof command === "string" ? splitCommandLine(command) : command;
  return argv === null || argv[0] === undefined || argv[0] === "" ? null : argv;
}

/** The name that acpx keys its special cases on. */
export function commandName(command: string): string {
  return (command.split(/[\\/]/u).at(-1) ?? "").toLowerCase().replace(/\.(cmd|exe|bat)$/u, "");
}

const PACKAGE_RUNNERS = new Set(["npx", "uvx", "npm", "pnpm", "bunx"]);

/** Runs a package that may have to be fetched first: acpx then picks the installed copy, or the way to fetch it. */
export function runsPackage(argv: readonly string[]): boolean {
  const name = commandName(argv[0] ?? "");
  if (PACKAGE_RUNNERS.has(name)) return true;
  if (name === "bun") return argv[1] === "x";
  if (name === "uv") return argv[1] === "tool" && argv[2] === "run";
  return name === "node" && /(?:npm|npx)-cli\.js$/u.test(argv[1] ?? "");
}

/**
 * Agents for which a wrapper would take something away, so that only an explicit wish puts one in front:
 * grok's credentials are chosen by a rule on argv[0] *and* argv[1]; copilot's ACP support is read out of the
 * `--help` of argv[0]; a package runner is replaced by acpx when it is the whole command; and a Windows program
 * under WSL gets its working directory translated by its file name.
 */
export function staysDirect(argv: readonly string[]): boolean {
  const name = commandName(argv[0] ?? "");
  return (
    name === "grok" || name === "copilot" || runsPackage(argv) || /\.(?:exe|cmd|bat)$/iu.test(argv[0] ?? "")
  );
}

/**
 * acpx reads these off argv[0] alone: gemini's start timeout, qodercli's options, stdin grace and noise, devin's
 * client name, cursor's model aliases. claude is found anywhere in argv and needs no special name.
 */
const KEYED_NAMES = new Set(["gemini", "qodercli", "devin", "cursor-agent"]);

/** File name of the wrapper image for an agent: a name that acpx knows, or `<agent>-wrapper`. */
export function wrapperNameFor(argv: readonly string[], agentName: string): string {
  const name = commandName(argv[0] ?? "");
  if (KEYED_NAMES.has(name)) return name;
  if (name === "agent" && argv.includes("acp")) return "cursor-agent";
  const plain = /^[a-z0-9][a-z0-9._-]{0,63}$/u;
  // An agent may be named by a whole command line; its file name is then the readable part.
  const readable = [agentName.trim().toLowerCase(), name].find((candidate) => plain.test(candidate));
  return `${readable ?? "agent"}-wrapper`;
}

const LEASE_ARGUMENTS = ["--openclaw-acpx-lease-id", "--openclaw-gateway-instance-id"];
const LEASE_ASSIGNMENT = /^OPENCLAW_(?:ACPX_LEASE|GATEWAY_INSTANCE)_ID=/u;

/**
 * The command without the lease that OpenClaw releases put into it: `<argv> --openclaw-acpx-lease-id <id>
 * --openclaw-gateway-instance-id <id>`, before that `env OPENCLAW_ACPX_LEASE_ID=<id> ... <argv>`.
 */
export function withoutLease(argv: readonly string[]): readonly string[] {
  const rest = argv.slice(commandName(argv[0] ?? "") === "env" ? 1 : 0);
  const command = rest.findIndex((word) => !LEASE_ASSIGNMENT.test(word));
  const unprefixed = command > 0 ? rest.slice(command) : argv;
  const tail = unprefixed.slice(-4);
  const leased = tail.length === 4 && LEASE_ARGUMENTS.every((name, index) => tail[index * 2] === name);
  return leased ? unprefixed.slice(0, -4) : unprefixed;
}
