import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

import { createKeyedLeaseStore, openAcpxLifecycle, type KeyedStore } from "../../lib/index.js";

let base: string;
let options: { stateDir: string; wrapperRoot: string };
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "acpx-options-"));
  options = { stateDir: join(base, "state"), wrapperRoot: join(base, "wrappers") };
});
afterEach(() => rm(base, { recursive: true }));

/** As a host may have one: entries of text, with compare-and-apply. */
function hostStore(): KeyedStore & { readonly entriesOf: Map<string, string> } {
  const entriesOf = new Map<string, string>();
  return {
    entriesOf,
    register: (key, value) => Promise.resolve(void entriesOf.set(key, value)),
    lookup: (key) => Promise.resolve(entriesOf.get(key)),
    delete: (key) => Promise.resolve(void entriesOf.delete(key)),
    entries: () => Promise.resolve([...entriesOf].map(([key, value]) => ({ key, value }))),
    compareAndApply: (key, expected, next) => {
      const same = entriesOf.get(key) === expected;
      if (same) entriesOf.set(key, next);
      return Promise.resolve(same);
    },
  };
}

it("leases live in the host's own store when it gives one", async () => {
  const keyed = hostStore();
  const leaseStore = createKeyedLeaseStore(keyed);
  await using lifecycle = await openAcpxLifecycle({ ...options, leaseStore });
  const agent = await lifecycle.launch({ command: "sleep", args: ["600"], stdio: "ignore" });
  const lease = await agent.started;
  expect([...keyed.entriesOf.values()].join()).toContain(lease.leaseId);
  expect(await readdir(join(options.stateDir, "leases", "open"))).toEqual([]);
  expect(await agent.end()).toMatchObject({ state: "closed", proof: "subreaper" });
  expect(await leaseStore.load(lease.leaseId)).toMatchObject({ state: "closed" });
});

it.each([
  ["termGraceMs", { termGraceMs: 5 }],
  ["legacy", { legacy: false as const }],
  ["leaseStore", { leaseStore: createKeyedLeaseStore(hostStore()) }],
])("a second opening with another %s is refused by name", async (name, changed) => {
  await using first = await openAcpxLifecycle(options);
  const second = openAcpxLifecycle({ ...options, ...changed });
  await expect(second).rejects.toMatchObject({
    code: "ERR_INVALID_OPTION",
    message: `The lifecycle of ${first.stateDir} is open in this process with another ${name}: use the same, or another state directory.`,
  });
});

it("a lifecycle that was opened twice stays until it was disposed of twice, and a third time changes nothing", async () => {
  const first = await openAcpxLifecycle(options);
  const second = await openAcpxLifecycle(options);
  await first[Symbol.asyncDispose]();
  const third = await openAcpxLifecycle(options);
  expect(third).toBe(second);
  await third[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  await using fresh = await openAcpxLifecycle(options);
  expect(fresh).not.toBe(first);
  await second[Symbol.asyncDispose]();
  await using joined = await openAcpxLifecycle(options);
  expect(joined).toBe(fresh);
});

it("a disposed lifecycle says so, whatever it is asked", async () => {
  const lifecycle = await openAcpxLifecycle(options);
  await lifecycle[Symbol.asyncDispose]();
  const disposed = { code: "ERR_DISPOSED" };
  await expect(lifecycle.launch({ command: "sleep", args: ["600"] })).rejects.toMatchObject(disposed);
  await expect(lifecycle.reap()).rejects.toMatchObject(disposed);
  await expect(lifecycle.status()).rejects.toMatchObject(disposed);
});

it("an end asked for before the agent has started waits for it, and resolves when it is gone", async () => {
  await using lifecycle = await openAcpxLifecycle(options);
  const agent = await lifecycle.launch({ command: "sleep", args: ["600"], stdio: "ignore" });
  expect(await agent.end()).toMatchObject({ state: "closed", proof: "subreaper" });
  expect(await agent.ended).toMatchObject({ settlement: { state: "closed" } });
});
