import { randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openAcpxLifecycle, type AcpxLifecycle } from "../../lib/lifecycle.js";
import type { LegacyOptions } from "../../lib/legacy.js";
import type { ProcessHandle } from "../../lib/native.js";
import { isAlive, pin, put } from "../helpers/alive.js";
import { lines, pidOf, start } from "../helpers/child.js";
import { compile } from "../helpers/compile.js";

const family = compile("family");

let base: string;
let wrapperRoot: string;
let tree: ProcessHandle[];
let lifecycle: AcpxLifecycle;

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "acpx-markers-"));
  wrapperRoot = join(base, "wrappers");
  tree = [];
  lifecycle = await open({ markerSweep: true });
});
afterEach(async () => {
  await lifecycle[Symbol.asyncDispose]();
  tree.forEach(put);
  rmSync(base, { recursive: true });
});

async function open(legacy: LegacyOptions | false): Promise<AcpxLifecycle> {
  return await openAcpxLifecycle({ stateDir: join(base, "state"), wrapperRoot, termGraceMs: 300, legacy });
}

type Environment = Record<string, string>;

const ours = (): Environment => ({
  OPENCLAW_GATEWAY_INSTANCE_ID: lifecycle.gatewayInstanceId,
  OPENCLAW_ACPX_LEASE_ID: randomUUID(),
});

/** A wrapper of that command line, with a stubborn child. */
async function runWrapper(
  env: Environment,
  command = [join(wrapperRoot, "codex-acp-wrapper")],
): Promise<number> {
  const [program = "", ...args] = command;
  if (args.length === 0) copyFileSync(family, program);
  const child = start(program, [...args, "i"], { env: { ...process.env, ...env } });
  const output = lines(child);
  await output.next();
  const member = Number((await output.next()).split(" ").at(-1));
  tree.push(pin(member), pin(pidOf(child)));
  return pidOf(child);
}

describe("the sweep by command markers", () => {
  test("ends a wrapper that carries this instance and no live lease, with everybody below", async () => {
    const pid = await runWrapper(ours());
    const { unleased } = await lifecycle.reap();
    expect(unleased).toMatchObject([{ pid, ended: true, survivors: [] }]);
    expect(tree.some(isAlive)).toBe(false);
  });

  test("a dry run ends nobody", async () => {
    await runWrapper(ours());
    expect(await lifecycle.reap({ dryRun: true })).not.toHaveProperty("unleased");
    expect(tree.every(isAlive)).toBe(true);
  });

  const twins: { name: string; run: () => Promise<number>; because: RegExp }[] = [
    {
      name: "it carries another instance",
      run: () => runWrapper({ ...ours(), OPENCLAW_GATEWAY_INSTANCE_ID: randomUUID() }),
      because: /^Expected OPENCLAW_GATEWAY_INSTANCE_ID/,
    },
    {
      name: "it carries no instance",
      run: () => runWrapper({}),
      because: /holds no OPENCLAW_GATEWAY_INSTANCE_ID/,
    },
    {
      name: "its script is under the wrapper root, its executable is not",
      run: () => {
        const script = join(wrapperRoot, "codex-acp-wrapper.mjs");
        writeFileSync(script, "echo adapter $$; echo member i $$; read forever");
        return runWrapper(ours(), ["/bin/sh", script]);
      },
      because: /^Expected an image under/,
    },
  ];
  test.each(twins)("twin: $name: left alone", async ({ run, because }) => {
    const pid = await run();
    const { unleased = [] } = await lifecycle.reap();
    expect(unleased).toMatchObject([
      { pid, ended: false, because: expect.stringMatching(because) as string },
    ]);
    expect(tree.every(isAlive)).toBe(true);
  });

  test("twin: it is called like a wrapper and runs from elsewhere: not even looked at", async () => {
    await runWrapper(ours(), [join(base, "codex-acp-wrapper")]);
    expect((await lifecycle.reap()).unleased).toEqual([]);
    expect(tree.every(isAlive)).toBe(true);
  });

  test("twin: its gateway lives: not a word about it", async () => {
    await runWrapper({ ...ours(), OPENCLAW_GATEWAY_PID: `${process.pid} some-token` });
    expect((await lifecycle.reap()).unleased).toEqual([]);
    expect(tree.every(isAlive)).toBe(true);
  });

  test("twin: it carries a live lease: not a word about it", async () => {
    const agent = await lifecycle.launch({
      command: family,
      args: [],
      sessionKey: "agent:test:acp:1",
      stdio: "ignore",
    });
    const { leaseId } = agent.lease;
    await runWrapper({ ...ours(), OPENCLAW_ACPX_LEASE_ID: leaseId });
    expect((await lifecycle.reap()).unleased).toEqual([]);
    expect(tree.every(isAlive)).toBe(true);
    await agent.end();
  });

  test.each([{ legacy: {} }, { legacy: false } as const])(
    "twin: not asked for ($legacy): not looked for",
    async ({ legacy }) => {
      await lifecycle[Symbol.asyncDispose]();
      lifecycle = await open(legacy);
      await runWrapper(ours());
      expect(await lifecycle.reap()).not.toHaveProperty("unleased");
      expect(tree.every(isAlive)).toBe(true);
    },
  );
});
