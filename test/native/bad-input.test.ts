import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openAcpxLifecycle } from "../../lib/lifecycle.js";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url));

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "acpx-bad-input-"));
});
afterEach(() => rm(base, { recursive: true }));

const stateDir = () => join(base, "state");
const wrapperRoot = () => join(base, "wrappers");

describe("openAcpxLifecycle refuses, naming the thing and the remedy:", () => {
  it.each([
    ["a negative grace", { termGraceMs: -1 }, /termGraceMs is -1.*0 to 1200/],
    [
      "a grace that acpx would not wait for",
      { termGraceMs: 60_000 },
      /termGraceMs is 60000.*SIGKILL after 1500/,
    ],
    ["a grace that is no number", { termGraceMs: NaN }, /termGraceMs is NaN/],
    ["a fraction of a millisecond", { termGraceMs: 0.5 }, /termGraceMs is 0.5/],
  ])("%s", async (_, options, message) => {
    const opening = openAcpxLifecycle({ stateDir: stateDir(), wrapperRoot: wrapperRoot(), ...options });
    await expect(opening).rejects.toMatchObject({
      code: "ERR_INVALID_OPTION",
      message: expect.stringMatching(message) as string,
    });
    expect(await readdir(base)).toEqual([]);
  });

  it("a state directory that cannot be made", async () => {
    await writeFile(join(base, "file"), "");
    const opening = openAcpxLifecycle({ stateDir: join(base, "file", "state"), wrapperRoot: wrapperRoot() });
    await expect(opening).rejects.toMatchObject({
      code: "ERR_STATE_DIR",
      message: expect.stringContaining(join(base, "file", "state")) as string,
    });
  });

  it.each([
    ["stateDir", "ERR_STATE_DIR"],
    ["wrapperRoot", "ERR_WRAPPER_ROOT"],
  ])("a %s where no directory can be, without hanging", async (name, code) => {
    const places = { stateDir: stateDir(), wrapperRoot: wrapperRoot(), [name]: "/proc/nowhere/at/all" };
    await expect(openAcpxLifecycle(places)).rejects.toMatchObject({
      code,
      message: expect.stringContaining("/proc/nowhere/at/all") as string,
    });
  });

  it.each(["stateDir", "wrapperRoot"])("no %s at all", async (name) => {
    const places = { stateDir: stateDir(), wrapperRoot: wrapperRoot(), [name]: undefined };
    const opening = openAcpxLifecycle(places);
    await expect(opening).rejects.toThrow(
      new TypeError(`openAcpxLifecycle needs ${name}: the path of a directory.`),
    );
  });

  it("a wrapper root that cannot be made", async () => {
    await writeFile(join(base, "file"), "");
    const opening = openAcpxLifecycle({ stateDir: stateDir(), wrapperRoot: join(base, "file", "wrappers") });
    await expect(opening).rejects.toMatchObject({
      code: "ERR_WRAPPER_ROOT",
      message: expect.stringContaining(join(base, "file", "wrappers")) as string,
    });
  });

  it("other options than those it was opened with", async () => {
    await using lifecycle = await openAcpxLifecycle({ stateDir: stateDir(), wrapperRoot: wrapperRoot() });
    const joining = openAcpxLifecycle({ stateDir: stateDir(), wrapperRoot: wrapperRoot(), termGraceMs: 5 });
    await expect(joining).rejects.toMatchObject({
      code: "ERR_INVALID_OPTION",
      message: expect.stringContaining(lifecycle.stateDir) as string,
    });
  });

  it("a missing addon, while importing works and every verb says `unsupported`", async () => {
    // A copy of the package without anything built for this machine.
    await cp(join(PROJECT, "dist"), join(base, "package", "dist"), { recursive: true });
    await cp(join(PROJECT, "package.json"), join(base, "package", "package.json"));
    await symlink(join(PROJECT, "node_modules"), join(base, "package", "node_modules"));
    const script = `
      const { openAcpxLifecycle } = await import(${JSON.stringify(pathToFileURL(join(base, "package/dist/index.js")))});
      const native = await import(${JSON.stringify(pathToFileURL(join(base, "package/dist/native.js")))});
      const refused = await openAcpxLifecycle({ stateDir: ${JSON.stringify(stateDir())}, wrapperRoot: "x" })
        .catch(({ code, message }) => ({ code, message }));
      const { supported, reason } = native.backend();
      const verbs = [native.open(1), await native.snapshot(), (await native.readMany([1], []))[0]];
      console.log(JSON.stringify({ refused, supported, reason, verbs: verbs.map(({ reason }) => reason) }));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    const answer = JSON.parse(output) as Record<string, unknown>;
    expect(answer).toMatchObject({ supported: false, verbs: ["unsupported", "unsupported", "unsupported"] });
    expect(answer["refused"]).toMatchObject({ code: "ERR_ADDON_UNAVAILABLE", message: answer["reason"] });
    expect(await readdir(base)).toEqual(["package"]);
  });
});

describe("launch refuses, starting nothing and leaving no open lease:", () => {
  it.each([
    ["a command that is nowhere", "no-such-agent-command", /"no-such-agent-command" was not found/],
    ["a file that is not executable", "plain-file", /plain-file" is not executable.*chmod \+x/],
  ])("%s", async (_, name, message) => {
    await writeFile(join(base, "plain-file"), "");
    await chmod(join(base, "plain-file"), 0o600);
    const command = name === "plain-file" ? join(base, name) : name;
    await using lifecycle = await openAcpxLifecycle({ stateDir: stateDir(), wrapperRoot: wrapperRoot() });
    await expect(lifecycle.launch({ command })).rejects.toMatchObject({
      code: "ERR_AGENT_COMMAND",
      message: expect.stringMatching(message) as string,
    });
    expect(await lifecycle.status()).toEqual([]);
    expect(await readdir(join(stateDir(), "leases", "open"))).toEqual([]);
  });

  it("a lease that cannot be written", async () => {
    await using lifecycle = await openAcpxLifecycle({ stateDir: stateDir(), wrapperRoot: wrapperRoot() });
    // A file in the way of the store stands for a full or read-only disk, and holds for root too.
    await rm(join(stateDir(), "leases", "tmp"), { recursive: true });
    await writeFile(join(stateDir(), "leases", "tmp"), "");
    const refused = lifecycle.launch({ command: process.execPath, args: ["--version"] });
    await expect(refused).rejects.toMatchObject({
      code: "ERR_LAUNCH_REFUSED",
      message: expect.stringMatching(/Nothing was started: the lease could not be written/) as string,
    });
  });

  it.each([
    [
      "a working directory that does not exist",
      { cwd: "/nowhere" },
      "ERR_AGENT_COMMAND",
      "directory /nowhere is not there",
    ],
    ["an argument with a NUL in it", { args: ["a\0"] }, "ERR_LAUNCH_REFUSED", "Nothing was started"],
    ["more arguments than the kernel takes", { args: ["a".repeat(300_000)] }, "ERR_LAUNCH_REFUSED", "E2BIG"],
    ["an environment with a NUL in it", { env: { A: "\0" } }, "ERR_LAUNCH_REFUSED", "Nothing was started"],
  ])("%s", async (_, request, code, message) => {
    await using lifecycle = await openAcpxLifecycle({ stateDir: stateDir(), wrapperRoot: wrapperRoot() });
    const refused = lifecycle.launch({ command: process.execPath, ...request });
    await expect(refused).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
    expect(await lifecycle.status()).toEqual([]);
  });

  it("nothing where a directory of PATH cannot be searched, and the command is in another", async () => {
    await using lifecycle = await openAcpxLifecycle({ stateDir: stateDir(), wrapperRoot: wrapperRoot() });
    // A name too long for a file stands for what stat refuses; root may search every directory.
    const path = `/${"x".repeat(300)}:${process.env["PATH"] ?? ""}`;
    const agent = await lifecycle.launch({ command: "true", env: { PATH: path }, stdio: "ignore" });
    expect(await agent.ended).toMatchObject({ code: 0 });
  });
});

it("one state directory is one lifecycle, however its path is written", async () => {
  await mkdir(stateDir());
  await symlink(stateDir(), join(base, "link"));
  const options = { wrapperRoot: wrapperRoot() };
  await using first = await openAcpxLifecycle({ ...options, stateDir: stateDir() });
  await using second = await openAcpxLifecycle({ ...options, stateDir: join(base, "link") + "/" });
  expect(second).toBe(first);
});
