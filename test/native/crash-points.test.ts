/** docs/faults.md lists every step by which a gateway changes the world: each is where a gateway dies here. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { createLeaseStore } from "../../lib/lease-store.js";
import { open, type ProcessHandle } from "../../lib/native.js";
import type { ReapReport } from "../../lib/reaper.js";
import { allGone, isAlive, pin } from "../helpers/alive.js";
import { pidOf, ready, start } from "../helpers/child.js";
import { compile } from "../helpers/compile.js";
import { LaunchingGateway } from "../helpers/launching-gateway.js";

const family = compile("family");
/** Runs in the agents' directory without being anybody's: must outlive every sweep. */
const bystander = compile("idle");
const preload = fileURLToPath(new URL("../fixtures/crash-points.mjs", import.meta.url));
const faults = readFileSync(new URL("../../docs/faults.md", import.meta.url), "utf8");
/** Both ignore TERM; one is orphaned at once, in a session of its own. */
const LETTERS = ["is", "ids"];

interface CrashPoint {
  readonly step: string;
  readonly running: string;
  readonly restart: string;
}

/** The table below a heading of docs/faults.md. */
function tableOf(heading: string): CrashPoint[] {
  const [, section = ""] = faults.split(`### ${heading}\n`);
  const [body = ""] = section.split(/^#/mu);
  const lines = body.split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(2).map((line) => {
    const [step = "", running = "", restart = ""] = line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim());
    return { step, running, restart };
  });
}

/** The world of one gateway that dies. */
class Doomed implements AsyncDisposable {
  readonly stateDir: string;
  readonly wrapperRoot: string;
  readonly workDir: string;
  readonly effects: string;

  private constructor(private readonly base: string) {
    this.stateDir = join(base, "state");
    this.wrapperRoot = join(base, "wrappers");
    this.workDir = join(base, "work");
    this.effects = join(base, "effects");
    mkdirSync(this.workDir);
  }

  static async create(): Promise<Doomed> {
    return new Doomed(await realpath(await mkdtemp(join(tmpdir(), "acpx-crash-"))));
  }

  /** Without a step it lives, and writes down what it does. */
  gateway(step?: string): Promise<LaunchingGateway> {
    const variables = [`NODE_OPTIONS=--import=${preload}`, `EFFECTS=${this.effects}`];
    if (step !== undefined) variables.push(`CRASH_AT=${step}`);
    const within = ["env", "-C", this.workDir, ...variables];
    return LaunchingGateway.start(this.stateDir, this.wrapperRoot, 100, within);
  }

  restarted(): Promise<LaunchingGateway> {
    return LaunchingGateway.start(this.stateDir, this.wrapperRoot, 100);
  }

  /** What has been done so far, oldest first. */
  done(): string[] {
    return existsSync(this.effects) ? readFileSync(this.effects, "utf8").trimEnd().split("\n") : [];
  }

  /** Handles on everybody who works here. */
  pinAll(): ProcessHandle[] {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/u.test(name) && this.#isHere(name));
    return pids.flatMap((pid) => {
      const opened = open(Number(pid));
      return opened.ok && this.#isHere(pid) ? [opened.value] : [];
    });
  }

  #isHere(pid: string): boolean {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === this.workDir;
    } catch {
      return false;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const handle of this.pinAll()) {
      handle.signal("SIGKILL");
      await handle.exited();
    }
    await rm(this.base, { recursive: true });
  }
}

async function launchAndEnd(gateway: LaunchingGateway): Promise<void> {
  const { leaseId } = await gateway.launch(family, LETTERS);
  await gateway.end(leaseId);
  await gateway.ended(leaseId);
}

/** Gateway and wrapper are killed in one instant: the survivors are left to a sweep. */
async function leaveSurvivors(doomed: Doomed): Promise<void> {
  await using gateway = await doomed.gateway();
  const launched = await gateway.launch(family, LETTERS);
  const [wrapper, adapter] = [pin(launched.rootPid), pin(launched.pids["adapter"])];
  wrapper.signal("SIGSTOP");
  await gateway.kill();
  wrapper.signal("SIGKILL");
  await allGone([wrapper, adapter]);
}

/** One restart, and what it did in the words of the tables; afterwards nothing is left to do. */
async function restart(doomed: Doomed): Promise<string> {
  await using gateway = await doomed.restarted();
  const report = await gateway.reap();
  expect(report).toMatchObject({ kind: "swept", left: [], held: [], notInspected: [] });
  expect((await (await createLeaseStore({ stateDir: doomed.stateDir })).listOpen()).leases).toEqual([]);
  expect(doomed.pinAll().filter(isAlive)).toEqual([]);
  expect(await gateway.reap()).toMatchObject({ settled: [], deaths: 0 });
  expect(readdirSync(join(doomed.stateDir, "claims"))).toEqual([]);
  return told(report);
}

function told({ settled, deaths }: ReapReport): string {
  const [lease] = settled;
  if (lease === undefined) return "nothing";
  return deaths === 0 ? `lease ${lease.state}` : `lease ${lease.state}, ended ${deaths}`;
}

async function withBystander(work: () => Promise<void>): Promise<void> {
  const child = start(bystander);
  await ready(child);
  const handle = pin(pidOf(child));
  await work();
  expect(isAlive(handle)).toBe(true);
  handle.close();
}

describe("a gateway that launches an agent and ends it", () => {
  const points = tableOf("Launching and ending");

  test("takes the steps of the table, in this order", async () => {
    await using doomed = await Doomed.create();
    await using gateway = await doomed.gateway();
    await launchAndEnd(gateway);
    expect(doomed.done()).toEqual(points.map(({ step }) => step));
  });

  test.each(points)("dies before $step: one restart converges", async ({ step, running, restart: did }) => {
    await withBystander(async () => {
      await using doomed = await Doomed.create();
      const work = async () => {
        await using gateway = await doomed.gateway(step);
        await launchAndEnd(gateway);
      };
      await expect(work()).rejects.toThrow("the gateway process ended");
      expect(doomed.done().at(-1)).toBe(running);
      // Whoever runs is below a wrapper that sees its gateway die.
      await allGone(doomed.pinAll());
      expect(await restart(doomed)).toBe(did);
    });
  });
});

describe("a gateway that sweeps what another one left", () => {
  const points = tableOf("Sweeping");

  test("takes the steps of the table, in this order", async () => {
    await using doomed = await Doomed.create();
    await leaveSurvivors(doomed);
    const before = doomed.done().length;
    await using gateway = await doomed.gateway();
    await gateway.reap();
    expect(doomed.done().slice(before)).toEqual(points.map(({ step }) => step));
  });

  test.each(points)("dies before $step: one restart converges", async ({ step, running, restart: did }) => {
    await withBystander(async () => {
      await using doomed = await Doomed.create();
      await leaveSurvivors(doomed);
      const work = async () => {
        await using gateway = await doomed.gateway(step);
        await gateway.reap();
      };
      await expect(work()).rejects.toThrow("the gateway process ended");
      const alive = doomed.pinAll().filter(isAlive).length;
      expect(["nobody", "one child", "both children"][alive]).toBe(running);
      expect(await restart(doomed)).toBe(did);
    });
  });
});
