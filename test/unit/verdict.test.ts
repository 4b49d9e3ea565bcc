import { describe, expect, test } from "vitest";

import { isOwnershipProof, judge, judgeMember } from "../../lib/verdict.js";
import { rootRows } from "../cases/verdict-root.js";
import { ROOT, ROOT_READING, leased, live } from "../helpers/evidence.js";

const options = { wrapperRoots: [ROOT] };

describe("judge", () => {
  test.each(rootRows)("$name: $verdict", (row) => {
    const look = live({ ...ROOT_READING, ...row.reading }, row.look);
    const held = row.heldSinceLaunch ? { launchPin: look.pin } : {};
    const verdict = judge(leased(row.lease), row.evidence ?? look, { ...options, ...row.options, ...held });
    expect(verdict.kind).toBe(row.verdict);
    const outcomes = Object.fromEntries(verdict.checks.map(({ name, outcome }) => [name, outcome]));
    expect(outcomes).toMatchObject(row.checks ?? {});
    for (const { detail } of verdict.checks) expect(detail).toMatch(/^[A-Z].*\.$/s);
    if (verdict.kind !== "owned") expect(verdict.because).toMatch(/^[A-Z].*\.$/s);
    else expect(verdict.proof).toMatchObject({ pin: look.pin, basis: row.basis ?? "identity" });
  });
});

describe("a proof", () => {
  test("is bound to the handle, the process and the lease it was made for", () => {
    const look = live(ROOT_READING);
    const verdict = judge(leased(), look, options);
    if (verdict.kind !== "owned") throw new Error(verdict.because);
    expect(verdict.proof.pin).toBe(look.pin);
    expect(verdict.proof.identity).toEqual({ pid: ROOT_READING.pid, token: ROOT_READING.token });
    expect(verdict.proof.leaseId).toBe(leased().leaseId);
    expect(isOwnershipProof(verdict.proof)).toBe(true);
  });

  test("cannot be copied, altered or made up", () => {
    const verdict = judge(leased(), live(ROOT_READING), options);
    if (verdict.kind !== "owned") throw new Error(verdict.because);
    const { proof } = verdict;
    expect(isOwnershipProof({ ...proof })).toBe(false);
    expect(isOwnershipProof(structuredClone(proof))).toBe(false);
    expect(isOwnershipProof(undefined)).toBe(false);
    expect(Object.isFrozen(proof) && Object.isFrozen(proof.identity)).toBe(true);
  });

  test("of one lease makes nobody a descendant under another", () => {
    const parent = live(ROOT_READING);
    const child = live({
      ...ROOT_READING,
      pid: 101,
      ppid: 100,
      environment: { ok: false, reason: "denied", call: "open" },
    });
    const verdict = judge(leased(), parent, options);
    if (verdict.kind !== "owned") throw new Error(verdict.because);
    const kinship = { kind: "descendant", parent } as const;
    expect(judgeMember(leased(), child, kinship, verdict.proof).kind).toBe("owned");
    const other = leased({ leaseId: "99999999-9999-4999-8999-999999999999" });
    expect(judgeMember(other, child, kinship, verdict.proof).kind).toBe("unknown");
    expect(judgeMember(leased(), child, kinship).kind).toBe("unknown");
    expect(
      judgeMember(leased(), child, { kind: "descendant", parent: live(ROOT_READING) }, verdict.proof).kind,
    ).toBe("unknown");
  });
});
