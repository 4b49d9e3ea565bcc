import { build } from "vite";
import { describe, expect, expectTypeOf, test } from "vitest";

import {
  canSeeSessionRow,
  canonicalSessionKey,
  createAgentToAgentPolicy,
  decideSessionRowAccess,
  effectiveVisibility,
  filterVisibleRows,
  normalizeAcpSessionOwner,
  parseSessionKey,
  type AgentToAgentPolicy,
  type SessionVisibilityInput,
} from "../../lib/visibility.js";
import { matrix } from "../cases/visibility-matrix.js";
import { allowRows, keyRows } from "../cases/visibility-policies.js";
import { samples, type SampleRow } from "../cases/visibility-samples.js";

const R = "agent:main:main";
const ACTIONS = ["list", "history", "send", "status"] as const;
const PRESETS = ["seed", "openclaw-2026.9"] as const;
const GRANTED = new Set<string>(["own", "owned", "same_agent", "agent_to_agent", "main_session"]);

function question(sample: SampleRow, rules: (typeof PRESETS)[number]) {
  const { a2a = "off", mode, requesterAgentId, defaultAgentId, main } = sample;
  return {
    requesterSessionKey: sample.requester ?? R,
    row: { agentId: "", ...sample.row },
    visibility: effectiveVisibility({ configured: mode, sandboxed: sample.sandboxed ?? false, rules }),
    a2aPolicy: createAgentToAgentPolicy(
      a2a === "off" ? { enabled: false, rules } : { enabled: true, allow: a2a, rules },
    ),
    requesterAgentId,
    defaultAgentId,
    mainSessionKey: main,
    rules,
  };
}

describe.each(PRESETS)("preset %s", (rules) => {
  test.each(samples)("$name, $mode", (sample) => {
    const expected = rules === "seed" ? sample.seed : (sample.release ?? sample.seed);
    const input = question(sample, rules);
    for (const action of ACTIONS) {
      const access = decideSessionRowAccess({ ...input, action });
      expect(access.allowed ? access.because : access.reasonCode).toBe(expected);
      if (!access.allowed) expect(access.message).toMatch(/^[A-Z][^.]*(\.[^. ][^.]*)*\.$/);
    }
    expect(canSeeSessionRow(input)).toBe(GRANTED.has(expected));
    expect(filterVisibleRows({ ...input, rows: [input.row] })).toEqual(
      GRANTED.has(expected) ? [input.row] : [],
    );
  });
});

describe("the matrix", () => {
  const MODES = ["self", "tree", "agent", "all"] as const;
  const columns = (
    row: (typeof matrix)[number]["row"],
    rules: (typeof PRESETS)[number],
    sandboxed: boolean,
  ) =>
    [false, true]
      .map((enabled) => {
        const a2aPolicy = createAgentToAgentPolicy({ enabled, rules });
        const cells = MODES.map((configured) => {
          const visibility = effectiveVisibility({ configured, sandboxed, rules });
          return canSeeSessionRow({ requesterSessionKey: R, row, visibility, a2aPolicy, rules }) ? "Y" : "n";
        });
        return cells.join("");
      })
      .join(" ");

  test.each(matrix)("$name", ({ row, seed, release, sandboxed }) => {
    expect(columns(row, "seed", false)).toBe(seed);
    expect(columns(row, "openclaw-2026.9", false)).toBe(release);
    expect(columns(row, "seed", true)).toBe(sandboxed.seed);
    expect(columns(row, "openclaw-2026.9", true)).toBe(sandboxed.release);
  });
});

test("filtering keeps order, identity and repetitions of rows", () => {
  const child = { key: "agent:codex:acp:1", agentId: "codex", spawnedBy: R, title: "child" };
  const stranger = { key: "agent:codex:acp:2", agentId: "codex", title: "stranger" };
  const a2aPolicy = createAgentToAgentPolicy({ enabled: false });
  const rows = filterVisibleRows({
    rows: [child, stranger, child],
    requesterSessionKey: R,
    visibility: "tree",
    a2aPolicy,
  });
  expect(rows).toEqual([child, child]);
  expect(rows[0]).toBe(child);
});

describe("effectiveVisibility", () => {
  test.each([
    ["self", "self", "tree"],
    ["tree", "tree", "tree"],
    ["agent", "tree", "tree"],
    ["all", "tree", "tree"],
  ] as const)("a sandbox makes %s into %s (2026.9: %s)", (configured, seed, release) => {
    expect(effectiveVisibility({ configured, sandboxed: true })).toBe(seed);
    expect(effectiveVisibility({ configured, sandboxed: true, rules: "openclaw-2026.9" })).toBe(release);
    expect(effectiveVisibility({ configured, sandboxed: false })).toBe(configured);
  });
});

