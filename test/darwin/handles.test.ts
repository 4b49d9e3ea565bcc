/** What JavaScript sees of processes on macOS. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { backend, open, snapshot, supervisorImage, type ProcessHandle } from "../../lib/native.js";
import { pin } from "../helpers/alive.js";
import { end, pidOf, ready, start } from "../helpers/child.js";

const opened: ProcessHandle[] = [];
let directory: string;
beforeEach(() => {
  directory = realpathSync.native(mkdtempSync(join(tmpdir(), "acpx-darwin-")));
});
afterEach(() => {
  for (const handle of opened.splice(0)) handle.close();
  rmSync(directory, { recursive: true });
});

function pinned(pid: number): ProcessHandle {
  const handle = pin(pid);
  opened.push(handle);
  return handle;
}

function reading(pid: number, names: readonly string[] = []) {
  const answer = pinned(pid).read(names);
  if (!answer.ok) throw new Error(`process ${pid} cannot be read: ${answer.reason}`);
  return answer.value;
}

const SAY_READY = "console.log('ready ' + process.pid); setInterval(() => {}, 60000)";

test("this process has a token of boot and unique id, and its handles are pinned", () => {
  const { selfToken, ...known } = backend();
  expect(known).toMatchObject({
    platform: "darwin",
    supported: true,
    pinnedHandles: true,
    uniqueIdentity: true,
  });
  expect(selfToken).toMatchObject({
    ok: true,
    value: expect.stringMatching(/^darwin;boot=[-0-9A-F]{36};unique=\d+$/) as string,
  });
});

test("the variables of a Node process can be read, and nothing but those that were asked for", async () => {
  const child = start(process.execPath, ["-e", SAY_READY, "", "an argument"], {
    env: { ASKED: "yes", SECRET: "no" },
  });
  const { argv, environment } = reading(await ready(child), ["ASKED", "MISSING"]);
  expect(environment).toEqual({ ok: true, value: { ASKED: "yes", MISSING: null } });
  expect(argv).toEqual({ ok: true, value: [process.execPath, "-e", SAY_READY, "", "an argument"] });
});

test("those of Apple's own programs are hidden where System Integrity Protection is on", () => {
  const isProtected = execFileSync("csrutil", ["status"], { encoding: "utf8" }).includes("enabled");
  const child = start("/bin/sleep", ["600"], { env: { ASKED: "yes" } });
  const { environment, argv } = reading(pidOf(child), ["ASKED"]);
  expect(argv).toEqual({ ok: true, value: ["/bin/sleep", "600"] });
  expect(environment).toMatchObject(
    isProtected ? { ok: false, reason: "denied" } : { ok: true, value: { ASKED: "yes" } },
  );
});

test("an executable that was renamed has its new name, one that was removed has none", async () => {
  const image = join(directory, "node");
  copyFileSync(process.execPath, image);
  const child = start(image, ["-e", SAY_READY]);
  const pid = await ready(child);
  const before = reading(pid).executable;
  expect(before).toMatchObject({ ok: true, value: { path: image, deleted: false } });

  renameSync(image, `${image}-renamed`);
  expect(reading(pid).executable).toMatchObject({
    ok: true,
    value: { path: `${image}-renamed`, deleted: false },
  });
  rmSync(`${image}-renamed`);
  expect(reading(pid).executable).toMatchObject({ ok: false, reason: "unsupported" });
});

test("the end of a process that is not a child is an event", async () => {
  const code = `const child = require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(SAY_READY)}], { stdio: "inherit" })`;
  const parent = start(process.execPath, ["-e", code]);
  const handle = pinned(await ready(parent));
  const exited = handle.exited();
  expect(handle.signal("SIGTERM")).toEqual({ ok: true, value: { pinned: backend().pinnedSignals } });
  expect(await exited).toBe("exited");
  expect(handle.signal("SIGTERM")).toMatchObject({ ok: false, reason: "gone" });
  expect(open(handle.pid)).toMatchObject({ ok: false });
});

test("a group is signalled member by member, and only while its leader is not reaped", async () => {
  const child = start(process.execPath, ["-e", SAY_READY], { detached: true });
  const handle = pinned(await ready(child));
  const exited = handle.exited();
  expect(handle.signalGroup("SIGTERM")).toMatchObject({ ok: true });
  expect(await exited).toBe("exited");
  await end(child);
  expect(handle.signalGroup("SIGTERM")).toMatchObject({ ok: false });
});

test("the table is complete and has this process with its parent", async () => {
  const table = await snapshot();
  if (!table.ok) throw new Error(table.reason);
  const row = table.value.pid.indexOf(process.pid);
  expect(table.value.complete).toBe(true);
  expect(table.value.ppid[row]).toBe(process.ppid);
});

test("a copy of the supervisor runs", () => {
  const copy = join(directory, "supervisor");
  copyFileSync(supervisorImage() ?? "", copy);
  expect(execFileSync(copy, ["--self-check"], { encoding: "utf8" })).toBe("ok\n");
});
