import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { compile } from "../helpers/compile.js";

const run = promisify(execFile);
const rounds = fileURLToPath(new URL("../fixtures/lifecycle-reuse.mjs", import.meta.url));

test("500 leases whose number belongs to a stranger by now: foreign, lost, and no signal", async () => {
  const directory = await mkdtemp(join(tmpdir(), "acpx-reuse-"));
  try {
    const isRoot = process.geteuid?.() === 0;
    const namespace = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    if (!isRoot) namespace.push("--user", "--map-root-user");
    const { stdout } = await run("unshare", [
      ...namespace,
      process.execPath,
      rounds,
      compile("pid-reuse"),
      directory,
    ]);
    const { sameTick, ...counts } = JSON.parse(stdout) as Record<string, unknown>;
    expect(counts).toEqual({
      rounds: 500,
      foreign: 500,
      lost: 500,
      deaths: 0,
      strangersUntouched: 500,
      twin: { deaths: 1, ended: "ended 15" },
    });
    // Otherwise the ticks alone would have told them apart, and the test would show little.
    expect(sameTick).toBeGreaterThan(100);
  } finally {
    await rm(directory, { recursive: true });
  }
});
