// Whether everything under prebuilds/ is what its name says and runs where it should. The last line is
// `prebuilds: N passed, N failed`; without any prebuild it fails.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { MACHINES, readElf } from "./elf.mjs";

// Nodes of 20 and later start on glibc 2.28.
const NEWEST_GLIBC = [2, 28];
const ADDON_LIMIT = 1_000_000;
const SUPERVISOR_LIMIT = 1_000_000;
// As lib/addon.ts looks for it.
const ADDON = /^acpx_lifecycle(\.glibc|\.musl)?\.node$/;
const EXPORTS = ["napi_register_module_v1", "node_api_module_get_api_version_v1"];
// mach-o/loader.h and mach/machine.h
const MACH_MAGIC = 0xfeedfacf;
const MACH_CPUS = { x64: 0x01000007, arm64: 0x0100000c };

const prebuilds = process.argv[2] ?? fileURLToPath(new URL("../prebuilds", import.meta.url));
const results = [];

for (const directory of readdirSync(prebuilds).sort()) {
  const [platform, arch] = directory.split("-");
  const files = readdirSync(join(prebuilds, directory)).sort();
  const [addons, others] = [
    files.filter((file) => ADDON.test(file)),
    files.filter((file) => !ADDON.test(file)),
  ];
  check(`${directory} has an addon`, addons.length > 0);
  check(
    `${directory} has a supervisor and nothing else`,
    others.join() === "acpx_supervisor",
    others.join(" "),
  );
  for (const file of files) {
    const path = join(prebuilds, directory, file);
    const name = `${directory}/${file}`;
    const bytes = readFileSync(path);
    const isAddon = file.endsWith(".node");
    const limit = isAddon ? ADDON_LIMIT : SUPERVISOR_LIMIT;
    check(`${name} is no larger than ${limit} bytes`, bytes.length <= limit, `${bytes.length} bytes`);
    if (!isAddon) check(`${name} may be run`, (statSync(path).mode & 0o111) === 0o111);
    if (platform === "linux") checkElf(name, arch, file, bytes);
    if (platform === "darwin") {
      const isMach = bytes.readUInt32LE(0) === MACH_MAGIC && bytes.readUInt32LE(4) === MACH_CPUS[arch];
      check(`${name} is for ${arch}`, isMach);
    }
  }
}
const passed = results.filter(Boolean).length;
console.log(`prebuilds: ${passed} passed, ${results.length - passed} failed`);
process.exitCode = passed > 0 && passed === results.length ? 0 : 1;

function checkElf(name, arch, file, bytes) {
  const elf = readElf(bytes);
  check(`${name} is for ${arch}`, elf?.machine === MACHINES[arch]);
  if (elf === undefined) return;
  const glibc = elf.versions.filter((version) => version.startsWith("GLIBC_"));
  if (file === "acpx_supervisor") {
    const { libraries } = elf;
    check(`${name} needs no library`, libraries.length === 0, libraries.join(" "));
    return;
  }
  const unexpected = elf.exports.filter((symbol) => !EXPORTS.includes(symbol));
  check(
    `${name} exports its entry and nothing else`,
    elf.exports.includes(EXPORTS[0]) && unexpected.length === 0,
    unexpected.join(" "),
  );
  const isForGlibc = file.endsWith(".glibc.node");
  const tooNew = glibc.filter((version) => isForGlibc === false || isNewer(version.slice("GLIBC_".length)));
  check(
    `${name} needs ${isForGlibc ? `no glibc after ${NEWEST_GLIBC.join(".")}` : "no glibc"}`,
    tooNew.length === 0,
    tooNew.join(" "),
  );
  const runtime = elf.libraries.filter((library) => /^lib(std)?c\+\+/.test(library));
  check(`${name} brings its C++ library along`, runtime.length === 0, runtime.join(" "));
}

function isNewer(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > NEWEST_GLIBC[0] || (major === NEWEST_GLIBC[0] && minor > NEWEST_GLIBC[1]);
}

function check(sentence, holds, found = "") {
  results.push(holds);
  if (!holds) console.log(`FAILED ${sentence}${found === "" ? "" : `: ${found}`}`);
}
