/** How commands end that never become an adapter, or that a shell would report in a way of its own. */
import type { Ended } from "../helpers/supervisor.js";

export interface EndingRow {
  readonly name: string;
  /** `<dir>` stands for a directory that exists. */
  readonly command: readonly string[];
  readonly ended: Ended;
  readonly stderr: RegExp;
}

export const endings: readonly EndingRow[] = [
  {
    name: "a command that is in no directory of PATH exits as shells say",
    command: ["no-such-command-anywhere"],
    ended: { code: 127, signal: null },
    stderr: /no-such-command-anywhere: No such file or directory\n$/,
  },
  {
    name: "a path that does not exist exits as shells say",
    command: ["<dir>/nothing"],
    ended: { code: 127, signal: null },
    stderr: /nothing: No such file or directory\n$/,
  },
  {
    name: "a directory is not executable",
    command: ["<dir>"],
    ended: { code: 126, signal: null },
    stderr: /: Permission denied\n$/,
  },
  {
    name: "a file that may not be executed is not executable",
    command: ["/etc/passwd"],
    ended: { code: 126, signal: null },
    stderr: /passwd: Permission denied\n$/,
  },
  {
    name: "a shell in between keeps the code of its last command",
    command: ["sh", "-c", "false; true; exit 42"],
    ended: { code: 42, signal: null },
    stderr: /^$/,
  },
  {
    name: "an empty command is not found",
    command: [""],
    ended: { code: 127, signal: null },
    stderr: /: No such file or directory\n$/,
  },
];
