import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { compile } from "../helpers/compile.js";

const run = promisify(execFile);
const fixture = fileURLToPath(new URL("../fixtures/reap-many.mjs", import.meta.url));

interface Sweep {
  readonly milliseconds: number;
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  readonly snapshots: number;
}

/** In a namespace of its own: nobody outside can be mistaken for anybody, and everybody ends with it. */
async function sweeps(): Promise<Record<"stopped" | "late" | "trees" | "stale", Sweep>> {
  const directory = await mkdtemp(join(tmpdir(), "acpx-reap-"));
  try {
    const namespace = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    if (process.geteuid?.() !== 0) namespace.push("--user", "--map-root-user");
    const { stdout } = await run("unshare", [
      ...namespace,
      process.execPath,
      fixture,
      compile("family"),
      directory,
    ]);
    return JSON.parse(stdout) as Record<"stopped" | "late" | "trees" | "stale", Sweep>;
  } finally {
    await rm(directory, { recursive: true });
  }
}

test(
  "500 dead trees end and 50 look-alikes live; 1,000 stale leases among 2,000 processes take a few tables",
  { timeout: 240_000 },
  async () => {
    const { stopped, late, trees, stale } = await sweeps();
    const untouched = { settled: 0, notInspected: 500, deaths: 0, open: 500, snapshots: 0 };
    expect(stopped).toMatchObject(untouched);
    expect(late).toMatchObject(untouched);
    expect(trees).toMatchObject({
      settled: 500,
      states: ["closed"],
      deaths: 1_000,
      open: 0,
      lookAlikesAlive: 50,
    });
    expect(stale).toMatchObject({ settled: 1_000, states: ["lost"], deaths: 0, open: 0, crowdAlive: true });
    expect(stale.snapshots).toBeLessThan(40);
    // Generous: other tests share the machine. A sweep that looks in one go would hold the loop up for seconds.
    expect(Math.max(trees.delayP99Ms, stale.delayP99Ms)).toBeLessThan(250);
  },
);
