// Builds the C++ unit tests with AddressSanitizer and UndefinedBehaviorSanitizer and runs them. Each suite
// ends with a line `<suite>: N passed, N failed`; any failure or finding makes this script fail.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const linux = ["process", "reading", "procfs", "backend", "table", "lock"].map((name) => `native/${name}_linux.cc`);

const suites = [
  { name: "decode", sources: ["native/decode.cc"], platforms: ["linux", "darwin"] },
  { name: "process", sources: ["native/decode.cc", ...linux], platforms: ["linux"] },
].filter((suite) => suite.platforms.includes(process.platform));

const compiler = process.env.CXX ?? "c++";
const flags = [
  ...["-std=c++17", "-Wall", "-Wextra", "-O1", "-g", "-fno-omit-frame-pointer", "-Inative", "-Itest/native"],
  ...["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-exceptions"],
];

const directory = mkdtempSync(join(tmpdir(), "acpx-sanitizers-"));
try {
  const failed = suites.filter((suite) => {
    const program = join(directory, suite.name);
    const test = `test/native/${suite.name}_test.cc`;
    return !run(compiler, [...flags, "-o", program, test, ...suite.sources]) || !run(program, []);
  });
  if (suites.length === 0) console.log(`No C++ suites for ${process.platform}.`);
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  rmSync(directory, { recursive: true });
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  return status === 0;
}
