import { spawnSync, type SpawnSyncOptionsWithStringEncoding } from "node:child_process";
import { describe, expect, test } from "vitest";

import { LifecycleError } from "../../lib/errors.js";
import {
  backend,
  open,
  type ProcessHandle,
  readMany,
  setProcessGroup,
  type Signal,
} from "../../lib/native.js";
import { end, exit, pidOf, ready, start } from "../helpers/child.js";
import { compile } from "../helpers/compile.js";

const idle = compile("idle");

function pin(pid: number): ProcessHandle {
  const handle = open(pid);
  if (!handle.ok) throw new Error(`open: ${handle.reason}`);
  return handle.value;
}

/** A group of two in its own session: a leader that has been reaped, and a member that lives on. */
async function orphanedGroup(): Promise<{ leader: ProcessHandle; member: ProcessHandle; stop: () => void }> {
  // The shell's background jobs would read /dev/null, and the member would end at once.
  const shell = start("sh", ["-c", `read go; exec 3<&0; "$0" <&3 &`, idle], { detached: true });
  const leader = pin(pidOf(shell));
  shell.stdin?.write("go\n");
  const member = pin(await ready(shell));
  await exit(shell);
  return { leader, member, stop: () => shell.stdin?.end() };
}

describe("a signal", () => {
  test("reaches the process of the handle, and the answer says that it could reach nobody else", async () => {
    const child = start(idle);
    const handle = pin(await ready(child));
    expect(handle.signal("SIGTERM")).toEqual({ ok: true, value: { pinned: true } });
    await exit(child);
    expect(child.signalCode).toBe("SIGTERM");
    handle.close();
  });

  test("0 asks without sending", async () => {
    const child = start(idle);
    const handle = pin(await ready(child));
    expect(handle.signal(0)).toEqual({ ok: true, value: { pinned: true } });
    child.stdin?.end();
    await exit(child);
    expect(child.exitCode).toBe(0);
    expect(handle.signal(0)).toMatchObject({ ok: false, reason: "gone", errno: "ESRCH" });
    handle.close();
  });

  test("to a process that has been reaped is gone", async () => {
    const child = start(idle);
    const handle = pin(await ready(child));
    await end(child);
    expect(handle.signal("SIGKILL")).toMatchObject({ ok: false, reason: "gone" });
    expect(open(handle.pid)).toMatchObject({ ok: false, reason: "gone" });
    handle.close();
  });
});

describe("a signal to a group", () => {
  test("reaches the survivors of a leader that has been reaped", async () => {
    const { leader, member } = await orphanedGroup();
    expect(leader.signal(0)).toMatchObject({ reason: "gone" });
    const gone = member.exited();
    expect(leader.signalGroup("SIGTERM")).toEqual({ ok: true, value: { pinned: true } });
    expect(await gone).toBe("exited");
    leader.close();
    member.close();
  });

  test("through a handle on a mere member reaches nobody: the group's leader is still there", async () => {
    const { leader, member, stop } = await orphanedGroup();
    expect(member.signalGroup("SIGKILL")).toMatchObject({ ok: false, reason: "gone" });
    expect(member.signal(0)).toMatchObject({ ok: true });
    const gone = member.exited();
    stop();
    expect(await gone).toBe("exited");
    leader.close();
    member.close();
  });

  test("leaves a neighbour in another group alone", async () => {
    const neighbour = start(idle, [], { detached: true });
    const other = pin(await ready(neighbour));
    const { leader, member } = await orphanedGroup();
    const gone = member.exited();
    leader.signalGroup("SIGKILL");
    expect(await gone).toBe("exited");
    neighbour.stdin?.end();
    await exit(neighbour);
    expect(neighbour.exitCode).toBe(0);
    for (const handle of [other, leader, member]) handle.close();
  });
});

describe("nobody can be made to signal", () => {
  const self = () => pin(process.pid);
  const protectedTargets: readonly (readonly [string, () => unknown])[] = [
    ["this process", () => self().signal("SIGKILL")],
    ["this process, not even to ask", () => self().signal(0)],
    ["pid 1", () => pin(1).signal("SIGTERM")],
    ["the group of pid 1", () => pin(1).signalGroup("SIGTERM")],
    ["this process into another group", () => setProcessGroup(process.pid, process.pid)],
  ];

  test.each(protectedTargets)("%s", (_target, attempt) => {
    expect(attempt).toThrow(LifecycleError);
    expect(attempt).toThrow(expect.objectContaining({ code: "ERR_PROTECTED_PROCESS" }));
  });
});

/** From within a group of its own, whose leader is certain to live: whoever started the tests may have gone. */
test("refused is the group of the caller, however it is reached", () => {
  const native = new URL("../../dist/native.js", import.meta.url).href;
  const attempt = `const { open } = await import("${native}");
    try { open(process.ppid).value.signalGroup("SIGTERM"); console.log("signalled"); }
    catch (error) { console.log(error.code); }`;
  // The shell leads the group and stays, because something is left for it to do.
  const shell = ["-c", '"$0" --input-type=module -e "$1"; true', process.execPath, attempt];
  const { stdout } = spawnSync("sh", shell, {
    detached: true,
    encoding: "utf8",
  } as SpawnSyncOptionsWithStringEncoding);
  expect(stdout.trim()).toBe("ERR_PROTECTED_PROCESS");
});

describe("misuse throws", () => {
  test.each([0, -1, -process.pid, 1.5, NaN, Infinity, 2 ** 31, -(2 ** 31)])(
    "for the number %d",
    async (pid) => {
      expect(() => open(pid)).toThrow(TypeError);
      await expect(readMany([process.pid, pid], [])).rejects.toThrow(TypeError);
      expect(() => setProcessGroup(pid, 2)).toThrow(TypeError);
      expect(() => setProcessGroup(2, pid)).toThrow(TypeError);
    },
  );

  test.each(["SIGNOPE", "toString", "15", 15, -9, undefined])("for the signal %j", async (signal) => {
    const child = start(idle);
    const handle = pin(await ready(child));
    expect(() => handle.signal(signal as Signal)).toThrow(TypeError);
    expect(() => handle.signalGroup(signal as Signal)).toThrow(TypeError);
    handle.close();
  });

  test.each(["", "A=B", "A\0B"])("for a variable named %j", (name) => {
    const handle = pin(process.pid);
    expect(() => handle.read([name])).toThrow(TypeError);
    handle.close();
  });

  test("for a closed handle, while closing it twice is none", () => {
    const handle = pin(process.pid);
    handle.close();
    handle.close();
    const closed = expect.objectContaining({ code: "ERR_INVALID_OPTION" }) as Error;
    expect(() => handle.read([])).toThrow(closed);
    expect(() => handle.exited()).toThrow(closed);
  });
});

describe("a process group", () => {
  test("of a child that has called exec cannot be changed any more", async () => {
    const pid = await ready(start(idle));
    expect(setProcessGroup(pid, pid)).toMatchObject({ ok: false, reason: "denied", errno: "EACCES" });
  });

  test("of somebody else's child cannot be changed", async () => {
    const shell = start("sh", ["-c", `"$0" <&0; true`, idle]);
    const pid = await ready(shell);
    expect(setProcessGroup(pid, pid)).toMatchObject({ ok: false, reason: "gone", errno: "ESRCH" });
    shell.stdin?.end();
    await exit(shell);
  });
});

test("this kernel signals groups through a pinned leader", () => {
  expect(backend()).toMatchObject({ pinnedSignals: true, groupSignals: true });
});
