// Builds the C++ unit tests with AddressSanitizer and UndefinedBehaviorSanitizer and runs them. Each suite
// ends with a line `<suite>: N passed, N failed`; any failure or finding makes this script fail.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const posix = ["native/decode.cc", "native/posix.cc", "native/lock_posix.cc"];
const linux = ["process", "reading", "procfs", "backend", "table", "lock"].map(
  (name) => `native/${name}_linux.cc`,
);
const darwin = ["process", "reading", "kernel", "backend", "table", "lock"].map(
  (name) => `native/${name}_darwin.cc`,
);

// Each suite runs once, and once more in each of its other worlds: behind a launcher.
const suites = [
  { name: "decode", sources: ["native/decode.cc"], platforms: ["linux", "darwin"], worlds: {} },
  { name: "lineage", sources: ["native/lineage.cc"], platforms: ["linux", "darwin"], worlds: {} },
  {
    name: "process",
    sources: [...posix, ...linux],
    platforms: ["linux"],
    worlds: { "process before Linux 6.9": ["deny-pidfd", "groups", "22"] },
  },
  { name: "darwin", sources: [...posix, ...darwin], platforms: ["darwin"], worlds: {} },
].filter((suite) => suite.platforms.includes(process.platform));

const compiler = process.env.CXX ?? "c++";
const flags = [
  ...["-std=c++17", "-Wall", "-Wextra", "-O1", "-g", "-fno-omit-frame-pointer", "-Inative", "-Itest/native"],
  ...["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-exceptions"],
];

const directory = mkdtempSync(join(tmpdir(), "acpx-sanitizers-"));
try {
  const failed = suites.filter((suite) => !build(suite) || !runEverywhere(suite));
  if (suites.length === 0) console.log(`No C++ suites for ${process.platform}.`);
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  rmSync(directory, { recursive: true });
}

function build({ name, sources, worlds }) {
  const launchers = Object.values(worlds).map(([launcher]) => launcher);
  return (
    run(compiler, [
      ...flags,
      "-o",
      join(directory, `${name}_test`),
      `test/native/${name}_test.cc`,
      ...sources,
    ]) &&
    launchers.every((launcher) => run("cc", ["-o", join(directory, launcher), `test/fixtures/${launcher}.c`]))
  );
}

function runEverywhere({ name, worlds }) {
  const program = join(directory, `${name}_test`);
  const results = [run(program, [name])];
  for (const [world, [launcher, ...args]] of Object.entries(worlds)) {
    results.push(run(join(directory, launcher), [...args, program, world]));
  }
  return results.every(Boolean);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  return status === 0;
}
