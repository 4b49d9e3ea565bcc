/**
 * Small C programs that tests need, compiled once for a test file and removed with it.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll } from "vitest";

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "acpx-fixtures-"));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Absolute path of the program made of `test/fixtures/<name>.c`, under another file name if one is given. */
export function compile(name: string, fileName: string = name): string {
  const program = join(directory, fileName);
  const flags = ["-std=gnu11", "-Wall", "-Wextra", "-O1", "-pthread"];
  execFileSync("cc", [...flags, "-o", program, join(fixtures, `${name}.c`)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  return program;
}
