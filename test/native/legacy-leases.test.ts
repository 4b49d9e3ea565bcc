import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { DIAGNOSTICS_CHANNEL, type LifecycleEvent } from "../../lib/diagnostics.js";
import { openAcpxLifecycle, type AcpxLifecycle, type AcpxLifecycleOptions } from "../../lib/lifecycle.js";
import { createLeaseStore } from "../../lib/lease-store.js";
import type { ProcessHandle } from "../../lib/native.js";
import { isAlive, pin, put } from "../helpers/alive.js";
import { pidOf, ready, start } from "../helpers/child.js";

const INSTANCE = randomUUID();
const SESSION = "agent:codex:acp:1";
/** What OpenClaw generated in front of an agent: a script with a child, here one that ignores SIGTERM. */
const SCRIPT = `import { spawn } from "node:child_process";
const agent = "trap '' TERM; echo ready $$; exec sleep 100000";
spawn("sh", ["-c", agent], { stdio: ["ignore", "inherit", "inherit"] });
setInterval(() => {}, 2 ** 30);
`;

let base: string;
let stateDir: string;
let wrapperRoot: string;
let file: string;
let tree: ProcessHandle[];
let lifecycle: AcpxLifecycle | undefined;
let warnings: string[];
const listener = (message: unknown) => {
  const event = message as LifecycleEvent;
  if (event.type === "warning") warnings.push(event.message);
};

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "acpx-legacy-"));
  stateDir = join(base, "state");
  wrapperRoot = join(base, "wrappers");
  file = join(stateDir, "process-leases.json");
  for (const directory of [stateDir, wrapperRoot]) mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(stateDir, "gateway-instance-id"), `${INSTANCE}\n`);
  tree = [];
  warnings = [];
  subscribe(DIAGNOSTICS_CHANNEL, listener);
});
afterEach(async () => {
  unsubscribe(DIAGNOSTICS_CHANNEL, listener);
  await lifecycle?.[Symbol.asyncDispose]();
  lifecycle = undefined;
  tree.forEach(put);
  rmSync(base, { recursive: true });
});

type FormerLease = Record<string, unknown> & { leaseId: string };

/** As those releases wrote it. */
function formerLease(changes: Record<string, unknown> = {}): FormerLease {
  return {
    leaseId: randomUUID(),
    gatewayInstanceId: INSTANCE,
    sessionKey: SESSION,
    wrapperRoot,
    wrapperPath: join(wrapperRoot, "codex-acp-wrapper.mjs"),
    rootPid: 0,
    commandHash: "9".repeat(64),
    startedAt: Date.now(),
    state: "open",
    ...changes,
  };
}

/** Starts the agent of a lease and writes the pid into it. `orphan`: in another session, as whoever adopts it is. */
async function run(
  lease: FormerLease,
  { orphan = true, root = wrapperRoot, env = {} } = {},
): Promise<FormerLease> {
  mkdirSync(root, { recursive: true });
  const script = join(root, "codex-acp-wrapper.mjs");
  writeFileSync(script, SCRIPT);
  const ids = {
    OPENCLAW_ACPX_LEASE_ID: lease.leaseId,
    OPENCLAW_GATEWAY_INSTANCE_ID: String(lease["gatewayInstanceId"]),
  };
  const child = start(process.execPath, [script], {
    detached: orphan,
    env: { ...process.env, ...ids, ...env },
  });
  tree.push(pin(await ready(child)), pin(pidOf(child)));
  return { ...lease, rootPid: pidOf(child) };
}

async function upgrade(leases: unknown, options: Partial<AcpxLifecycleOptions> = {}): Promise<AcpxLifecycle> {
  writeFileSync(file, JSON.stringify(leases));
  lifecycle = await openAcpxLifecycle({ stateDir, wrapperRoot, termGraceMs: 300, ...options });
  return lifecycle;
}

async function leaseOf({ leaseId }: FormerLease) {
  return await (await createLeaseStore({ stateDir })).load(leaseId);
}

