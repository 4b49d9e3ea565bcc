import { describe, expect, test } from "vitest";

import type { Evidence, LiveEvidence } from "../../lib/evidence.js";
import type { AcpxProcessLease } from "../../lib/lease.js";
import { candidatesFor, childrenFirst, descendantsOf, proveTree } from "../../lib/process-tree.js";
import { isOwnershipProof } from "../../lib/verdict.js";
import { proofRows, type ProofRow } from "../cases/process-tree-proofs.js";
import { candidateRows } from "../cases/process-tree-tables.js";
import {
  CLEARED,
  DENIED,
  MEMBER_READING,
  OBSERVER,
  OTHER_LEASE,
  ROOT,
  ROOT_READING,
  image,
  leased,
  live,
  table,
  token,
} from "../helpers/evidence.js";

function rootOf({ root = "gone", rootReading }: ProofRow): Evidence {
  if (root === "gone") return { kind: "absent", observer: OBSERVER };
  if (root === "alive") return live({ ...ROOT_READING, ...rootReading });
  const stranger = { token: token(9000, 90100), executable: image("/usr/bin/vim"), environment: CLEARED };
  return live({ ...ROOT_READING, ppid: 1, ...stranger, ...rootReading });
}

describe("proveTree", () => {
  test.each(proofRows)("$name", (row) => {
    const others = row.others.map(({ confirmed = true, ...reading }) =>
      live({ ...MEMBER_READING, ...reading }, { confirmed }),
    );
    const tree = proveTree(leased(row.lease), { root: rootOf(row), others }, { wrapperRoots: [ROOT] });
    expect(tree.members.map(({ reading, proof }) => [reading.pid, proof.basis])).toEqual(row.members);
    expect(tree.detached.map(({ pid }) => pid).sort((a, b) => a - b)).toEqual(row.detached ?? []);
    const verdicts = tree.unproven.map(({ reading, verdict }) => [reading.pid, verdict.kind]);
    expect(Object.fromEntries(verdicts)).toEqual(row.unproven ?? {});
    for (const { proof } of tree.members) expect(isOwnershipProof(proof)).toBe(true);
  });

  test("says whom it could not look at, and forgets who is gone", () => {
    const fault = { kind: "unreadable", observer: OBSERVER, fault: DENIED } as const;
    const others = [fault, { kind: "absent", observer: OBSERVER } as const];
    const { root, ...rest } = proveTree(leased(), { root: fault, others }, { wrapperRoots: [ROOT] });
    expect(root.kind).toBe("unknown");
    expect(rest).toEqual({ members: [], detached: [], unproven: [], unreadable: [DENIED] });
  });

  test("lists the root once, last, when it is among the others as well", () => {
    const root = live(ROOT_READING);
    const others = [live(ROOT_READING), live({ ...MEMBER_READING, pid: 7, ppid: 100 })];
    const tree = proveTree(leased(), { root, others }, { wrapperRoots: [ROOT] });
    expect(tree.members.map(({ reading }) => reading.pid)).toEqual([7, 100]);
  });

  describe("with a member of an earlier gathering, orphaned since,", () => {
    const cleared = { sid: 7, environment: CLEARED };
    const pin = {};
    const before = live({ ...MEMBER_READING, ...cleared, ppid: 100 }, { pin });
    const earlier = proveTree(
      leased(),
      { root: live(ROOT_READING), others: [before] },
      { wrapperRoots: [ROOT] },
    );
    const [member] = earlier.members;
    const newborn = live({ ...MEMBER_READING, ...cleared, pid: 301, ppid: 300, token: token(1600, 70301) });
    const gather = (lease: AcpxProcessLease, orphan: LiveEvidence, proof = member?.proof) => {
      const known = proof === undefined ? [] : [{ evidence: orphan, proof }];
      const evidence = { root: { kind: "absent", observer: OBSERVER } as const, others: [newborn], known };
      return proveTree(lease, evidence, { wrapperRoots: [ROOT] }).members.map(({ reading }) => reading.pid);
    };
    const orphan = { ...MEMBER_READING, ...cleared };

    test("it is still a member, and so is its new child", () => {
      expect(gather(leased(), live(orphan, { pin }))).toEqual([301, 300]);
    });

    test("what was read through another handle does not count", () => {
      expect(gather(leased(), live(orphan))).toEqual([]);
    });

    test("what was proven for another lease does not count", () => {
      expect(gather(leased({ leaseId: OTHER_LEASE }), live(orphan, { pin }))).toEqual([]);
    });

    test("a proof that was copied does not count", () => {
      if (member === undefined) throw new Error("the member was not proven before");
      expect(gather(leased(), live(orphan, { pin }), { ...member.proof })).toEqual([]);
    });
  });

  test("walks a chain of 20,000 parents in one pass", () => {
    const others = Array.from({ length: 20_000 }, (_, depth) =>
      live({ ...MEMBER_READING, pid: 1_000 + depth, ppid: depth === 0 ? 100 : 999 + depth, sid: 7 }),
    ).reverse();
    const tree = proveTree(leased(), { root: live(ROOT_READING), others }, { wrapperRoots: [ROOT] });
    expect(tree.members.map(({ reading }) => reading.pid)).toEqual([
      ...Array.from({ length: 20_000 }, (_, depth) => 20_999 - depth),
      100,
    ]);
  });
});

describe("candidatesFor", () => {
  test.each(candidateRows)("$name", (row) => {
    const lease = leased("lease" in row ? row.lease : {});
    expect(candidatesFor(lease, table(row.table)).sort((a, b) => a - b)).toEqual(row.candidates);
  });
});

test("descendants leave out the ancestors themselves, even in a loop", () => {
  const snapshot = table([
    [10, 12, 10, 10],
    [11, 10, 10, 10],
    [12, 11, 10, 10],
    [13, 9, 9, 9],
  ]);
  expect(descendantsOf(snapshot, [10])).toEqual([11, 12]);
  expect(descendantsOf(snapshot, [404])).toEqual([]);
});

test("children come before their parents, younger orphans before older ones, loops last", () => {
  const of = (pid: number, ppid: number, born = 1) => ({ reading: { pid, ppid, token: token(born) } });
  const members = [of(1, 0), of(2, 1), of(3, 1), of(4, 2), of(8, 9), of(9, 8), of(7, 7), of(5, 0, 2)];
  expect(childrenFirst(members).map(({ reading }) => reading.pid)).toEqual([5, 3, 4, 7, 2, 1, 8, 9]);
});
