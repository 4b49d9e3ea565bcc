import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentRegistry } from "acpx/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AcpAgentRegistry } from "../../lib/acpx.js";
import { wrapRegistry } from "../../lib/agent-registry.js";
import { type AgentCommand, identityOf } from "../../lib/agent-command.js";
import { LifecycleError } from "../../lib/errors.js";
import { wrapSessionStore } from "../../lib/session-store.js";

let directory: string;
let program: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "acpx-registry-"));
  program = join(directory, "my agent");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

const wrapperPathFor = (name: string) => `/wrappers/${name}`;

/** acpx's own registry; every program counts as installed in /bin, packages as given. */
function builtIns(overrides: Record<string, string | string[]> = {}, packages = true): AcpAgentRegistry {
  return createAgentRegistry({
    overrides,
    resolveExecutable: (command) => (command.startsWith("/") ? command : `/bin/${command}`),
    ...(packages ? {} : { resolveExecutable: () => undefined, resolvePackageRoot: () => undefined }),
  });
}

describe("what a wrapped registry answers", () => {
  const rows: { name: string; agent: string; command: AgentCommand }[] = [
    {
      name: "a built-in package by its installed program",
      agent: "codex",
      command: ["/wrappers/codex-wrapper", "--", "/bin/codex-acp"],
    },
    {
      name: "a program by its path",
      agent: "kimi",
      command: ["/wrappers/kimi-wrapper", "--", "/bin/kimi", "acp"],
    },
    {
      name: "an alias like the agent that it stands for",
      agent: " Gemini ",
      command: ["/wrappers/gemini", "--", "/bin/gemini", "--acp"],
    },
    { name: "grok directly", agent: "grok-build", command: ["grok", "agent", "stdio"] },
    { name: "copilot directly", agent: "copilot", command: ["copilot", "--acp", "--stdio"] },
    {
      name: "an agent that only a package runner can start directly",
      agent: "mux",
      command: ["npx", "-y", "mux@^0.28.0", "acp"],
    },
  ];
  test.each(rows)("$name", ({ agent, command }) => {
    expect(wrapRegistry(builtIns(), { wrapperPathFor }).resolve(agent)).toEqual(command);
  });

  test("codex as a package stays direct, so that acpx can fetch it", () => {
    const bare = builtIns({}, false);
    expect(wrapRegistry(bare, { wrapperPathFor }).resolve("codex")).toEqual(bare.resolve("codex"));
  });

  test("an agent that was asked for is wrapped all the same, the others are not", () => {
    const registry = wrapRegistry(builtIns(), { agents: ["Copilot"], wrapperPathFor });
    expect(registry.resolve("copilot")).toEqual([
      "/wrappers/copilot-wrapper",
      "--",
      "/bin/copilot",
      "--acp",
      "--stdio",
    ]);
    expect(registry.resolve("kimi")).toEqual(["kimi", "acp"]);
  });

  test("a command line as an agent's name is found on the file system", () => {
    const wrapped = wrapRegistry(builtIns(), { wrapperPathFor }).resolve(`'${program}' --acp`);
    expect(wrapped).toEqual(["/wrappers/agent-wrapper", "--", program, "--acp"]);
  });

  test("the list and the inspection are acpx's own", () => {
    const registry = wrapRegistry(builtIns(), { wrapperPathFor });
    expect(registry.list()).toEqual(builtIns().list());
    expect(registry.inspect?.("kimi")?.launch).toEqual({ kind: "installed", argv: ["/bin/kimi", "acp"] });
  });
});

describe("commands that cannot be started", () => {
  const refusal = (registry: AcpAgentRegistry, agent: string): LifecycleError => {
    try {
      wrapRegistry(registry, { wrapperPathFor }).resolve(agent);
    } catch (error) {
      if (error instanceof LifecycleError) return error;
      throw error;
    }
    throw new Error(`${agent} was resolved`);
  };

  test("an unknown agent is named, with the known ones", () => {
    const { code, message } = refusal(
      { resolve: (name) => name, list: () => ["one", "two"] },
      "no-such-agent",
    );
    expect(code).toBe("ERR_AGENT_COMMAND");
    expect(message).toBe(
      'Agent "no-such-agent": command "no-such-agent" is neither an agent of the registry nor a command. Known agents: one, two.',
    );
  });

  test("a built-in that is not installed is named with what is missing", () => {
    expect(refusal(builtIns({}, false), "kimi").message).toBe(
      'Agent "kimi": command "kimi" is not installed (missing: kimi). Install it, or put its directory on PATH.',
    );
  });

  test("a file that may not be executed is named by its path", () => {
    const locked = join(directory, "locked");
    writeFileSync(locked, "", { mode: 0o644 });
    expect(refusal(createAgentRegistry({ overrides: { mine: [locked] } }), "mine").message).toBe(
      `Agent "mine": command "${locked}" is not executable. Run chmod +x on it.`,
    );
    chmodSync(locked, 0o755);
    expect(
      wrapRegistry(createAgentRegistry({ overrides: { mine: [locked] } }), { wrapperPathFor }).resolve(
        "mine",
      ),
    ).toEqual(["/wrappers/mine-wrapper", "--", locked]);
  });

  test("an open quote is named", () => {
    expect(refusal(createAgentRegistry({ overrides: { mine: "/opt/x 'y" } }), "mine").code).toBe(
      "ERR_AGENT_COMMAND",
    );
  });
});