describe("the lease file of OpenClaw releases", () => {
  test("is taken over once and kept beside; a sweep then ends what its dead gateway left", async () => {
    const former = await run(formerLease());
    const upgraded = await upgrade({ version: 1, leases: [former] });
    expect(await leaseOf(former)).toMatchObject({
      state: "open",
      sessionKey: SESSION,
      rootPid: former["rootPid"],
    });
    expect(tree.every(isAlive)).toBe(true);
    expect(existsSync(file)).toBe(false);
    const kept = JSON.parse(readFileSync(`${file}.migrated`, "utf8")) as unknown;
    expect(kept).toEqual({ version: 1, leases: [former] });

    const report = await upgraded.reap();
    expect(report.settled).toMatchObject([{ leaseId: former.leaseId, state: "closed", proof: "search" }]);
    expect(tree.some(isAlive)).toBe(false);
    expect(warnings).toEqual([]);
  });

  test("a close of the session ends it as well", async () => {
    const former = await run(formerLease({ state: "closing" }));
    const upgraded = await upgrade([former]);
    const handle = { sessionKey: SESSION, backend: "acpx", runtimeSessionName: "" };
    const outcome = await upgraded.close({ runtime: { close: () => Promise.resolve() }, handle });
    expect(outcome.leases).toMatchObject([{ leaseId: former.leaseId, state: "closed" }]);
    expect(tree.some(isAlive)).toBe(false);
  });

  test("twin: in the session of its parent, the gateway of the release before, it is that gateway's", async () => {
    const former = await run(formerLease(), { orphan: false });
    const upgraded = await upgrade({ version: 1, leases: [former] });
    expect(await leaseOf(former)).toMatchObject({ state: "open", owner: { pid: process.pid } });
    const { settled, deaths } = await upgraded.reap();
    expect({ settled, deaths }).toEqual({ settled: [], deaths: 0 });
    expect(tree.every(isAlive)).toBe(true);
  });

  const twins: { name: string; run: () => Parameters<typeof run>[1]; warning: RegExp }[] = [
    {
      name: "its environment names another lease",
      run: () => ({ env: { OPENCLAW_ACPX_LEASE_ID: randomUUID() } }),
      warning: /Expected OPENCLAW_ACPX_LEASE_ID/,
    },
    {
      name: "its environment names another instance",
      run: () => ({ env: { OPENCLAW_GATEWAY_INSTANCE_ID: randomUUID() } }),
      warning: /Expected OPENCLAW_GATEWAY_INSTANCE_ID/,
    },
    {
      name: "its environment names nothing",
      run: () => ({ env: { OPENCLAW_ACPX_LEASE_ID: "" } }),
      warning: /holds no OPENCLAW_ACPX_LEASE_ID/,
    },
    {
      name: "its wrapper is under another root",
      run: () => ({ root: join(base, "other") }),
      warning: /runs no wrapper under/,
    },
  ];
  test.each(twins)("twin: $name: lost, and left alone with one warning", async ({ run: how, warning }) => {
    const former = await run(formerLease(), how());
    const upgraded = await upgrade({ version: 1, leases: [former] });
    expect(await leaseOf(former)).toMatchObject({ state: "lost", rootPid: 0 });
    await upgraded.reap();
    expect(tree.every(isAlive)).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(warning)]);
  });

  test("twin: the lease is of another instance: not taken over, and left alone with one warning", async () => {
    const former = await run(formerLease({ gatewayInstanceId: randomUUID() }));
    const upgraded = await upgrade({ version: 1, leases: [former] });
    expect(await leaseOf(former)).toBeUndefined();
    await upgraded.reap();
    expect(tree.every(isAlive)).toBe(true);
    expect(warnings.length).toBe(1);
  });

  test("what has ended is lost, what was over before is not taken over, what is no lease is nothing", async () => {
    const gone = formerLease({ rootPid: 2 ** 22 + 7 });
    const unknown = formerLease();
    const over = ["closed", "lost"].map((state) => formerLease({ state, rootPid: process.pid }));
    const broken = [
      { leaseId: "../../x" },
      { sessionKey: "" },
      { startedAt: 1e300 },
      { rootPid: -1.5 },
      { wrapperRoot: 7 },
    ].map(formerLease);
    const huge = formerLease({ rootPid: 2 ** 40 });
    await upgrade({ version: 1, leases: [null, 7, [], ...broken, gone, unknown, huge, ...over] });
    expect((await leaseOf(huge))?.state).toBe("lost");
    expect(await Promise.all(broken.map(leaseOf))).toEqual(broken.map(() => undefined));
    expect((await leaseOf(gone))?.state).toBe("lost");
    expect((await leaseOf(unknown))?.state).toBe("lost");
    expect(await Promise.all(over.map(leaseOf))).toEqual([undefined, undefined]);
    expect(warnings).toEqual([]);
  });

  test("a file that makes no sense stays where it is, and the gateway starts all the same", async () => {
    await upgrade("half a fi");
    expect(readFileSync(file, "utf8")).toBe('"half a fi"');
    expect(warnings).toEqual([expect.stringContaining("process-leases.json are not taken over")]);
  });

  test("twin: without legacy it stays where it is, and nobody is ended", async () => {
    const former = await run(formerLease());
    const upgraded = await upgrade({ version: 1, leases: [former] }, { legacy: false });
    await upgraded.reap();
    expect(existsSync(file)).toBe(true);
    expect(await leaseOf(former)).toBeUndefined();
    expect(tree.every(isAlive)).toBe(true);
  });
});
