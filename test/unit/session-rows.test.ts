import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { ownedSessions, type OwnedSessions } from "../../lib/owned-sessions.js";
import { backgroundTaskRelation, sessionRelation, subagentRelation } from "../../lib/session-relation.js";
import { openSessionRows, type SessionRows } from "../../lib/session-rows.js";
import { canSeeSessionRow, createAgentToAgentPolicy } from "../../lib/visibility.js";

const MAIN = "agent:main:main";
const CHILD = "agent:codex:acp:1";
const INSTANCE = "22222222-2222-4222-8222-222222222222";
const LEASE = "11111111-1111-4111-8111-111111111111";

let stateDir: string;
let rows: SessionRows;
let sessions: OwnedSessions;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "acpx-rows-"));
  rows = await openSessionRows(stateDir);
  sessions = ownedSessions(rows, INSTANCE);
});
afterEach(() => rm(stateDir, { recursive: true }));

const started = () => Promise.resolve("started");
const ensure = (sessionKey: string, owner?: Parameters<OwnedSessions["ensure"]>[0]["owner"]) =>
  sessions.ensure({ sessionKey, agent: "codex", owner }, started);

describe("a row written at ensure", () => {
  it("says that a session without an owner is its own", async () => {
    expect(await ensure(CHILD)).toBe("started");
    expect(await rows.get(CHILD)).toMatchObject({
      sessionKey: CHILD,
      ownerSessionKey: CHILD,
      agentId: "codex",
      backend: "acpx",
      gatewayInstanceId: INSTANCE,
    });
  });

  it("names who spawned the session as its owner", async () => {
    await ensure(CHILD, { spawnedBy: MAIN });
    expect(await rows.get(CHILD)).toMatchObject({ ownerSessionKey: MAIN, spawnedBy: MAIN });
  });

  it("is there before the session starts, for the lease that the start brings", async () => {
    await sessions.ensure({ sessionKey: CHILD, agent: "codex" }, () => sessions.noteLease(CHILD, LEASE));
    expect(await rows.get(CHILD)).toMatchObject({ leaseId: LEASE });
  });

  it("goes again when the session does not come to be", async () => {
    const failing = sessions.ensure({ sessionKey: CHILD, agent: "codex" }, () =>
      Promise.reject(new Error("no")),
    );
    await expect(failing).rejects.toThrow("no");
    expect(await rows.get(CHILD)).toBeUndefined();
  });

  it("stays, with its relations, age and lease, when a later start fails or names no owner", async () => {
    await ensure(CHILD, { spawnedBy: MAIN });
    await sessions.noteLease(CHILD, LEASE);
    const before = await rows.get(CHILD);
    await ensure(CHILD);
    await sessions
      .ensure({ sessionKey: CHILD, agent: "codex" }, () => Promise.reject(new Error("no")))
      .catch(() => undefined);
    expect(await rows.get(CHILD)).toEqual(before);
  });

  it("follows a new spawner when one is named", async () => {
    await ensure(CHILD, { spawnedBy: MAIN });
    await ensure(CHILD, { spawnedBy: "agent:main:other" });
    expect(await rows.get(CHILD)).toMatchObject({ ownerSessionKey: "agent:main:other" });
  });

  it("takes the agent that was started where the key names none", async () => {
    await ensure("telegram-42");
    expect(await rows.get("telegram-42")).toMatchObject({ agentId: "codex" });
  });

  it("is one row for two spellings of a key", async () => {
    await ensure(CHILD);
    await ensure(" Agent:CODEX:ACP:1 ");
    expect(await rows.list()).toHaveLength(1);
  });

  it("is enough for the owner to see its cross-agent child under tree, without any second query", async () => {
    await ensure(CHILD, { spawnedBy: MAIN });
    const [row] = await rows.list();
    if (row === undefined) throw new Error("no row");
    const ask = (requesterSessionKey: string) =>
      canSeeSessionRow({
        requesterSessionKey,
        row: { key: row.sessionKey, ...row },
        visibility: "tree",
        a2aPolicy: createAgentToAgentPolicy({ enabled: false }),
      });
    expect([ask(MAIN), ask("agent:main:stranger")]).toEqual([true, false]);
  });
});

describe("who ends with an owner", () => {
  it("is whom it owns or has spawned; not itself, and not who only names it as parent", async () => {
    await ensure(MAIN);
    await ensure("agent:codex:acp:spawned", { spawnedBy: MAIN });
    await ensure("agent:codex:acp:owned", { ownerSessionKey: "AGENT:main:MAIN" });
    await ensure("agent:codex:acp:threaded", { parentSessionKey: MAIN });
    await ensure("agent:codex:acp:alone");
    await ensure("agent:codex:acp:grandchild", { spawnedBy: "agent:codex:acp:spawned" });
    const owned = await sessions.ownedBy(MAIN);
    expect(owned.map(({ sessionKey }) => sessionKey).sort()).toEqual([
      "agent:codex:acp:owned",
      "agent:codex:acp:spawned",
    ]);
  });
});

describe("the files", () => {
  it("are private, and none is left over from 50 changes at once", async () => {
    await ensure(CHILD);
    await Promise.all(Array.from({ length: 50 }, () => sessions.noteLease(CHILD, LEASE)));
    const directory = join(stateDir, "session-rows");
    const names = await readdir(directory);
    expect(names).toHaveLength(1);
    const [name = ""] = names;
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["not JSON", "{"],
    ["another schema", JSON.stringify({ schema: "acpx.session-owner.v9" })],
    ["half a row", JSON.stringify({ schema: "acpx.session-owner.v1", backend: "acpx", sessionKey: CHILD })],
    ["an empty file", ""],
  ])("that hold %s count as no row, and hide no other", async (_, text) => {
    await ensure(CHILD);
    await ensure("agent:codex:acp:2");
    const directory = join(stateDir, "session-rows");
    const [name = ""] = await readdir(directory);
    await writeFile(join(directory, name), text);
    expect(await rows.list()).toHaveLength(1);
  });

  it("a lease id that cannot be written fails no launch", async () => {
    await ensure(CHILD);
    await rm(join(stateDir, "session-rows"), { recursive: true });
    await expect(sessions.noteLease(CHILD, LEASE)).resolves.toBeUndefined();
  });
});

describe("the writers of a host's other rows fill in", () => {
  it.each([
    [
      "subagent: spawned and owned by who asked",
      subagentRelation({ requesterSessionKey: MAIN }),
      { spawnedBy: MAIN, ownerSessionKey: MAIN },
    ],
    [
      "subagent of a subagent: owned by whom it is told",
      subagentRelation({ requesterSessionKey: CHILD, ownerSessionKey: MAIN }),
      { spawnedBy: CHILD, ownerSessionKey: MAIN },
    ],
    [
      "background task: owned, not spawned",
      backgroundTaskRelation({ requesterSessionKey: MAIN }),
      { ownerSessionKey: MAIN },
    ],
    [
      "plain session: what is known, blanks left out",
      sessionRelation({ parentSessionKey: MAIN, spawnedBy: " ", ownerSessionKey: undefined }),
      { parentSessionKey: MAIN },
    ],
  ])("%s", (_, relation, expected) => {
    expect(relation).toEqual(expected);
  });
});
