import { copyFileSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { backend, open, readMany, snapshot, type ProcessReading } from "../../lib/native.js";
import { end, exit, pidOf, ready, start } from "../helpers/child.js";
import { compile } from "../helpers/compile.js";

const idle = compile("idle");

function readOne(pid: number, names: readonly string[] = []): ProcessReading {
  const handle = open(pid);
  if (!handle.ok) throw new Error(`open: ${handle.reason}`);
  const reading = handle.value.read(names);
  handle.value.close();
  if (!reading.ok) throw new Error(`read: ${reading.reason}`);
  return reading.value;
}

describe("a reading", () => {
  test("says who the process is, where it stands and what it runs", async () => {
    const child = start(idle, ["one", "two"], { detached: true });
    const pid = await ready(child);
    const reading = readOne(pid);
    expect(reading).toMatchObject({
      pid,
      ppid: process.pid,
      pgid: pid,
      sid: pid,
      uid: process.geteuid?.(),
      state: expect.stringMatching(/^[SR]$/) as string,
    });
    expect(reading.executable).toMatchObject({ ok: true, value: { path: idle, deleted: false } });
    expect(reading.argv).toEqual({ ok: true, value: [idle, "one", "two"] });
  });

  test("is complete in the first moment after a spawn, 200 times", () => {
    for (let round = 0; round < 200; ++round) {
      const child = start(idle, [`round ${round}`], { env: { ROUND: String(round) } });
      const reading = readOne(pidOf(child), ["ROUND"]);
      expect(reading.argv).toEqual({ ok: true, value: [idle, `round ${round}`] });
      expect(reading.environment).toEqual({ ok: true, value: { ROUND: String(round) } });
      child.kill("SIGKILL");
    }
  });

  test("shows arguments as they are, whatever quotes or spaces they hold", async () => {
    const args = ["a b", `it's "quoted"`, "", "\\", "$HOME", "new\nline", "-", "naïve ☃", ""];
    const child = start(idle, args);
    expect(readOne(await ready(child)).argv).toEqual({ ok: true, value: [idle, ...args] });
  });

  test("survives arguments that are no UTF-8", async () => {
    const child = start("sh", ["-c", `exec "$0" "$(printf 'x\\377y')"`, idle]);
    expect(readOne(await ready(child)).argv).toEqual({ ok: true, value: [idle, "x\ufffdy"] });
  });

  test("shows an argument of 100,000 characters in full", async () => {
    const long = "x".repeat(100_000);
    const child = start(idle, [long]);
    expect(readOne(await ready(child)).argv).toEqual({ ok: true, value: [idle, long] });
  });

  test("finds a variable at the end of an environment of two megabytes", async () => {
    const program = `
      const { spawn } = require("node:child_process");
      const env = Object.fromEntries(Array.from({ length: 24 }, (_, i) => ["FILL" + i, "x".repeat(100_000)]));
      spawn(process.argv[1], [], { env: { ...env, LAST: "found" }, stdio: "inherit" });`;
    // Arguments and environment may take a quarter of the stack, which is 8 MiB by default.
    const child = start("prlimit", ["--stack=67108864:", process.execPath, "-e", program, idle]);
    const pid = await ready(child);
    expect(readOne(pid, ["LAST", "FILL23"]).environment).toEqual({
      ok: true,
      value: { LAST: "found", FILL23: "x".repeat(100_000) },
    });
    child.stdin?.end();
    await exit(child);
  });

  test("hands out only the variables that were asked for, the first of two, and says which are absent", async () => {
    const child = start(idle, [], { env: { SECRET: "s", ASKED: "a=b", EMPTY: "" } });
    expect(readOne(await ready(child), ["ASKED", "EMPTY", "ABSENT"]).environment).toEqual({
      ok: true,
      value: { ASKED: "a=b", EMPTY: "", ABSENT: null },
    });
  });

  test("of a process with a cleared environment says absent, not unreadable", async () => {
    const child = start("env", ["-i", idle]);
    expect(readOne(await ready(child), ["PATH"]).environment).toEqual({ ok: true, value: { PATH: null } });
  });

  test.each(["with space", "a) S 1 (b", "(((", ")", "new\nline) R 1", "ends (deleted)"])(
    "is right for a process named %j",
    async (name) => {
      const program = join(dirname(idle), name);
      copyFileSync(idle, program);
      const child = start(program);
      const pid = await ready(child);
      const reading = readOne(pid);
      expect(reading).toMatchObject({ pid, ppid: process.pid });
      expect(reading.executable).toMatchObject({ ok: true, value: { path: program, deleted: false } });
    },
  );

  test("names the image itself, not the link it was started by", async () => {
    const link = join(dirname(idle), "link");
    symlinkSync(idle, link);
    expect(readOne(await ready(start(link))).executable).toMatchObject({ value: { path: idle } });
  });

  test("keeps path and file of an image that was replaced or removed while it runs", async () => {
    const program = join(dirname(idle), "replaced");
    copyFileSync(idle, program);
    const pid = await ready(start(program));
    const before = readOne(pid).executable;
    copyFileSync(idle, `${program}.new`);
    renameSync(`${program}.new`, program);
    const replaced = readOne(pid).executable;
    unlinkSync(program);
    const removed = readOne(pid).executable;
    expect(replaced).toEqual(removed);
    expect(removed).toMatchObject({ ok: true, value: { path: program, deleted: true } });
    expect(before.ok && removed.ok && before.value.fileId === removed.value.fileId).toBe(true);
  });

  test("of a process whose main thread has exited comes from a living one", async () => {
    const program = compile("thread-survives");
    const child = start(program, ["arg"], { env: { MARK: "here" } });
    const handle = open(await ready(child));
    if (!handle.ok) throw new Error(handle.reason);
    const reading = handle.value.read(["MARK"]);
    expect(reading).toMatchObject({
      ok: true,
      value: {
        state: expect.stringMatching(/^[RS]$/) as string,
        executable: { ok: true, value: { path: program } },
        argv: { ok: true, value: [program, "arg"] },
        environment: { ok: true, value: { MARK: "here" } },
      },
    });
    const exited = handle.value.exited();
    expect(handle.value.signal("SIGKILL")).toEqual({ ok: true, value: { pinned: true } });
    expect(await exited).toBe("exited");
    handle.value.close();
  });

  test("of a zombie, and of a process that is gone, is gone", async () => {
    const parent = start("sh", ["-c", `"$0" </dev/null & read _`, idle]);
    const pid = await ready(parent);
    const handle = open(pid);
    if (!handle.ok) throw new Error(handle.reason);
    expect(await handle.value.exited()).toBe("exited");
    expect(handle.value.read([])).toMatchObject({ ok: false, reason: "gone" });
    await end(parent);
    expect(handle.value.read([])).toMatchObject({ ok: false, reason: "gone" });
    handle.value.close();
  });

  test("across an exec shows one image, never half of each", () => {
    // Two images of one size that turn into each other as fast as they can; argument and variable agree.
    const flip = `test "$1" = one && next=two || next=one; IMAGE=$next exec sh -c "$0" "$0" $next`;
    const child = start("sh", ["-c", flip, flip, "one"], { env: { IMAGE: "one", PATH: "/bin:/usr/bin" } });
    const handle = open(pidOf(child));
    if (!handle.ok) throw new Error(handle.reason);
    const seen = new Set<string | null | undefined>();
    for (let round = 0; round < 10_000; ++round) {
      const reading = handle.value.read(["IMAGE"]);
      if (!reading.ok) {
        expect(reading).toMatchObject({ reason: "garbled", call: "exec" });
        continue;
      }
      const { argv, environment } = reading.value;
      if (!argv.ok || !environment.ok) throw new Error("argv and environment of an own process are readable");
      expect(argv.value[4]).toBe(environment.value["IMAGE"]);
      seen.add(argv.value[4]);
    }
    expect([...seen].sort()).toEqual(["one", "two"]);
    handle.value.close();
  });
});

describe("many processes", () => {
  test("are read in one call, one answer each, in order", async () => {
    const children = [start(idle, ["first"]), start(idle, ["second"])];
    const [first, second] = await Promise.all(children.map(ready));
    const answers = await readMany([second ?? 0, 0x7fff_ffff, first ?? 0], []);
    expect(answers).toMatchObject([
      { ok: true, value: { pid: second, argv: { value: [idle, "second"] } } },
      { ok: false, reason: "gone", errno: "ESRCH" },
      { ok: true, value: { pid: first, argv: { value: [idle, "first"] } } },
    ]);
  });

  test("none is an answer too", async () => {
    expect(await readMany([], ["A"])).toEqual([]);
  });
});

describe("the process table", () => {
  test("is complete, has ourselves and our child in columns of one length", async () => {
    const pid = await ready(start(idle, [], { detached: true }));
    const table = await snapshot();
    if (!table.ok) throw new Error(table.reason);
    const { complete, ...columns } = table.value;
    expect(complete).toBe(true);
    expect(new Set(Object.values(columns).map(({ length }) => length)).size).toBe(1);
    const row = columns.pid.indexOf(pid);
    expect({
      ppid: columns.ppid[row],
      pgid: columns.pgid[row],
      sid: columns.sid[row],
      uid: columns.uid[row],
    }).toEqual({
      ppid: process.pid,
      pgid: pid,
      sid: pid,
      uid: process.geteuid?.(),
    });
    expect(`ticks=${String(columns.startTicks[row])}`).toBe(
      readOne(pid)
        .token.split(";")
        .find((part) => part.startsWith("ticks=")),
    );
    expect(columns.pid).toContain(process.pid);
  });

  test("is read off the main thread", async () => {
    let turns = 0;
    const turn = setInterval(() => ++turns, 1);
    await Promise.all(Array.from({ length: 40 }, () => snapshot()));
    clearInterval(turn);
    expect(turns).toBeGreaterThan(0);
  });
});

test("the backend names what it found, and our own token", () => {
  const known = backend();
  expect(known).toMatchObject({ platform: "linux", supported: true });
  expect(known.selfToken).toEqual({ ok: true, value: readOne(process.pid).token });
  expect(known.uniqueIdentity).toBe(known.selfToken.ok && known.selfToken.value.includes(";inode="));
});
