/** `status`, `inspect`, `reap` and `doctor` over real processes: what they find, what they end, and what they never touch. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { DoctorReport, InspectReport, StatusReport, SweepReport } from "../../lib/cli-reports.js";
import type { ProcessHandle } from "../../lib/native.js";
import { allGone, isAlive, pin, put } from "../helpers/alive.js";
import { cli, cliReport } from "../helpers/cli.js";
import { compile } from "../helpers/compile.js";
import { LaunchingGateway, type Launched } from "../helpers/launching-gateway.js";

const family = compile("family");
const EVERY_KIND = ["a", "i", "ge", "s", "d", "ds", "ids"];
const KEY = "agent:test:acp:1";

let base: string;
let stateDir: string;
let wrapperRoot: string;
/** Where, as every command takes it. */
let here: readonly string[];
let pinned: ProcessHandle[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "acpx-cli-"));
  stateDir = join(base, "state");
  wrapperRoot = join(base, "wrappers");
  here = ["--state-dir", stateDir, "--wrapper-root", wrapperRoot];
  pinned = [];
});
afterEach(() => {
  pinned.forEach(put);
  rmSync(base, { recursive: true });
});

function pinAll({ rootPid, pids }: Launched): { root: ProcessHandle; agents: ProcessHandle[] } {
  const root = pin(rootPid);
  const agents = Object.values(pids).map(pin);
  pinned.push(root, ...agents);
  return { root, agents };
}

/** Gateway and wrapper die in a way that the wrapper cannot see; who outlives the adapter is left. */
async function orphan(letters: readonly string[]): Promise<{ launched: Launched; agents: ProcessHandle[] }> {
  await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
  const launched = await gateway.launch(family, letters);
  const { root, agents } = pinAll(launched);
  root.signal("SIGSTOP");
  await gateway.kill();
  root.signal("SIGKILL");
  const adapter = agents.filter(({ pid }) => pid === launched.pids["adapter"]);
  await allGone([root, ...adapter]);
  return { launched, agents: agents.filter((one) => !adapter.includes(one)) };
}

/** Every file with the time of its last change. */
function files(): string[] {
  const names = readdirSync(stateDir, { recursive: true, encoding: "utf8" });
  return names.map((name) => `${name} ${statSync(join(stateDir, name)).mtimeMs}`).sort();
}

describe("a state directory that is not there", () => {
  test.each([
    { command: ["status"], code: 0 },
    { command: ["inspect", "main"], code: 1 },
    { command: ["inspect", String(process.pid)], code: 1 },
    { command: ["reap", "--dry-run"], code: 0 },
    { command: ["reap"], code: 0 },
    { command: ["doctor"], code: 0 },
  ])("is not made by $command", async ({ command, code }) => {
    expect(await cli([...command, ...here])).toMatchObject({ code, stderr: "" });
    expect(existsSync(stateDir)).toBe(false);
    expect(existsSync(wrapperRoot)).toBe(false);
  });
});

describe("while the gateway lives", () => {
  test("status shows every process, reap ends none, and looking changes no file", async () => {
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, EVERY_KIND);
    const { root, agents } = pinAll(launched);
    const damaged = "00000000-0000-4000-8000-000000000000";
    mkdirSync(join(stateDir, "leases", "open", damaged));
    writeFileSync(join(stateDir, "leases", "open", damaged, "1.json"), "{");
    const before = files();

    const report = await cliReport<StatusReport>(["status", ...here]);
    expect(report).toMatchObject({ leases: [{ verdict: { kind: "owned" } }], damaged: [damaged] });
    const pids = report.leases[0]?.members.map(({ pid }) => pid);
    expect(pids).toHaveLength(agents.length + 1);
    expect(new Set(pids)).toEqual(new Set([root, ...agents].map(({ pid }) => pid)));
    expect((await cli(["inspect", KEY, ...here])).code).toBe(0);
    const { checkups } = await cliReport<DoctorReport>(["doctor", ...here]);
    expect(checkups.filter(({ outcome }) => outcome === "problem")).toMatchObject([
      { about: "leases", found: `Damaged: ${damaged}.` },
    ]);
    expect(files()).toEqual(before);

    const swept = await cliReport<SweepReport>(["reap", ...here]);
    expect(swept).toMatchObject({ settled: [], left: [], deaths: 0, held: [{ leaseId: launched.leaseId }] });
    expect([root, ...agents].every(isAlive)).toBe(true);
    await gateway.end(launched.leaseId);
  });

  test("inspect tells whose a process is, by pid, by session and by the beginning of a lease id", async () => {
    await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
    const launched = await gateway.launch(family, ["a", "ds"]);
    const { root, agents } = pinAll(launched);
    for (const { pid } of [root, ...agents]) {
      const { process } = await cliReport<InspectReport>(["inspect", String(pid), ...here]);
      expect(process).toMatchObject({ found: "live", leaseId: launched.leaseId, verdict: { kind: "owned" } });
      expect(process?.checks.find(({ name }) => name === "lease-id")?.outcome).toBe("match");
    }
    const stranger = await cliReport<InspectReport>(["inspect", String(process.pid), ...here]);
    expect(stranger).toMatchObject({ process: { verdict: { kind: "foreign" } }, leases: [] });
    expect((await cli(["inspect", String(process.pid), ...here])).code).toBe(1);

    for (const subject of [KEY, launched.leaseId, launched.leaseId.slice(0, 8)]) {
      const { leases } = await cliReport<InspectReport>(["inspect", subject, ...here]);
      expect(leases).toMatchObject([{ leaseId: launched.leaseId }]);
    }
    await gateway.end(launched.leaseId);
    expect(await cliReport<InspectReport>(["inspect", KEY, ...here])).toMatchObject({
      leases: [],
      ended: [{ leaseId: launched.leaseId, state: "closed", proof: "subreaper" }],
    });
    expect(await cliReport<StatusReport>(["status", ...here])).toMatchObject({ leases: [], endedCount: 1 });
  });
});

