/** Sessions that a host made before there were leases, closed by a host that has them. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AcpRuntimeHandle, AcpxRuntime } from "acpx/runtime";
import { expect, test } from "vitest";
import { DIAGNOSTICS_CHANNEL, type LifecycleEvent } from "../../lib/diagnostics.js";
import type { AcpxLifecycle, AcpxLifecycleOptions } from "../../lib/lifecycle.js";
import { isAlive } from "../helpers/alive.js";
import { World } from "./world.js";

const KEY = "agent:fixture:acp:1";
const ensure = { sessionKey: KEY, agent: "fixture", mode: "persistent" } as const;

type StoredRecord = Record<string, unknown> & {
  pid: number;
  agent_command: string;
  agent_argv?: string[] | undefined;
  agent_started_at: string;
  closed: boolean;
};

/** A session whose agent runs without a lease, as acpx alone has started it, and its record on disk. */
class FormerSession extends World {
  readonly host = this.hostOptions(this.agent("--children=plain,group,session"));
  readonly #file = join(this.directory, "acpx", "sessions", `${encodeURIComponent(KEY)}.json`);

  async begin(): Promise<AcpRuntimeHandle> {
    return await this.runtime(this.host).ensureSession(ensure);
  }

  get stored(): StoredRecord {
    return JSON.parse(readFileSync(this.#file, "utf8")) as StoredRecord;
  }

  change(edit: (record: StoredRecord) => Partial<StoredRecord>): void {
    const { stored } = this;
    writeFileSync(this.#file, JSON.stringify({ ...stored, ...edit(stored) }));
  }

  /** The same host, after the upgrade. */
  async upgrade(
    options: Partial<AcpxLifecycleOptions> = {},
  ): Promise<{ lifecycle: AcpxLifecycle; runtime: AcpxRuntime }> {
    const lifecycle = await this.lifecycle(options);
    return { lifecycle, runtime: this.runtime(lifecycle.runtimeOptions(this.host)) };
  }
}

/** What is said about a process while `work` runs. */
async function warningsAbout(pid: number, work: () => Promise<void>): Promise<string[]> {
  const warnings: string[] = [];
  const listener = (message: unknown) => {
    const event = message as LifecycleEvent;
    if (event.type === "warning" && event.message.startsWith(`Process ${pid},`)) warnings.push(event.message);
  };
  subscribe(DIAGNOSTICS_CHANNEL, listener);
  try {
    await work();
  } finally {
    unsubscribe(DIAGNOSTICS_CHANNEL, listener);
  }
  return warnings;
}

const agreeing: { name: string; edit: (record: StoredRecord) => Partial<StoredRecord> }[] = [
  { name: "just as acpx has written it", edit: () => ({}) },
  {
    name: "V2: with a shell-quoted command line only",
    edit: ({ agent_argv = [] }) => ({
      agent_argv: undefined,
      agent_command: agent_argv.map((word) => `'${word}'`).join("  "),
    }),
  },
  {
    name: "with the lease arguments that an OpenClaw release had put behind the command",
    edit: ({ agent_argv = [] }) => ({
      agent_argv: [
        ...agent_argv,
        ...["--openclaw-acpx-lease-id", "l", "--openclaw-gateway-instance-id", "i"],
      ],
    }),
  },
];

test.concurrent.each(agreeing)("a record $name: its agent and everybody below end", async ({ edit }) => {
  await using world = new FormerSession();
  const handle = await world.begin();
  world.change(edit);
  const tree = world.pinAll();
  expect(tree.length).toBe(5);

  const { lifecycle, runtime } = await world.upgrade();
  const { pid } = world.stored;
  const outcome = await lifecycle.close({ runtime, handle });
  expect(tree.some(isAlive)).toBe(false);
  expect(outcome).toMatchObject({ leases: [], unleased: { pid, ended: true, survivors: [] } });
  expect(outcome.unleased?.deaths.length).toBe(tree.length);
  expect((await lifecycle.close({ runtime, handle })).unleased).toBeUndefined();
});

const contradicting: {
  name: string;
  edit: (record: StoredRecord) => Partial<StoredRecord>;
  because: RegExp;
}[] = [
  {
    name: "V1: the pid is that of a process started at another time",
    edit: ({ agent_started_at }) => ({
      agent_started_at: new Date(Date.parse(agent_started_at) - 3_000).toISOString(),
    }),
    because: /started later/,
  },
  {
    name: "V1: the pid is that of the host itself",
    edit: () => ({ pid: process.pid }),
    because: /this very process/,
  },
  {
    name: "the record gives another argument",
    edit: ({ agent_argv = [] }) => ({ agent_argv: [...agent_argv, "--other"] }),
    because: /runs another command/,
  },
];

test.concurrent.each(contradicting)(
  "$name: everybody lives, and it is said once",
  async ({ edit, because }) => {
    await using world = new FormerSession();
    const handle = await world.begin();
    world.change(edit);
    const tree = world.pinAll();
    const { lifecycle, runtime } = await world.upgrade();
    const { pid } = world.stored;

    const warnings = await warningsAbout(pid, async () => {
      const outcome = await lifecycle.close({ runtime, handle });
      expect(outcome.unleased).toMatchObject({ pid, ended: false, deaths: [], survivors: [] });
      expect(outcome.unleased?.because).toMatch(because);
      await lifecycle.close({ runtime, handle });
    });
    expect(warnings.length).toBe(1);
    expect(tree.every(isAlive)).toBe(true);
  },
);

test.concurrent(
  "C6: discard-closed ten times and never verified: no record, no signal, one warning",
  async () => {
    await using world = new FormerSession();
    const handle = await world.begin();
    world.change(() => ({ agent_started_at: "2020-01-01T00:00:00.000Z" }));
    const tree = world.pinAll();
    const { lifecycle, runtime } = await world.upgrade();
    const controller = lifecycle.control(runtime);

    const warnings = await warningsAbout(world.stored.pid, async () => {
      for (let round = 0; round < 10; round += 1)
        await controller.closeSession({ handle, discardPersistentState: true });
    });
    expect(warnings.length).toBe(1);
    expect(tree.every(isAlive)).toBe(true);
    expect(world.stored.closed).toBe(true);
    const fresh = await runtime.ensureSession(ensure);
    expect(fresh.backendSessionId).not.toBe(handle.backendSessionId);
  },
);

test.concurrent("cancel signals nobody, and `legacy: false` leaves everybody alone", async () => {
  await using world = new FormerSession();
  const handle = await world.begin();
  const tree = world.pinAll();
  const { lifecycle, runtime } = await world.upgrade({ legacy: false });
  await lifecycle.control(runtime).cancelTurn(handle);
  const outcome = await lifecycle.close({ runtime, handle });
  expect(outcome).not.toHaveProperty("unleased");
  expect(tree.every(isAlive)).toBe(true);
});

test.concurrent("a session with a lease is ended by nothing else, even if its record agrees", async () => {
  await using world = new FormerSession();
  const { lifecycle, runtime } = await world.upgrade();
  const handle = await runtime.ensureSession(ensure);
  const outcome = await lifecycle.close({ runtime, handle });
  expect(outcome.leases).toMatchObject([{ state: "closed" }]);
  expect(outcome).not.toHaveProperty("unleased");
});

test.concurrent("an upgraded record keeps pid and command, and acpx alone goes on with it", async () => {
  await using world = new FormerSession();
  const handle = await world.begin();
  const before = world.stored;
  const { lifecycle, runtime } = await world.upgrade();
  await lifecycle.close({ runtime, handle });

  const { agent_command, agent_argv, pid, agent_started_at } = before;
  expect(world.stored).toMatchObject({ agent_command, agent_argv, pid, agent_started_at, closed: true });

  const again = await runtime.ensureSession(ensure);
  expect((await world.turn(runtime, again, "upgraded")).status).toBe("completed");
  const { rootPid } = await world.lease();
  expect(world.stored).toMatchObject({ agent_command, agent_argv, pid: rootPid, closed: false });
  await lifecycle.close({ runtime, handle: again });

  const former = world.runtime(world.host);
  const rolledBack = await former.ensureSession(ensure);
  expect(rolledBack.backendSessionId).toBe(handle.backendSessionId);
  expect((await world.turn(former, rolledBack, "rolled back")).status).toBe("completed");
});