describe("createAgentToAgentPolicy", () => {
  test.each(allowRows)("$name", ({ allow, names, not }) => {
    const policy = createAgentToAgentPolicy({ enabled: true, allow });
    for (const id of names) expect(policy.matchesAllow(id), id).toBe(true);
    for (const id of not) expect(policy.matchesAllow(id), id).toBe(false);
  });

  test("both agents have to be on the list, an agent itself never", () => {
    const policy = createAgentToAgentPolicy({ enabled: true, allow: ["main"] });
    expect(policy.isAllowed("main", "ops")).toBe(false);
    expect(policy.isAllowed("ops", "main")).toBe(false);
    expect(policy.isAllowed("ops", "ops")).toBe(true);
    expect(createAgentToAgentPolicy({ enabled: false }).isAllowed("ops", "ops")).toBe(true);
  });

  test.each([true, false, undefined, null, "true", "false", 1, 0, {}])("enabled: %j", (enabled) => {
    expect(createAgentToAgentPolicy({ enabled }).enabled).toBe(enabled === true);
    expect(createAgentToAgentPolicy({ enabled, rules: "openclaw-2026.9" }).enabled).toBe(enabled !== false);
  });

  test("a hostile pattern of 10,000 stars answers in under 50 ms", () => {
    const policy = createAgentToAgentPolicy({
      enabled: true,
      allow: [`${"a*".repeat(10_000)}b`, `${"*".repeat(10_000)}b`],
    });
    const started = performance.now();
    expect(policy.matchesAllow("a".repeat(20_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(50);
  });
});

describe("session keys", () => {
  test.each(keyRows)("$name", ({ key, canonical, agentId }) => {
    expect(canonicalSessionKey(key)).toBe(canonical);
    const parsed = parseSessionKey(key);
    expect(parsed.kind === "agent" ? parsed.agentId : parsed.kind).toBe(agentId);
  });
});

describe("bad input is a TypeError that names the field", () => {
  const good = {
    requesterSessionKey: R,
    row: { key: R, agentId: "main" },
    visibility: "tree",
    a2aPolicy: createAgentToAgentPolicy({ enabled: false }),
    action: "list",
  };
  test.each([
    ["visibility", { visibility: "everything" }],
    ["visibility", { visibility: undefined }],
    ["visibility", { visibility: "toString" }],
    ["requesterSessionKey", { requesterSessionKey: undefined }],
    ["requesterSessionKey", { requesterSessionKey: "  " }],
    ["row.key", { row: { key: 7, agentId: "main" } }],
    ["a2aPolicy", { a2aPolicy: undefined }],
    ["a2aPolicy", { a2aPolicy: {} }],
    ["rules", { rules: "latest" }],
    ["action", { action: "delete" }],
  ])("%s in %j", (field, change) => {
    const input = { ...good, ...change } as unknown as Parameters<typeof decideSessionRowAccess>[0];
    expect(() => decideSessionRowAccess(input)).toThrow(TypeError);
    expect(() => decideSessionRowAccess(input)).toThrow(field);
  });

  test.each([null, "main", { length: 1 }, 7])("allow: %j", (allow) => {
    expect(() => createAgentToAgentPolicy({ enabled: true, allow: allow as unknown as string[] })).toThrow(
      new TypeError("allow must be an array of agent ids or patterns."),
    );
  });

  test("an entry of allow that is no string, and a sandbox that is neither on nor off", () => {
    expect(() => createAgentToAgentPolicy({ allow: ["a", 7] as string[] })).toThrow("allow[1]");
    expect(() => effectiveVisibility({ configured: "all", sandboxed: "no" as unknown as boolean })).toThrow(
      "sandboxed",
    );
  });
});

describe("normalizeAcpSessionOwner", () => {
  const facts = { sessionKey: "agent:codex:acp:1", gatewayInstanceId: "g", createdAt: 5 };

  test("the owner is who spawned the session", () => {
    expect(normalizeAcpSessionOwner({ ...facts, spawnedBy: R, parentSessionKey: " " })).toEqual({
      ...facts,
      spawnedBy: R,
      ownerSessionKey: R,
      agentId: "codex",
      backend: "acpx",
    });
  });

  test("else the session itself, unless the owner is named", () => {
    expect(normalizeAcpSessionOwner(facts).ownerSessionKey).toBe(facts.sessionKey);
    expect(normalizeAcpSessionOwner({ ...facts, spawnedBy: "x", ownerSessionKey: R }).ownerSessionKey).toBe(
      R,
    );
  });

  test.each([
    ["sessionKey", { sessionKey: "" }],
    ["agentId", { sessionKey: "agent::x" }],
    ["agentId", { sessionKey: "main" }],
    ["gatewayInstanceId", { gatewayInstanceId: "" }],
    ["createdAt", { createdAt: Number.NaN }],
    ["spawnedBy", { spawnedBy: 7 as unknown as string }],
  ])("%s cannot be %j", (field, change) => {
    expect(() => normalizeAcpSessionOwner({ ...facts, ...change })).toThrow(TypeError);
    expect(() => normalizeAcpSessionOwner({ ...facts, ...change })).toThrow(field);
  });
});

test("the input type is the seed's", () => {
  type Seed = {
    requesterSessionKey: string;
    row: {
      key: string;
      agentId: string;
      ownerSessionKey?: string;
      spawnedBy?: string;
      parentSessionKey?: string;
    };
    visibility: "self" | "tree" | "agent" | "all";
    a2aPolicy: AgentToAgentPolicy;
  };
  expectTypeOf<Seed>().toExtend<SessionVisibilityInput>();
  expectTypeOf<Seed>().toExtend<Parameters<typeof canSeeSessionRow>[0]>();
  expectTypeOf(canSeeSessionRow).returns.toBeBoolean();
});

test("a browser bundle of the module needs nothing of node", async () => {
  const bundle = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      lib: {
        entry: `${import.meta.dirname}/../../lib/visibility.ts`,
        formats: ["es"],
        fileName: "visibility",
      },
      rolldownOptions: { external: /^node:/ },
    },
  });
  const outputs = (Array.isArray(bundle) ? bundle : [bundle]).flatMap((part) =>
    "output" in part ? part.output : [],
  );
  const chunks = outputs.filter((output) => output.type === "chunk");
  expect(chunks.map(({ imports, dynamicImports }) => [imports, dynamicImports])).toEqual([[[], []]]);
  expect(chunks[0]?.exports).toContain("decideSessionRowAccess");
  expect(chunks[0]?.code).not.toMatch(/\brequire\(|node:|process\./);
});
