/**
 * The disk fails once, at every call of every operation in turn: before it has done anything, or after it has done
 * all of it. Whatever the operation then answers, a second look without faults finds nothing lost and nothing wrong.
 */
import type * as fs from "node:fs";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type * as promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { resolveGatewayInstanceId } from "../../lib/gateway-instance.js";
import { packLease, unpackLease } from "../../lib/lease-format.js";
import type { AcpxProcessLease, LeaseEvent } from "../../lib/lease.js";
import { advanceLease } from "../../lib/lease.js";
import type { LeaseStore } from "../../lib/lease-store.js";
import { createLeaseStore } from "../../lib/lease-store.js";
import { CLOSING, LOST, preparedLease, REPORTED, SEEN, SPAWNED } from "../helpers/lease-samples.js";

const disk = vi.hoisted(() => {
  type Call = (...args: never[]) => unknown;
  const state = { calls: [] as string[], failAt: 0, code: "", done: false };
  const failure = () => Object.assign(new Error(`${state.code}: injected`), { code: state.code });
  /** Whether this call is the one that fails. */
  const isDue = (name: string) => state.calls.push(name) === state.failAt;

  function sync<C extends Call>(name: string, call: C): C {
    const failing = (...args: never[]) => {
      const due = isDue(name);
      if (due && !state.done) throw failure();
      const result = call(...args);
      if (due) throw failure();
      return result;
    };
    return failing as C;
  }

  function failing<C extends Call>(name: string, call: C): C {
    const wrapped = async (...args: never[]) => {
      const due = isDue(name);
      // close(2) gives the descriptor back whatever it answers.
      if (due && !state.done && name !== "file.close") throw failure();
      const result = await call(...args);
      if (!due) return name === "open" ? handle(result as promises.FileHandle) : result;
      if (name === "open") await (result as promises.FileHandle).close();
      throw failure();
    };
    return wrapped as unknown as C;
  }

  /** A file that is open fails like the rest. */
  function handle(file: promises.FileHandle): promises.FileHandle {
    return new Proxy(file, {
      get(target, name: keyof promises.FileHandle & string) {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? failing(`file.${name}`, value.bind(target) as Call) : value;
      },
    });
  }
  return { state, sync, failing };
});

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof promises>();
  const wrap = ([name, call]: [string, unknown]) => [
    name,
    typeof call === "function" ? disk.failing(name, call as () => unknown) : call,
  ];
  return Object.fromEntries(Object.entries(real).map((entry) => wrap(entry))) as typeof promises;
});
vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  return { ...real, realpathSync: { native: disk.sync("realpath", real.realpathSync.native) } };
});

vi.setConfig({ testTimeout: 120_000 });

