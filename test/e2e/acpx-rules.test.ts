/**
 * The rules of wrapperNameFor and staysDirect, held against the installed acpx: what an agent is started with and
 * what it hears must not change because a wrapper stands in front of it.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AcpRuntimeOptions,
  createAcpRuntime,
  createAgentRegistry,
  createFileSessionStore,
} from "acpx/runtime";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { wrapRegistry } from "../../lib/agent-registry.js";
import { staysDirect } from "../../lib/agent-command.js";
import { wrapSessionStore } from "../../lib/session-store.js";
import { type AcpxRule, acpxRules } from "../cases/acpx-rules.js";

const fixture = fileURLToPath(new URL("../fixtures/agent-acp.mjs", import.meta.url));
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "acpx-rules-"));
  // acpx takes an agent's key from the gateway's own environment.
  vi.stubEnv("XAI_API_KEY", "key");
});

afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

function script(path: string, body: string): string {
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

type Front = "none" | "named by us" | "named otherwise";

/** What acpx starts (arguments only) and says (initialize to the first session) for an agent. */
async function heard(rule: AcpxRule, front: Front): Promise<unknown> {
  const home = join(directory, `${rule.program} ${front}`);
  const wrappers = join(home, "wrappers");
  mkdirSync(wrappers, { recursive: true });
  const recordFile = join(home, "record");
  const offers = (rule.offers ?? []).map((option) => `"${option}"`).join(" ");
  const program = script(
    join(home, rule.program),
    `case "$1" in --version) echo 1.0.0; exit;; --help) echo nothing; exit;; esac
exec "${process.execPath}" "${fixture}" "--record=${recordFile}" ${offers} "$@"`,
  );
  const launches: (readonly string[])[] = [];
  const registry = wrapRegistry(
    createAgentRegistry({ overrides: { [rule.agent]: [program, ...rule.args] } }),
    {
      agents: front === "none" ? [] : [rule.agent],
      // Stands in for the supervisor: its command line, without its work.
      wrapperPathFor: (name) =>
        script(
          join(wrappers, front === "named by us" ? name : "other-wrapper"),
          `[ "$1" = -- ] || exit 64; shift; exec "$@"`,
        ),
    },
  );
  const options: AcpRuntimeOptions = {
    cwd: home,
    agentRegistry: registry,
    sessionStore: wrapSessionStore(createFileSessionStore({ stateDir: home }), registry),
    permissionMode: "deny-all",
    timeoutMs: 30_000,
    processLifecycle: {
      onBeforeSpawn: ({ args }) => {
        launches.push(args[0] === "--" ? args.slice(2) : args);
      },
    },
  };
  const runtime = createAcpRuntime(options);
  const input = {
    sessionKey: "key",
    agent: rule.agent,
    mode: "persistent" as const,
    ...(rule.sessionOptions && { sessionOptions: { ...rule.sessionOptions } }),
  };
  const outcome = await runtime.ensureSession(input).then(
    async (handle) => {
      await runtime.close({ handle, reason: "heard enough" });
      return "session";
    },
    (error: unknown) => (error instanceof Error ? error.constructor.name : "failure"),
  );
  const lines = existsSync(recordFile) ? readFileSync(recordFile, "utf8").trim().split("\n") : [];
  const said = lines.map(
    (line) => JSON.parse(line.replaceAll(home, "<home>").replace(/[0-9a-f-]{36}/u, "<id>")) as unknown,
  );
  return { outcome, launches, said };
}

describe.concurrent.each(acpxRules)("$name", (rule) => {
  test(rule.rule === "lost" ? "so the agent stays direct" : "and a wrapper changes nothing", async () => {
    const [bare, wrapped, otherwise] = await Promise.all([
      heard(rule, "none"),
      heard(rule, "named by us"),
      heard(rule, "named otherwise"),
    ]);

    expect(staysDirect([rule.program, ...rule.args])).toBe(rule.rule === "lost");
    if (rule.rule === "lost") expect(wrapped).not.toEqual(bare);
    else expect(wrapped).toEqual(bare);
    // The rule is there: without the name it would not be kept.
    if (rule.rule === "none") expect(otherwise).toEqual(bare);
    else expect(otherwise).not.toEqual(bare);
  });
});
