import { readdirSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";

import { describe, expect, test } from "vitest";

import { holdLock, open, type ProcessHandle, readMany, snapshot } from "../../lib/native.js";
import { end, pidOf, ready, start } from "../helpers/child.js";
import { compile } from "../helpers/compile.js";

const idle = compile("idle");

function pin(pid: number): ProcessHandle {
  const handle = open(pid);
  if (!handle.ok) throw new Error(`open: ${handle.reason}`);
  return handle.value;
}

const openDescriptors = () => readdirSync("/proc/self/fd").length;
const threads = () => readdirSync("/proc/self/task").length;

describe("the end of a process", () => {
  test("is told to everybody who asked, and to whoever asks later", async () => {
    const child = start(idle);
    const handle = pin(await ready(child));
    const asked = [handle.exited(), handle.exited()];
    child.stdin?.end();
    expect(await Promise.all([...asked, handle.exited()])).toEqual(["exited", "exited", "exited"]);
    expect(await handle.exited()).toBe("exited");
    handle.close();
  });

  test("comes with the last thread, not with the first", async () => {
    const child = start(compile("thread-survives"));
    const handle = pin(await ready(child));
    let over = false;
    const exited = handle.exited().then((outcome) => {
      over = true;
      return outcome;
    });
    await snapshot();
    expect(over).toBe(false);
    child.stdin?.end();
    expect(await exited).toBe("exited");
    handle.close();
  });

  test("is 'closed' for those who still wait when the handle is closed, and the process lives on", async () => {
    const child = start(idle);
    const handle = pin(await ready(child));
    const waiting = handle.exited();
    handle.close();
    expect(await waiting).toBe("closed");
    expect(child.exitCode).toBeNull();
    expect(child.signalCode).toBeNull();
  });

  test("may close the handle from its own reaction", async () => {
    const child = start(idle);
    const handle = pin(await ready(child));
    const closed = handle.exited().then(() => {
      handle.close();
    });
    await end(child);
    await closed;
  });

  test("of a hundred processes takes no thread", async () => {
    const before = threads();
    const children = Array.from({ length: 100 }, () => start(idle));
    const handles = await Promise.all(children.map(async (child) => pin(await ready(child))));
    const exited = Promise.all(handles.map((handle) => handle.exited()));
    expect(threads()).toBe(before);
    for (const child of children) child.stdin?.end();
    expect(new Set(await exited)).toEqual(new Set(["exited"]));
    for (const handle of handles) handle.close();
  });
});

test("20,000 calls of every verb leave no descriptor behind", async () => {
  const child = start(idle);
  const pid = await ready(child);
  const lock = join(tmpdir(), `acpx-no-such-directory-${String(pid)}`, "lock");
  await Promise.all([snapshot(), readMany([pid], [])]);
  const before = openDescriptors();
  for (let round = 0; round < 20_000; ++round) {
    const handle = pin(pid);
    handle.read(["PATH"]);
    handle.signal(0);
    if (round % 20 === 0) void handle.exited();
    handle.close();
    open(0x7fff_fffe);
    holdLock(lock, round % 2 === 0 ? "exclusive" : "probe");
    if (round % 500 === 0) await Promise.all([snapshot(), readMany([pid, 0x7fff_fffe], ["PATH"])]);
  }
  expect(openDescriptors()).toBe(before);
  expect(pidOf(child)).toBe(pid);
});
