/**
 * Which process is which. A number alone names whoever has it now; identity is pid + start token.
 *
 * A start token is text made by the native layer, in the observer's own terms:
 * - `linux;boot=<uuid>;pidns=<inode>[;timens=<inode>];ticks=<n>[;inode=<n>]`
 * - `darwin;boot=<uuid>;unique=<n>`
 */

/** A process for good: `pid` means something only in the scope that the token names. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly token: string;
}

export type StartToken = LinuxToken | DarwinToken;

interface LinuxToken {
  readonly platform: "linux";
  readonly boot: string;
  /** Inodes of the observer's namespaces, decimal. No `timens` before Linux 5.6. */
  readonly pidns: string;
  readonly timens: string | undefined;
  /** Start time on the boot clock in units of 1/CLK_TCK s (field 22 of proc_pid_stat(5)). */
  readonly ticks: number;
  /** Inode of the pidfd where there is a pidfs (Linux 6.9): unique per process and boot. */
  readonly inode: string | undefined;
}

interface DarwinToken {
  readonly platform: "darwin";
  readonly boot: string;
  /** p_uniqueid: counts every fork of this boot, survives exec, never reused. */
  readonly unique: bigint;
}

const BOOT = "boot=(?<boot>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})";
// Canonical decimals only, so that comparing digits compares numbers; ticks stay exact in a double.
const NUMBER = "(?:0|[1-9][0-9]{0,19})";
const TICKS = "(?:0|[1-9][0-9]{0,14})";
const LINUX = new RegExp(
  `^linux;${BOOT};pidns=(?<pidns>${NUMBER})(?:;timens=(?<timens>${NUMBER}))?` +
    `;ticks=(?<ticks>${TICKS})(?:;inode=(?<inode>${NUMBER}))?$`,
);
const DARWIN = new RegExp(`^darwin;${BOOT};unique=(?<unique>${NUMBER})$`);

/** `undefined`: not a token. An unknown part is not skipped: it might be the one that tells two processes apart. */
export function parseStartToken(text: string): StartToken | undefined {
  const linux = LINUX.exec(text)?.groups;
  if (linux !== undefined) {
    const { boot = "", pidns = "", timens, ticks, inode } = linux;
    return { platform: "linux", boot, pidns, timens, ticks: Number(ticks), inode };
  }
  const darwin = DARWIN.exec(text)?.groups;
  if (darwin === undefined) return undefined;
  const { boot = "", unique = "" } = darwin;
  return { platform: "darwin", boot, unique: BigInt(unique) };
}

/**
 * - `same`: equal, and told apart from everybody else of this boot by inode or unique id
 * - `same-weak`: equal as far as both can tell; ticks are 10 ms wide and a number can be reused within one
 * - `different`: certainly another process
 * - `not-comparable`: another boot or namespace, or not a token
 */
export type TokenComparison = "same" | "same-weak" | "different" | "not-comparable";

export function compareStartTokens(recorded: string, observed: string): TokenComparison {
  const a = parseStartToken(recorded);
  const b = parseStartToken(observed);
  if (a === undefined || b === undefined || !scopesEqual(a, b)) return "not-comparable";
  if (a.platform === "darwin") return b.platform === "darwin" && a.unique === b.unique ? "same" : "different";
  if (b.platform === "darwin") return "not-comparable";
  if (a.ticks !== b.ticks) return "different";
  if (a.inode === undefined || b.inode === undefined) return "same-weak";
  return a.inode === b.inode ? "same" : "different";
}

/** Whether numbers read by one observer mean the same to the other. A namespace named on one side only: no. */
export function sameScope(a: string, b: string): boolean {
  const first = parseStartToken(a);
  const second = parseStartToken(b);
  return first !== undefined && second !== undefined && scopesEqual(first, second);
}

/** Start time in ticks of the boot clock; `undefined` where the platform's identity has none. */
export function startTicks(token: string): number | undefined {
  const parsed = parseStartToken(token);
  return parsed?.platform === "linux" ? parsed.ticks : undefined;
}

/**
 * The number that tells apart the processes of one boot that had the same pid, and orders their starts: ticks on Linux,
 * unique id on macOS. The names of claim files have it.
 */
export function startNumber(token: string): number | undefined {
  const parsed = parseStartToken(token);
  return parsed?.platform === "darwin" ? Number(parsed.unique) : parsed?.ticks;
}

/** Whether the process of `a` may be as old as that of `b`, or older. `undefined`: not comparable. */
export function notYounger(a: string, b: string): boolean | undefined {
  const first = parseStartToken(a);
  const second = parseStartToken(b);
  if (first === undefined || second === undefined || !scopesEqual(first, second)) return undefined;
  if (first.platform === "linux") return second.platform === "linux" && first.ticks <= second.ticks;
  return second.platform === "darwin" && first.unique <= second.unique;
}

function scopesEqual(a: StartToken, b: StartToken): boolean {
  if (a.boot !== b.boot) return false;
  if (a.platform === "linux") return b.platform === "linux" && a.pidns === b.pidns && a.timens === b.timens;
  return b.platform === "darwin";
}
