import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  canSeeSessionRow,
  canonicalSessionKey,
  createAgentToAgentPolicy,
  decideSessionRowAccess,
  effectiveVisibility,
  filterVisibleRows,
  parseSessionKey,
  type SessionVisibility,
} from "../../lib/visibility.js";

const agents = fc.constantFrom("main", "codex", "Ops", "");
const rests = fc.constantFrom(
  "main",
  "MAIN",
  "acp:1",
  "subagent:2",
  "dashboard:incognito-3",
  "telegram:4",
  "",
);
const keys = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom("agent", "Agent", " agent"), agents, rests)
      .map((parts) => parts.join(":")),
  },
  { weight: 1, arbitrary: fc.constantFrom("global", "unknown", "main", "agent:", "agent::x", "session:x") },
  { weight: 1, arbitrary: fc.string() },
);
const requesters = keys.filter((key) => key.trim() !== "");
const relation = fc.option(keys, { nil: undefined });
const row = fc.record({
  key: keys,
  agentId: agents,
  ownerSessionKey: relation,
  spawnedBy: relation,
  parentSessionKey: relation,
});
const rules = fc.constantFrom("seed" as const, "openclaw-2026.9" as const);
const policy = fc.record({
  enabled: fc.constantFrom<unknown>(true, false, undefined, "yes"),
  allow: fc.array(fc.constantFrom("main", "codex", "o*", "*", "", "nobody"), { maxLength: 3 }),
});
const visibilities = fc.constantFrom<SessionVisibility>("self", "tree", "agent", "all");
const question = fc
  .record({
    requesterSessionKey: requesters,
    row,
    visibility: visibilities,
    rules,
    policy,
    requesterAgentId: fc.option(agents, { nil: undefined }),
    defaultAgentId: fc.option(agents, { nil: undefined }),
    mainSessionKey: relation,
  })
  .map(({ policy: config, ...input }) => ({
    ...input,
    a2aPolicy: createAgentToAgentPolicy({ ...config, rules: input.rules }),
  }));

const runs = { numRuns: 3_000 };

test("self <= tree <= all, agent <= all, and in the seed preset tree <= agent", () => {
  fc.assert(
    fc.property(question, (input) => {
      const sees = (visibility: SessionVisibility) => canSeeSessionRow({ ...input, visibility });
      const isWithin = (narrow: SessionVisibility, wide: SessionVisibility) => !sees(narrow) || sees(wide);
      expect([isWithin("self", "tree"), isWithin("tree", "all"), isWithin("agent", "all")]).toEqual([
        true,
        true,
        true,
      ]);
      if (input.rules === "seed") expect(isWithin("tree", "agent")).toBe(true);
    }),
    runs,
  );
});

test("the answer is the same for list, history, send and status, and for one row or many", () => {
  fc.assert(
    fc.property(question, (input) => {
      const actions = ["list", "history", "send", "status"] as const;
      const answers = actions.map((action) => decideSessionRowAccess({ ...input, action }));
      const outcomes = new Set(
        answers.map((access) => (access.allowed ? access.because : access.reasonCode)),
      );
      expect(outcomes.size).toBe(1);
      const allowed = answers[0]?.allowed ?? false;
      expect(canSeeSessionRow(input)).toBe(allowed);
      expect(filterVisibleRows({ ...input, rows: [input.row] })).toHaveLength(allowed ? 1 : 0);
    }),
    runs,
  );
});

test("no other field of a row, and no other row, changes the answer", () => {
  const status = fc.record({ status: fc.string(), updatedAt: fc.integer(), kind: fc.string() });
  fc.assert(
    fc.property(question, fc.array(fc.tuple(row, status), { maxLength: 8 }), (input, listed) => {
      const rows = listed.map(([fields, more]) => ({ ...fields, ...more }));
      const visible = filterVisibleRows({ ...input, rows });
      const alone = rows.filter(({ key, agentId, ownerSessionKey, spawnedBy, parentSessionKey }) =>
        canSeeSessionRow({ ...input, row: { key, agentId, ownerSessionKey, spawnedBy, parentSessionKey } }),
      );
      expect(visible).toEqual(alone);
      expect(filterVisibleRows({ ...input, rows: rows.toReversed() })).toEqual(alone.toReversed());
    }),
    runs,
  );
});

test("an owned row is visible in tree, agent and all, incognito keys excepted", () => {
  fc.assert(
    fc.property(
      question,
      fc.constantFrom("ownerSessionKey", "spawnedBy", "parentSessionKey"),
      (input, field) => {
        fc.pre(!/incognito/i.test(input.row.key));
        const owned = { ...input.row, [field]: ` ${input.requesterSessionKey} ` };
        for (const visibility of ["tree", "agent", "all"] as const) {
          expect(canSeeSessionRow({ ...input, row: owned, visibility, rules: "seed" })).toBe(true);
        }
      },
    ),
    runs,
  );
});

test("a sandbox never widens what the seed preset shows", () => {
  fc.assert(
    fc.property(question, (input) => {
      const visibility = effectiveVisibility({ configured: input.visibility, sandboxed: true });
      const seed = { ...input, rules: "seed" as const };
      if (canSeeSessionRow({ ...seed, visibility })) expect(canSeeSessionRow(seed)).toBe(true);
    }),
    runs,
  );
});

describe("session keys", () => {
  test("canonicalising twice is canonicalising once, and changes nobody's kind", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          keys,
          fc.string({ unit: "binary" }).map((rest) => `agent:${rest}`),
        ),
        (key) => {
          const canonical = canonicalSessionKey(key);
          expect(canonicalSessionKey(canonical)).toBe(canonical);
          expect(parseSessionKey(canonical)).toEqual(parseSessionKey(key));
        },
      ),
      runs,
    );
  });
});

test("a pattern matches what the regular expression of the same meaning matches", () => {
  const letters = fc.constantFrom("a", "b", "*", "A");
  fc.assert(
    fc.property(fc.array(letters), fc.array(fc.constantFrom("a", "b", "B")), (pattern, id) => {
      fc.pre(pattern.includes("*"));
      const expected = new RegExp(`^${pattern.join("").replaceAll(/\*+/g, ".*")}$`, "i").test(id.join(""));
      const policy = createAgentToAgentPolicy({ enabled: true, allow: [pattern.join("")] });
      expect(policy.matchesAllow(id.join(""))).toBe(expected);
    }),
    runs,
  );
});
