import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { open, type ProcessHandle } from "../../lib/native.js";
import { exit, lines, ready, start } from "../helpers/child.js";
import { compile } from "../helpers/compile.js";

const wrapper = fileURLToPath(new URL("../../examples/group-kill-wrapper.mjs", import.meta.url));
const idle = compile("idle");

function pin(pid: number): ProcessHandle {
  const handle = open(pid);
  if (!handle.ok) throw new Error(`open: ${handle.reason}`);
  return handle.value;
}

/**
 * The wrapper around a shell that runs `script`, in which "$0" is a program that says `ready <pid>`. Waits for
 * as many of them as are expected.
 */
async function wrapped(script: string, expected: number) {
  const child = start(process.execPath, [wrapper, "sh", "-c", `exec 3<&0; ${script}`, idle]);
  const announced = lines(child);
  const members: ProcessHandle[] = [];
  while (members.length < expected) members.push(pin(Number((await announced.next()).replace("ready ", ""))));
  return { child, members };
}

/** Tells the shell that started this member to exit, which it does on USR1. */
function release(member: ProcessHandle | undefined): void {
  const reading = member?.read([]);
  if (reading?.ok !== true) throw new Error("the member is gone");
  const shell = pin(reading.value.ppid);
  shell.signal("SIGUSR1");
  shell.close();
}

async function allExited(members: readonly ProcessHandle[]): Promise<void> {
  expect(await Promise.all(members.map((member) => member.exited()))).toEqual(members.map(() => "exited"));
  for (const member of members) member.close();
}

describe("a host's own wrapper in JavaScript", () => {
  test("ends the whole group on TERM, and itself by the same signal", async () => {
    const { child, members } = await wrapped(`"$0" <&3 & "$0" <&3`, 2);
    child.kill("SIGTERM");
    await allExited(members);
    await exit(child);
    expect(child.signalCode).toBe("SIGTERM");
  });

  test("kills what ignores TERM after the grace", async () => {
    const { child, members } = await wrapped(`trap "" TERM; "$0" <&3 & "$0" <&3; wait`, 2);
    child.kill("SIGTERM");
    await allExited(members);
    await exit(child);
    expect(child.signalCode).toBe("SIGKILL");
  });

  test("ends the grandchild that an exited command leaves in the group, and mirrors the code", async () => {
    const { child, members } = await wrapped(`trap "exit 7" USR1; "$0" <&3 & wait`, 1);
    release(members[0]);
    await allExited(members);
    await exit(child);
    expect(child.exitCode).toBe(7);
  });

  test("never reaches a process outside the group: one in a session of its own lives on", async () => {
    const { child, members } = await wrapped(`trap "exit 0" USR1; setsid "$0" <&3 & wait`, 1);
    release(members[0]);
    await exit(child);
    expect(child.exitCode).toBe(0);
    expect(members[0]?.signal(0)).toMatchObject({ ok: true });
    child.stdin?.end();
    await allExited(members);
  });

  test("says what is wrong with a command, as shells do", async () => {
    const unknown = start(process.execPath, [wrapper, "/no/such/command"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    const directory = start(process.execPath, [wrapper, "/"], { stdio: ["pipe", "pipe", "ignore"] });
    const nothing = start(process.execPath, [wrapper], { stdio: ["pipe", "pipe", "ignore"] });
    await Promise.all([unknown, directory, nothing].map(exit));
    expect([unknown.exitCode, directory.exitCode, nothing.exitCode]).toEqual([127, 126, 64]);
  });
});

test("without a wrapper's TERM nothing of the group ends: it is the wrapper that ends them", async () => {
  const child = start("sh", ["-c", `exec 3<&0; "$0" <&3 &`, idle], { detached: true });
  const member = pin(await ready(child));
  await exit(child);
  expect(member.signal(0)).toMatchObject({ ok: true });
  child.stdin?.end();
  await allExited([member]);
});
