/** Supervisors in worlds that lie to them or stop them: nobody else is hurt, and the tree still ends. */
import { execFileSync } from "node:child_process";
import { setTimeout as pass } from "node:timers/promises";

import { afterAll, beforeAll, expect, test } from "vitest";

import { supervisorImage } from "../../lib/native.js";
import { isAlive } from "../helpers/alive.js";
import { Stage } from "../helpers/supervisor.js";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

test("with the /proc of another PID namespace it starts nothing, and signals none of the numbers in it", () => {
  const isRoot = process.geteuid?.() === 0;
  const namespace = ["--pid", "--fork", "--kill-child", ...(isRoot ? [] : ["--user", "--map-root-user"])];
  // Bystanders take the low numbers that the outer /proc names as children of ours.
  const script = `
    "$0" -- sleep 500 & supervisor=$!
    for one in $(seq 40); do sleep 600 & all="$all $!"; done
    kill -TERM $supervisor 2>/dev/null
    wait $supervisor; echo "code $?"
    alive=0; for one in $all; do kill -0 $one && alive=$((alive + 1)); done; echo "alive $alive"`;
  const output = execFileSync("unshare", [...namespace, "sh", "-c", script, supervisorImage() ?? ""], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(output).toContain("alive 40");
  expect(output).toMatch(/code (?:75|143)/);
});

test("stopped for longer than its bound, it still sends KILL before it says that somebody outlived it", async () => {
  const graceMs = 100;
  const words = ["fork", "[", "session", "ignore", "TERM", "announce", "worker", "forever", "]", "forever"];
  const { supervised, adapter } = await stage.startLeased(words, { graceMs });
  const worker = await supervised.announced("worker");
  supervised.root.signal("SIGTERM");
  supervised.root.signal("SIGSTOP");
  // As long as a paused container may take; the bound is the grace and three seconds.
  await pass(graceMs + 3_500);
  supervised.root.signal("SIGCONT");
  await supervised.end();
  expect([adapter, worker].filter(isAlive)).toEqual([]);
});