describe("when gateway and wrapper are dead", () => {
  test("a dry run names who would be ended and ends nobody; reap ends them", async () => {
    const { launched, agents } = await orphan(["a", "ids", "ig"]);
    const left = agents.filter(isAlive).map(({ pid }) => pid);
    expect(left).toHaveLength(3);

    const plan = await cliReport<SweepReport>(["reap", "--dry-run", ...here]);
    expect(plan).toMatchObject({ dryRun: true, planned: [{ leaseId: launched.leaseId }], settled: [] });
    expect(new Set(plan.planned[0]?.pids)).toEqual(new Set(left));
    expect((await cli(["doctor", ...here])).code).toBe(1);
    expect(agents.every(isAlive)).toBe(true);

    const { code, stdout } = await cli(["reap", ...here]);
    expect(code).toBe(0);
    expect(stdout).toContain("closed, 3 processes ended");
    expect(stdout).toContain("1 lease settled, 3 processes ended.");
    await allGone(agents);
    expect((await cli(["doctor", ...here])).code).toBe(0);
  });

  test("another installation's reap leaves them alone", async () => {
    const { agents } = await orphan(["a", "ids"]);
    writeFileSync(join(stateDir, "gateway-instance-id"), "11111111-1111-4111-8111-111111111111\n");
    const swept = await cliReport<SweepReport>(["reap", ...here]);
    expect(swept).toMatchObject({
      settled: [],
      deaths: 0,
      held: [{ because: expect.any(String) as string }],
    });
    expect(agents.every(isAlive)).toBe(true);
  });
});

test("a wrapper under a root that nobody named is left alone until it is named", async () => {
  await using gateway = await LaunchingGateway.start(stateDir, wrapperRoot);
  const { root, agents } = pinAll(await gateway.launch(family, ["a"]));
  root.signal("SIGSTOP");
  await gateway.kill();

  const unnamed = ["--state-dir", stateDir];
  const { stdout } = await cli(["status", ...unnamed]);
  expect(stdout).toContain(`--wrapper-root ${wrapperRoot}`);
  const refused = await cliReport<SweepReport>(["reap", ...unnamed]);
  expect(refused).toMatchObject({ settled: [], deaths: 0, left: [{ sessionKey: KEY }] });
  expect([root, ...agents].every(isAlive)).toBe(true);

  expect(await cliReport<SweepReport>(["reap", ...here])).toMatchObject({ settled: [{ state: "closed" }] });
  await allGone([root, ...agents]);
});

describe("what cannot be looked at is said, with exit code 2", () => {
  test("a state directory that is a file", async () => {
    writeFileSync(stateDir, "");
    const { code, stdout, stderr } = await cli(["status", ...here]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("no directory");
    expect((await cli(["doctor", ...here])).code).toBe(1);
  });

  test("an instance id that is damaged", async () => {
    mkdirSync(stateDir);
    writeFileSync(join(stateDir, "gateway-instance-id"), "x");
    expect(await cli(["reap", ...here])).toMatchObject({ code: 2, stdout: "" });
  });
});
