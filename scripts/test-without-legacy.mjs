// The whole suite with everything switched off that serves records from before leases: what remains when a host has
// left them behind. A copy of the tracked files, in which `legacy` is off unless a test asks for it.
//
//   node scripts/test-without-legacy.mjs
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { root } from "./cross-compiler.mjs";

const OFF_BY_DEFAULT = ["options.legacy === false", "!options.legacy"];

const copy = mkdtempSync(join(realpathSync(tmpdir()), "acpx-without-legacy-"));
// Some tests run programs from it as another user.
chmodSync(copy, 0o755);
try {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
  const wanted = (file) => file !== "" && !(file.startsWith("test/") && basename(file).startsWith("legacy"));
  for (const file of tracked.filter(wanted)) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

  const lifecycle = join(copy, "lib", "lifecycle.ts");
  const source = readFileSync(lifecycle, "utf8");
  if (!source.includes(OFF_BY_DEFAULT[0]))
    throw new Error(`${OFF_BY_DEFAULT[0]} is not in lib/lifecycle.ts any more`);
  writeFileSync(lifecycle, source.replace(...OFF_BY_DEFAULT));

  const { status } = spawnSync("npm", ["test"], { cwd: copy, stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
