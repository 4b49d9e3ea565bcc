import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

import type { Backend } from "../../lib/native.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const platform = `${process.platform}-${process.arch}`;
const addon = join(root, "build", "Release", "acpx_lifecycle.node");
const glibc = "glibcVersionRuntime" in (process.report.getReport() as { header: object }).header;
const [ours, theirs] = glibc ? ["glibc", "musl"] : ["musl", "glibc"];

/** An installed package without anything native, in a place with a difficult name. */
let installed: string;
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "acpx loading '"));
  installed = join(directory, "node_modules", "acpx-lifecycle");
  mkdirSync(installed, { recursive: true });
  cpSync(join(root, "dist"), join(installed, "dist"), { recursive: true });
  copyFileSync(join(root, "package.json"), join(installed, "package.json"));
  for (const dependency of ["bindings", "file-uri-to-path"]) {
    symlinkSync(join(root, "node_modules", dependency), join(directory, "node_modules", dependency));
  }
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function prebuild(libc: string, content: "addon" | "garbage"): void {
  const folder = join(installed, "prebuilds", platform);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `acpx_lifecycle.${libc}.node`);
  if (content === "addon") copyFileSync(addon, file);
  else writeFileSync(file, "not a library");
}

function ask(expression: string, env: NodeJS.ProcessEnv = {}): unknown {
  const program = `
    import * as native from "acpx-lifecycle/native";
    console.log(JSON.stringify(await (${expression})));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: directory,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  return JSON.parse(output) as unknown;
}

const backend = (env?: NodeJS.ProcessEnv) => ask("native.backend()", env) as Backend;

test("without an addon it can be imported, says what to do, and every verb is unsupported", () => {
  expect(backend()).toMatchObject({ platform: process.platform, supported: false, pinnedHandles: false });
  expect(backend().reason).toContain(join("prebuilds", platform, `acpx_lifecycle.${ours}.node`));
  expect(backend().reason).toContain("npm run build:native");
  const unsupported = { ok: false, reason: "unsupported", call: "native addon" };
  expect(
    ask(`Promise.all([
      native.open(process.ppid), native.snapshot(), native.holdLock("x.lock", "exclusive"),
      native.setProcessGroup(process.ppid, 2), native.readMany([2, 3], ["A"]).then(([a, b]) => a === b && a),
    ])`),
  ).toEqual(Array(5).fill(unsupported));
  expect(ask("native.supervisorImage() ?? null")).toBeNull();
});

test("without an addon wrong arguments are still misuse", () => {
  expect(ask("(() => { try { native.open(0) } catch (error) { return error.name } })()")).toBe("TypeError");
});

test("the build for our libc is loaded, the one for the other is not even tried", () => {
  prebuild(theirs, "garbage");
  prebuild(ours, "addon");
  expect(backend()).toMatchObject({ supported: true });
});

test("the build for another libc is never loaded, even if it would work by luck", () => {
  prebuild(theirs, "addon");
  expect(backend()).toMatchObject({ supported: false });
});

test("an addon that cannot be loaded is named with the loader's reason, and nothing throws", () => {
  prebuild(ours, "garbage");
  expect(backend().supported).toBe(false);
  expect(backend().reason).toMatch(/could be loaded \(.*acpx_lifecycle/);
});

test("no variable of the environment redirects the search", () => {
  const elsewhere = join(directory, "elsewhere");
  mkdirSync(join(elsewhere, "build", "Release"), { recursive: true });
  copyFileSync(addon, join(elsewhere, "build", "Release", "acpx_lifecycle.node"));
  copyFileSync(addon, join(elsewhere, "acpx_lifecycle.node"));
  const env = {
    NODE_BINDINGS_COMPILED_DIR: elsewhere,
    NODE_PATH: elsewhere,
    PREBUILDS_ONLY: "1",
    INIT_CWD: elsewhere,
  };
  expect(backend(env)).toMatchObject({ supported: false });
});

test("it is found through a symbolic link to the package, as pnpm makes them", () => {
  prebuild(ours, "addon");
  const project = join(directory, "project");
  mkdirSync(join(project, "node_modules"), { recursive: true });
  symlinkSync(installed, join(project, "node_modules", "acpx-lifecycle"));
  directory = project;
  try {
    expect(backend()).toMatchObject({ supported: true });
  } finally {
    directory = join(project, "..");
  }
});

test("the supervisor's image is found next to the addon, built here or beforehand", () => {
  mkdirSync(join(installed, "prebuilds", platform), { recursive: true });
  const beforehand = join(installed, "prebuilds", platform, "acpx_supervisor");
  writeFileSync(beforehand, "");
  expect(ask("native.supervisorImage()")).toBe(beforehand);
  const here = join(installed, "build", "Release", "acpx_supervisor");
  mkdirSync(join(installed, "build", "Release"), { recursive: true });
  writeFileSync(here, "");
  expect(ask("native.supervisorImage()")).toBe(here);
});
