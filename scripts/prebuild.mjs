// Makes prebuilds/<platform>-<arch>/ with the addon and the supervisor.
//
//   node scripts/prebuild.mjs         for this machine, with its own compiler: what platform CI publishes
//   node scripts/prebuild.mjs --if-missing   the same, unless platform CI has brought one (before npm pack)
//   node scripts/prebuild.mjs --all   for Linux x64 and arm64, glibc and musl, with the cross compiler: for checks only
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { compile, installCrossCompiler, nodeHeaders, root, targetsOf } from "./cross-compiler.mjs";

// An addon built for the oldest supported Node loads in every later one.
const OLDEST_NODE = "20.20.2";
// The oldest glibc that an official Node of that line starts on.
const OLDEST_GLIBC = "2.28";

if (process.argv[2] === "--all") await prebuildAll();
else if (
  process.argv[2] !== "--if-missing" ||
  !existsSync(join(root, "prebuilds", `${process.platform}-${process.arch}`))
)
  prebuildHost();

function prebuildHost() {
  const options = ["--napi", "--name", "acpx_lifecycle", "--strip", "--tag-libc", "--target", OLDEST_NODE];
  const prebuildify = join(root, "node_modules", ".bin", "prebuildify");
  const { status } = spawnSync(prebuildify, options, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  // prebuildify takes the addon alone.
  const built = join(root, "build", "Release", "acpx_supervisor");
  if (!existsSync(built)) return;
  const supervisor = join(directoryOf(process.platform, process.arch), "acpx_supervisor");
  copyFileSync(built, supervisor);
  chmodSync(supervisor, 0o755);
  spawnSync("strip", [supervisor], { stdio: "inherit" });
}

async function prebuildAll() {
  const compiler = installCrossCompiler();
  const { addon, supervisor } = targetsOf("linux");
  const headers = nodeHeaders().flatMap((path) => ["-isystem", path]);
  const flags = [
    "-std=c++17",
    "-Os",
    "-s",
    "-fno-exceptions",
    "-fno-rtti",
    "-fvisibility=hidden",
    "-Inative",
  ];
  const sections = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"];

  for (const [machine, arch] of Object.entries({ x86_64: "x64", aarch64: "arm64" })) {
    const directory = directoryOf("linux", arch);
    for (const [target, libc] of Object.entries({ [`gnu.${OLDEST_GLIBC}`]: "glibc", musl: "musl" })) {
      const output = join(directory, `acpx_lifecycle.${libc}.node`);
      await build(output, [
        ...["c++", "-target", `${machine}-linux-${target}`, ...flags, ...sections],
        ...["-shared", "-fPIC", "-Wl,-z,now", "-Wl,--version-script=native/addon.map"],
        ...[...addon.defines, ...headers, ...addon.sources, "-o", output],
      ]);
    }
    // Static, so that one serves both C libraries.
    const output = join(directory, "acpx_supervisor");
    await build(output, [
      ...["c++", "-target", `${machine}-linux-musl`, "-static", ...flags, ...sections],
      ...[...supervisor.sources, "-o", output],
    ]);
    chmodSync(output, 0o755);
  }

  async function build(output, args) {
    console.log(output);
    const { ok, said } = await compile(compiler, args);
    if (ok) return;
    console.error(said);
    process.exit(1);
  }
}

function directoryOf(platform, arch) {
  const directory = join(root, "prebuilds", `${platform}-${arch}`);
  mkdirSync(directory, { recursive: true });
  return directory;
}
