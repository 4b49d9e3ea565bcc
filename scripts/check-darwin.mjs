// Compiles and links the addon and the supervisor for macOS against its headers and libraries. Nothing of it is run: a
// wrong field, an undeclared name or an unknown symbol would fail here, and the negative controls show that they do.
// The last line is `darwin: N passed, N failed`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { compile, installCrossCompiler, nodeHeaders, targetsOf } from "./cross-compiler.mjs";

// mach-o/loader.h and mach/machine.h
const MAGIC = 0xfeedfacf;
const ARCHITECTURES = { aarch64: 0x0100000c, x86_64: 0x01000007 };

const { addon, supervisor } = targetsOf("mac");
const platformSources = addon.sources.filter((source) => !source.startsWith("native/addon"));
const strict = ["-Wall", "-Wextra", "-Werror", "-Wunguarded-availability"];
// As system headers: their warnings are not ours.
const headers = nodeHeaders().flatMap((path) => ["-isystem", path]);

const ACCEPTED = [
  { name: "supervisor", args: [...strict, ...supervisor.sources] },
  {
    // Node's symbols come from the program that loads the addon, so the linker can only check the rest.
    name: "addon without its Node-API files",
    args: [...strict, "-shared", ...platformSources],
  },
  {
    name: "the suite that runs on macOS",
    args: [...strict, "-Itest/native", "test/native/darwin_test.cc", ...platformSources],
  },
  {
    name: "addon",
    args: [
      ...[...strict, "-shared", "-undefined", "dynamic_lookup"],
      ...[...addon.defines, ...headers, ...addon.sources],
    ],
  },
];
const REFUSED = [
  {
    name: "a field that a structure does not have",
    code: "#include <sys/proc_info.h>\nint main() { return (int)proc_bsdshortinfo{}.pbsi_nosuch; }\n",
    reason: "no member named 'pbsi_nosuch'",
  },
  {
    name: "a name that no header declares",
    code: "#include <libproc.h>\nint main() { return PROC_PIDUNIQIDENTIFIERINFO; }\n",
    reason: "undeclared identifier 'PROC_PIDUNIQIDENTIFIERINFO'",
  },
  {
    name: "a symbol that no library has",
    code: 'extern "C" int proc_nosuch();\nint main() { return proc_nosuch(); }\n',
    reason: "proc_nosuch",
  },
];

const compiler = installCrossCompiler();
const directory = mkdtempSync(join(tmpdir(), "darwin-"));
const results = [];
try {
  for (const [architecture, machine] of Object.entries(ARCHITECTURES)) {
    for (const { name, args } of ACCEPTED) {
      const output = join(directory, "output");
      const { ok, said } = await build(architecture, [...args, "-o", output]);
      report(`${architecture}: ${name} is compiled and linked`, ok && isFor(machine, output), said);
    }
    for (const { name, code, reason } of REFUSED) {
      const source = join(directory, "control.cc");
      writeFileSync(source, code);
      const { ok, said } = await build(architecture, [source, "-o", join(directory, "control")]);
      report(`${architecture}: ${name} is refused`, !ok && said.includes(reason), said);
    }
  }
} finally {
  rmSync(directory, { recursive: true });
}
const passed = results.filter(Boolean).length;
console.log(`darwin: ${passed} passed, ${results.length - passed} failed`);
process.exitCode = passed === results.length ? 0 : 1;

function build(architecture, args) {
  const flags = ["-std=c++17", "-Os", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-Inative"];
  return compile(compiler, ["c++", "-target", `${architecture}-macos.11.0`, ...flags, ...args]);
}

function isFor(machine, path) {
  const image = readFileSync(path);
  return image.readUInt32LE(0) === MAGIC && image.readUInt32LE(4) === machine;
}

function report(name, holds, said) {
  results.push(holds);
  console.log(`${holds ? "ok    " : "FAILED"} ${name}`);
  if (!holds) console.log(said);
}