let directory: string;
let stateDir: string;
beforeEach(() => {
  // A thousand small directories: in memory, where there is such a place.
  const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  directory = mkdtempSync(join(place, "acpx-store-faults-"));
  stateDir = join(directory, "state");
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const at = (...names: string[]) => join(stateDir, "leases", ...names);

function after(lease: AcpxProcessLease, ...events: readonly LeaseEvent[]): AcpxProcessLease {
  return events.reduce((current, event) => {
    const next = advanceLease(current, event, 60);
    if (!next.ok) throw new Error(next.because);
    return next.lease;
  }, lease);
}

/** Writes revisions as they would be there, without a store. */
function put(parent: string, ...revisions: readonly AcpxProcessLease[]): void {
  for (const lease of revisions) {
    mkdirSync(at(parent, lease.leaseId), { recursive: true });
    writeFileSync(at(parent, lease.leaseId, `${lease.revision}.json`), packLease(lease));
  }
}

const open = preparedLease({ sessionKey: "witness" });
const spawned = after(open, SPAWNED);
const closing = after(spawned, CLOSING);
const ended = after(preparedLease({ sessionKey: "ended" }), LOST);
/** Its writer died before it could move the directory. */
const unmoved = after(preparedLease({ sessionKey: "unmoved" }), LOST);
const fresh = preparedLease({ sessionKey: "fresh" });
const damaged = preparedLease({ sessionKey: "damaged" });
const long = after(preparedLease({ sessionKey: "long" }), SPAWNED, REPORTED);
const longAt = (revision: number): AcpxProcessLease => ({ ...long, revision });

interface Operation {
  readonly name: string;
  readonly run: (store: LeaseStore) => Promise<unknown>;
  /** The lease it is about: before, and once it has answered. */
  readonly before?: AcpxProcessLease;
  readonly after?: AcpxProcessLease;
  readonly leaseId?: string;
  /** Many calls that differ in nothing but their path: one errno stands for the others. */
  readonly monotonous?: true;
  /** What it may answer. */
  readonly answers?: (value: unknown) => void;
}

const operations: readonly Operation[] = [
  { name: "opening the store", run: () => createLeaseStore({ stateDir }), monotonous: true },
  {
    name: "opening it anew",
    run: () => createLeaseStore({ stateDir: join(stateDir, "another") }),
    monotonous: true,
  },
  {
    name: "asking for the instance id",
    run: () => resolveGatewayInstanceId({ stateDir }),
    monotonous: true,
    answers: (id) => {
      expect(readFileSync(join(stateDir, "gateway-instance-id"), "utf8")).toBe(`${String(id)}\n`);
    },
  },
  {
    name: "creating a lease",
    run: (store) => store.create(fresh),
    leaseId: fresh.leaseId,
    after: fresh,
  },
  {
    name: "publishing a change",
    run: (store) => store.publish(closing),
    leaseId: open.leaseId,
    before: spawned,
    after: closing,
    answers: (outcome) => {
      expect(outcome).toBe("published");
    },
  },
  {
    name: "publishing an end",
    run: (store) => store.publish(after(spawned, LOST)),
    leaseId: open.leaseId,
    before: spawned,
    after: after(spawned, LOST),
    answers: (outcome) => {
      expect(outcome).toBe("published");
    },
  },
  {
    name: "publishing a change that removes old revisions",
    run: (store) => store.publish(after(longAt(255), SEEN)),
    leaseId: long.leaseId,
    before: longAt(255),
    after: after(longAt(255), SEEN),
    answers: (outcome) => {
      expect(outcome).toBe("published");
    },
  },
  {
    name: "loading an open lease",
    run: (store) => store.load(open.leaseId),
    answers: (lease) => {
      expect(lease).toEqual(spawned);
    },
  },
  {
    name: "loading an ended lease",
    run: (store) => store.load(ended.leaseId),
    answers: (lease) => {
      expect(lease).toEqual(ended);
    },
  },
  {
    name: "listing the open leases",
    run: (store) => store.listOpen(),
    answers(value) {
      const { leases, setAside, newer, unreadable } = value as Awaited<ReturnType<LeaseStore["listOpen"]>>;
      expect(newer).toEqual([]);
      // Each of them is told in one way or another; the unmoved one has ended and is told only if nobody can see that.
      const told = [...leases.map(({ leaseId }) => leaseId), ...setAside, ...unreadable];
      const expected = [open, long, damaged].map(({ leaseId }) => leaseId);
      expect(told.filter((leaseId) => leaseId !== unmoved.leaseId).sort()).toEqual(expected.sort());
      expect([[], [damaged.leaseId]]).toContainEqual(setAside);
      for (const lease of leases) expect([spawned, longAt(255)]).toContainEqual(lease);
    },
  },
  {
    name: "listing the ended leases",
    run: (store) => store.listEnded(),
    answers: (leases) => {
      expect([[], [ended]]).toContainEqual(leases);
    },
  },
  {
    name: "pruning",
    run: (store) => store.prune({ maxEnded: 0 }),
    answers: (pruned) => {
      expect([0, 1]).toContain(pruned);
    },
  },
];

const faults = [
  { code: "EIO", when: "before", done: false },
  { code: "EIO", when: "after", done: true },
  ...["ENOSPC", "EROFS", "EMFILE", "EACCES"].map((code) => ({ code, when: "before", done: false })),
];

/** The state directory at the start, made once and copied for each run. */
async function arrange(): Promise<LeaseStore> {
  const store = await createLeaseStore({ stateDir });
  put("open", open, spawned, longAt(100), longAt(127), longAt(128), longAt(255), unmoved, damaged);
  writeFileSync(at("open", damaged.leaseId, "2.json"), "{");
  put("ended", ended);
  mkdirSync(at("trash", "half", "removed"), { recursive: true });
  return store;
}

async function attempt(run: () => Promise<unknown>): Promise<{ value: unknown } | { error: Error }> {
  try {
    return { value: await run() };
  } catch (error) {
    return { error: error as Error };
  }
}

/** The state directory, something in it, or one of its ancestors. */
function namesItsPath(message: string): boolean {
  const path = /^cannot [a-z ]+ (\/.*) \([A-Z]+\): /.exec(message)?.[1] ?? "nowhere";
  return path.startsWith(stateDir) || stateDir.startsWith(path);
}

/** Without faults: what a second look finds. */
async function inspect(store: LeaseStore, operation: Operation, answered: boolean): Promise<void> {
  if (operation.monotonous) operation.answers?.(await operation.run(store));
  const { leaseId = "", before, after: changed } = operation;
  const found = await store.load(leaseId);
  // A failure says that nothing is known: not that nothing was done.
  expect(answered ? [changed] : [before, changed]).toContainEqual(found);
  if (leaseId !== open.leaseId) expect(await store.load(open.leaseId)).toEqual(spawned);
  if (operation.name !== "pruning") expect(await store.load(ended.leaseId)).toEqual(ended);

  const { leases, newer, unreadable } = await store.listOpen();
  expect([newer, unreadable]).toEqual([[], []]);
  expect(leases.map(({ leaseId }) => leaseId)).not.toContain(unmoved.leaseId);
  expect(readdirSync(at("damaged")).map((name) => name.slice(0, 36))).toEqual([damaged.leaseId]);
  for (const parent of ["open", "ended"])
    for (const id of readdirSync(at(parent)))
      for (const name of readdirSync(at(parent, id))) {
        const unpacked = unpackLease(readFileSync(at(parent, id, name), "utf8"));
        expect(unpacked).toMatchObject({ ok: true, lease: { leaseId: id } });
        if (unpacked.ok) expect(`${unpacked.lease.revision}.json`).toBe(name);
      }

  await store.prune({ now: Date.now() + 2 * 3600 * 1000 });
  expect([readdirSync(at("tmp")), readdirSync(at("trash"))]).toEqual([[], []]);
}

describe.each(operations)("$name", (operation) => {
  test.each(operation.monotonous ? faults.slice(0, 2) : faults)(
    "$code $when a call has done its work: a typed error or a right answer, and nothing is lost",
    async ({ code, done }) => {
      const { state } = disk;
      const template = join(directory, "template");
      const store = await arrange();
      cpSync(stateDir, template, { recursive: true });
      const failed = new Set<string>();
      for (let failAt = 1; ; failAt++) {
        rmSync(stateDir, { recursive: true });
        cpSync(template, stateDir, { recursive: true });
        Object.assign(state, { calls: [], failAt, code, done });
        const outcome = await attempt(() => operation.run(store));
        const call = state.calls[failAt - 1];
        state.failAt = 0;
        const where = `call ${failAt}, ${call ?? "none"}`;
        if ("error" in outcome) {
          expect(outcome.error, where).toMatchObject({ name: "LifecycleError", code: "ERR_STATE_DIR" });
          expect(namesItsPath(outcome.error.message), outcome.error.message).toBe(true);
        } else {
          operation.answers?.(outcome.value);
        }
        await inspect(store, operation, "value" in outcome).catch((error: unknown) => {
          throw new Error(where, { cause: error });
        });
        if (call === undefined) {
          expect("value" in outcome).toBe(true);
          break;
        }
        failed.add(call);
      }
      // The faults were really there.
      expect(failed.size).toBeGreaterThan(1);
    },
  );
});
