import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { disownsSession } from "../../lib/adapter-session.js";
import type { Evidence, LiveEvidence } from "../../lib/evidence.js";
import { proveTree } from "../../lib/process-tree.js";
import { isOwnershipProof, judge, judgeMember, type Verdict } from "../../lib/verdict.js";
import {
  BOOT,
  DENIED,
  INSTANCE,
  LEASE,
  MEMBER_READING,
  NIL,
  OBSERVER,
  OTHER_INSTANCE,
  OTHER_LEASE,
  ROOT,
  ROOT_READING,
  environment,
  image,
  leased,
  live,
  token,
} from "../helpers/evidence.js";
import { ADAPTER_INODE, Kernel, type Event } from "../helpers/kernel.js";

const options = { wrapperRoots: [ROOT] };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("fork" as const),
      parent: fc.nat(20),
      pid: fc.nat(20),
      clearEnvironment: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom("setsid" as const, "exit" as const), process: fc.nat(20) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("tick" as const, "see" as const) }) },
);
const history = fc.array(event, { maxLength: 60 });

describe("in every history of a kernel that reuses its numbers at once", () => {
  const world = fc.record({
    hasPidfs: fc.boolean(),
    before: history,
    bursts: fc.array(fc.array(event, { maxLength: 12 }), { maxLength: 8 }),
    openFirst: fc.boolean(),
  });

  test("whoever is proven descends from the lease's root", () => {
    fc.assert(
      fc.property(world, ({ hasPidfs, before, bursts, openFirst }) => {
        const kernel = new Kernel(hasPidfs);
        for (const next of before) kernel.apply(next);
        const { root, others, of } = kernel.gather(bursts, openFirst);
        const tree = proveTree(kernel.lease, { root, others }, options);
        for (const { proof } of tree.members) expect(of.get(proof.pin)?.ours).toBe(true);
      }),
      { numRuns: 6_000 },
    );
  });

  test("nobody is called foreign who carries the lease or is in the session that the adapter founded", () => {
    fc.assert(
      fc.property(world, ({ hasPidfs, before, bursts, openFirst }) => {
        const kernel = new Kernel(hasPidfs);
        for (const next of before) kernel.apply(next);
        const { root, others, of } = kernel.gather(bursts, openFirst);
        const { unproven } = proveTree(kernel.lease, { root, others }, options);
        for (const { reading, verdict } of unproven) {
          const pin = others.find((other) => other.reading === reading)?.pin ?? {};
          const process = of.get(pin);
          if (verdict.kind !== "foreign" || process === undefined || !kernel.processes.includes(process))
            continue;
          expect(process.ours && (process.carries || process.founder === ADAPTER_INODE)).toBe(false);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("while the supervisor lives and nothing moves, everybody of the tree is proven", () => {
    fc.assert(
      fc.property(fc.boolean(), history, (hasPidfs, before) => {
        const kernel = new Kernel(hasPidfs);
        for (const next of before) kernel.apply(next);
        const { root, others, of } = kernel.gather([]);
        const tree = proveTree(kernel.lease, { root, others }, options);
        fc.pre(tree.root.kind === "owned");
        const proven = new Set(tree.members.map(({ proof }) => of.get(proof.pin)));
        for (const process of kernel.processes) expect(proven.has(process)).toBe(process.ours);
      }),
      { numRuns: 2_000 },
    );
  });

  test("withholding evidence proves nobody else, unless it speaks against the session", () => {
    fc.assert(
      fc.property(world, fc.infiniteStream(fc.boolean()), ({ hasPidfs, before, bursts, openFirst }, keep) => {
        const kernel = new Kernel(hasPidfs);
        for (const next of before) kernel.apply(next);
        const { root, others } = kernel.gather(bursts, openFirst);
        const pins = (looks: readonly LiveEvidence[]) =>
          proveTree(kernel.lease, { root, others: looks }, options).members.map(({ proof }) => proof.pin);
        const some = others.filter(
          ({ reading }) => disownsSession(kernel.lease, reading) || keep.next().value,
        );
        expect(pins(others)).toEqual(expect.arrayContaining(pins(some)));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("whatever is read", () => {
  const id = (own: string, other: string) => fc.constantFrom(null, own, other, NIL, "");
  const environments = fc.oneof(
    fc.constant(DENIED),
    fc
      .tuple(id(LEASE, OTHER_LEASE), id(INSTANCE, OTHER_INSTANCE))
      .map(([lease, instance]) => environment(lease, instance)),
  );
  const executables = fc.oneof(
    fc.constant(DENIED),
    fc.constantFrom(image(`${ROOT}/x`), image("/bin/sh"), image("")),
  );
  const numbers = fc.constantFrom(1, 100, 200, 300);
  const tokens = fc.oneof(
    fc.constantFrom(
      ROOT_READING.token,
      MEMBER_READING.token,
      token(1000),
      token(1010, 70200),
      `darwin;boot=${BOOT};unique=1`,
    ),
    fc.string(),
  );
  const looks = fc
    .record({
      pid: numbers,
      ppid: numbers,
      pgid: numbers,
      sid: numbers,
      uid: fc.constantFrom(0, 1000),
      token: tokens,
      executable: executables,
      environment: environments,
    })
    .chain((reading) =>
      fc.boolean().map((confirmed) => live({ ...ROOT_READING, ...reading }, { confirmed })),
    );
  const leases = fc
    .record(
      {
        rootPid: fc.constantFrom(0, 1, 100, -1),
        rootToken: tokens,
        adapterPid: numbers,
        adapterToken: tokens,
        seenTicks: fc.nat(),
        launch: fc.constantFrom("wrapper" as const, "direct" as const),
      },
      { requiredKeys: ["rootPid"] },
    )
    .map((changes) => leased({ rootToken: undefined, ...changes }));

  const names = (verdict: Verdict, name: string) =>
    verdict.checks.find((check) => check.name === name)?.outcome;

  test("a root is owned only by identity, or by both ids and the executable; never against a veto", () => {
    fc.assert(
      fc.property(leases, looks, (lease, look) => {
        const verdict = judge(lease, look, options);
        if (verdict.kind !== "owned") return;
        const carries = names(verdict, "lease-id") === "match" && names(verdict, "instance-id") === "match";
        const byEnvironment = carries && names(verdict, "executable") === "match";
        expect(names(verdict, "identity") === "match" || byEnvironment).toBe(true);
        expect(look.reading.uid).toBe(OBSERVER.uid);
        for (const name of ["lease-id", "instance-id", "executable"])
          expect(names(verdict, name)).not.toBe("mismatch");
      }),
      { numRuns: 2_000 },
    );
  });

  test("nobody who carries another lease or instance, or has another uid, is ever proven", () => {
    fc.assert(
      fc.property(leases, looks, fc.array(looks, { maxLength: 6 }), (lease, root, others) => {
        const tree = proveTree(lease, { root, others }, options);
        for (const { reading, proof } of tree.members) {
          expect(isOwnershipProof(proof)).toBe(true);
          expect(reading.uid).toBe(OBSERVER.uid);
          const values = reading.environment.ok ? Object.values(reading.environment.value) : [];
          expect(values).not.toContain(OTHER_LEASE);
          expect(values).not.toContain(OTHER_INSTANCE);
        }
        const judged = tree.members.length + tree.unproven.length + tree.detached.length;
        expect(judged).toBeLessThanOrEqual(others.length + 1);
      }),
      { numRuns: 2_000 },
    );
  });

  test("what could not be looked at is unknown, and only an absent process is gone", () => {
    const blind: fc.Arbitrary<Evidence> = fc.record({
      kind: fc.constant("unreadable" as const),
      observer: fc.constant(OBSERVER),
      fault: fc.record({
        ok: fc.constant(false as const),
        reason: fc.constantFrom(
          "denied" as const,
          "gone" as const,
          "unsupported" as const,
          "garbled" as const,
        ),
        call: fc.string(),
      }),
    });
    fc.assert(
      fc.property(leases, blind, looks, (lease, evidence, look) => {
        expect(judge(lease, evidence, options).kind).toBe("unknown");
        expect(judgeMember(lease, evidence, { kind: "none" }).kind).toBe("unknown");
        expect(judge(lease, look, options).kind).not.toBe("gone");
      }),
    );
  });
});
