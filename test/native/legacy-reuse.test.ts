import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { compile } from "../helpers/compile.js";

const run = promisify(execFile);
const rounds = fileURLToPath(new URL("../fixtures/legacy-reuse.mjs", import.meta.url));

test("V1: the recorded number belongs to a later process of the same command: left alone", async () => {
  const directory = await mkdtemp(join(tmpdir(), "acpx-legacy-reuse-"));
  try {
    const namespace = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    if (process.geteuid?.() !== 0) namespace.push("--user", "--map-root-user");
    const gateway = [process.execPath, rounds, compile("pid-reuse"), directory];
    const { stdout } = await run("unshare", [...namespace, ...gateway]);
    expect(JSON.parse(stdout)).toEqual({
      rounds: 20,
      verified: 0,
      strangersUntouched: 20,
      twin: { verified: true, ended: "ended 15" },
    });
  } finally {
    await rm(directory, { recursive: true });
  }
});