describe("session records", () => {
  /** One record, stored as `stored` and read through a wrapped store. */
  async function loaded(registry: AcpAgentRegistry, stored: AgentCommand, agents?: string[]) {
    const record = { acpSessionId: "s", ...mutable(stored) };
    const store = { load: () => Promise.resolve(record), save: () => Promise.resolve() };
    const commands = wrapRegistry(registry, { wrapperPathFor, ...(agents && { agents }) });
    return await wrapSessionStore(store, commands).load("s");
  }

  function mutable(command: AgentCommand): { agentCommand: string; agentArgv?: string[] } {
    const { agentCommand, agentArgv } = identityOf(command);
    return agentArgv ? { agentCommand, agentArgv: [...agentArgv] } : { agentCommand };
  }

  const codexPackage = builtIns().resolve("codex");
  const scripted = { codex: 'node "/state/a b/codex-acp-wrapper.mjs"' };
  const script = ["node", "/state/a b/codex-acp-wrapper.mjs"];
  const scriptWrapped = ["/wrappers/codex-wrapper", "--", "/bin/node", "/state/a b/codex-acp-wrapper.mjs"];
  const lease = ["--openclaw-acpx-lease-id", "l", "--openclaw-gateway-instance-id", "g"];
  const rows: {
    name: string;
    overrides?: Record<string, string | string[]>;
    stored: AgentCommand;
    shown: AgentCommand;
  }[] = [
    {
      name: "a package as acpx alone stored it",
      stored: codexPackage,
      shown: ["/wrappers/codex-wrapper", "--", "/bin/codex-acp"],
    },
    {
      name: "a program as acpx alone stored it",
      stored: ["kimi", "acp"],
      shown: ["/wrappers/kimi-wrapper", "--", "/bin/kimi", "acp"],
    },
    { name: "a host's script as text", overrides: scripted, stored: scripted.codex, shown: scriptWrapped },
    {
      name: "a host's script with other quotes",
      overrides: scripted,
      stored: "node '/state/a b/codex-acp-wrapper.mjs'",
      shown: scriptWrapped,
    },
    {
      name: "a host's script with a lease in its arguments",
      overrides: scripted,
      stored: [...script, ...lease],
      shown: scriptWrapped,
    },
    {
      name: "a host's script with a lease in front",
      overrides: scripted,
      stored: ["env", "OPENCLAW_ACPX_LEASE_ID=l", "OPENCLAW_GATEWAY_INSTANCE_ID=g", ...script],
      shown: scriptWrapped,
    },
    {
      name: "an agent that stays direct is shown as it is",
      stored: ["grok", "agent", "stdio"],
      shown: ["grok", "agent", "stdio"],
    },
    { name: "a command of no agent is shown as it is", stored: ["/opt/other"], shown: ["/opt/other"] },
    { name: "text with an open quote is shown as it is", stored: "node 'x", shown: "node 'x" },
  ];
  test.each(rows)("shows $name", async ({ overrides, stored, shown }) => {
    expect(await loaded(builtIns(overrides), stored)).toEqual({ acpSessionId: "s", ...mutable(shown) });
  });

  test("an agent that is not installed any more leaves its records readable", async () => {
    const registry = createAgentRegistry({ resolveExecutable: () => undefined });
    expect(await loaded(registry, ["kimi", "acp"])).toEqual({
      acpSessionId: "s",
      ...mutable(["kimi", "acp"]),
    });
  });

  test("an agent that was not asked for is shown as it is", async () => {
    expect(await loaded(builtIns(), ["kimi", "acp"], ["codex"])).toEqual({
      acpSessionId: "s",
      ...mutable(["kimi", "acp"]),
    });
  });

  test.each([["kimi"], ["codex"], [`'/bin/sh' -x`]])(
    "saves %s as acpx alone would, and leaves acpx's copy alone",
    async (agent) => {
      const saved: unknown[] = [];
      const registry = wrapRegistry(builtIns(), { wrapperPathFor });
      const store = wrapSessionStore(
        {
          load: () => Promise.resolve(undefined),
          save: (record) => Promise.resolve(void saved.push(record)),
        },
        registry,
      );
      const shown = mutable(registry.resolve(agent));
      await store.save({ ...shown });
      const plain = builtIns().resolve(agent);
      expect(saved).toEqual([mutable(plain)]);
      expect(shown.agentArgv).toEqual(registry.resolve(agent));
    },
  );

  test("two names of one program share their sessions", async () => {
    const twins = builtIns({ first: ["/bin/sh", "x"], second: ["/bin/sh", "x"] });
    const registry = wrapRegistry(twins, { wrapperPathFor });
    expect(registry.resolve("second")).toEqual(registry.resolve("first"));
    expect(
      await wrapSessionStore(
        { load: () => Promise.resolve(mutable(["/bin/sh", "x"])), save: () => Promise.resolve() },
        registry,
      ).load("s"),
    ).toEqual(mutable(registry.resolve("first")));
  });
});
