/** The supervisor of macOS, which has no subreaper: who is in the tree is what the kernel noted at each fork. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

import type { ProcessHandle } from "../../lib/native.js";
import { installWrapper } from "../../lib/wrapper.js";
import { allGone, isAlive, pin, put } from "../helpers/alive.js";
import { exit, lines, start } from "../helpers/child.js";

const family = fileURLToPath(new URL("../fixtures/darwin-family.mjs", import.meta.url));

let directory: string;
let wrapper: string;
const pinned: ProcessHandle[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "acpx-darwin-"));
  wrapper = (await installWrapper({ wrapperRoot: join(directory, "wrappers"), name: "test-wrapper" })).path;
});
afterEach(() => {
  for (const handle of pinned.splice(0)) put(handle);
  rmSync(directory, { recursive: true });
});

/** Adapter and orphan, once both have said that they run. */
async function members(child: ChildProcess): Promise<readonly [ProcessHandle, ProcessHandle]> {
  const output = lines(child);
  const found = new Map<string, ProcessHandle>();
  for (;;) {
    const [name = "", pid] = (await output.next()).split(" ");
    if (name === "middle") continue;
    const handle = pin(Number(pid));
    pinned.push(handle);
    found.set(name, handle);
    const [adapter, orphan] = [found.get("adapter"), found.get("orphan")];
    if (adapter !== undefined && orphan !== undefined) return [adapter, orphan];
  }
}

const command = (...variables: string[]) => ["--", process.execPath, family, "adapter", ...variables];

test("an orphan without the lease's variables, in a session of its own, ends with the tree", async () => {
  const supervisor = start(wrapper, command());
  const [adapter, orphan] = await members(supervisor);
  supervisor.kill("SIGTERM");
  await exit(supervisor);
  expect([adapter, orphan].map(isAlive)).toEqual([false, false]);
});

test("an orphan that opted out stays", async () => {
  const supervisor = start(wrapper, command("OPENCLAW_ACPX_LEASE_DETACH=1"));
  const [adapter, orphan] = await members(supervisor);
  supervisor.kill("SIGTERM");
  await exit(supervisor);
  expect([adapter, orphan].map(isAlive)).toEqual([false, true]);
});

test("the adapter's end is the end of the tree, and its way of ending is the supervisor's", async () => {
  const supervisor = start(wrapper, command());
  const [adapter, orphan] = await members(supervisor);
  adapter.signal("SIGKILL");
  await exit(supervisor);
  expect(supervisor.signalCode).toBe("SIGKILL");
  expect(isAlive(orphan)).toBe(false);
});

test("the death of whoever started the supervisor ends the tree", async () => {
  const code = "require('child_process').spawn(process.argv[1], process.argv.slice(2), { stdio: 'inherit' })";
  const gateway = spawn(process.execPath, ["-e", code, wrapper, ...command()], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const both = await members(gateway);
  gateway.kill("SIGKILL");
  await exit(gateway);
  await allGone(both);
});
