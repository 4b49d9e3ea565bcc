/**
 * Where a command is, asked of the file system without running it.
 */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

export type Located =
  | { readonly kind: "found"; readonly path: string }
  /** There is a file of that name, and it may not be executed. */
  | { readonly kind: "not-executable"; readonly path: string }
  | { readonly kind: "missing" };

/** Follows PATH unless the command names a directory, as execvp(3) does. */
export function locateExecutable(command: string, path = process.env["PATH"] ?? ""): Located {
  const candidates = command.includes("/")
    ? [resolve(command)]
    : path.split(delimiter).map((directory) => resolve(directory, command));
  let refused: string | undefined;
  for (const candidate of candidates) {
    if (!isFile(candidate)) continue;
    try {
      accessSync(candidate, constants.X_OK);
      return { kind: "found", path: candidate };
    } catch {
      refused ??= candidate;
    }
  }
  return refused === undefined ? { kind: "missing" } : { kind: "not-executable", path: refused };
}

/** What cannot be looked at (a directory of PATH that is not ours to search, a name too long) is no candidate. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
