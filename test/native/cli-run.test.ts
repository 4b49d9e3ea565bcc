/** `run`: a command under a lease behaves as if it had been started by itself, and leaves nothing behind. */
import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { RunReport, StatusReport, SweepReport } from "../../lib/cli-reports.js";
import type { ProcessHandle } from "../../lib/native.js";
import { allGone, pin, put } from "../helpers/alive.js";
import { end, exit, lines, start } from "../helpers/child.js";
import { CLEAN_ENVIRONMENT, CLI, cli, cliReport } from "../helpers/cli.js";
import { compile } from "../helpers/compile.js";

const script = compile("adapter-script");

let base: string;
let here: readonly string[];
let pinned: ProcessHandle[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "acpx-cli-run-"));
  here = ["--state-dir", join(base, "state")];
  pinned = [];
});
afterEach(() => {
  pinned.forEach(put);
  rmSync(base, { recursive: true });
});

const run = (...command: string[]) => cli(["run", ...here, "--", ...command]);

describe("it ends as its command did", () => {
  test.each([
    { what: "exits with 0", words: ["exit", "0"], code: 0, signal: null },
    { what: "exits with 3", words: ["exit", "3"], code: 3, signal: null },
    { what: "exits with 255", words: ["exit", "255"], code: 255, signal: null },
    { what: "dies of INT", words: ["die", "INT"], code: null, signal: "SIGINT" },
    { what: "dies of TERM", words: ["die", "TERM"], code: null, signal: "SIGTERM" },
    { what: "dies of KILL", words: ["die", "KILL"], code: null, signal: "SIGKILL" },
    {
      what: "dies of SEGV, shown as shells do and without a core",
      words: ["die", "SEGV"],
      code: 139,
      signal: null,
    },
  ])("when it $what", async ({ words, code, signal }) => {
    expect(await run(script, ...words)).toEqual({ code, signal, stdout: "", stderr: "" });
  });
});

describe("nothing is started, and the exit code says why", () => {
  test("a command that is not there", async () => {
    const { code, stderr } = await run("no-such-command-anywhere");
    expect(code).toBe(127);
    expect(stderr).toContain("was not found");
  });

  test("a file that is not executable", async () => {
    const file = join(base, "plain");
    writeFileSync(file, "");
    expect((await run(file)).code).toBe(126);
  });

  test("a state directory that cannot be used", async () => {
    writeFileSync(join(base, "state"), "");
    expect((await run(script, "exit", "0")).code).toBe(125);
  });

  test("no command", async () => {
    expect((await cli(["run", ...here])).code).toBe(64);
  });
});

test("its input and output are the command's, and nothing else is said", async () => {
  const { code, stdout, stderr } = await cli(["run", ...here, "--", "cat"], "one\ntwo\n");
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "one\ntwo\n", stderr: "" });
});

test("--json says on standard error what became of the lease", async () => {
  const { stdout, stderr } = await cli([
    "run",
    ...here,
    "--json",
    "--session-key",
    "main",
    "--",
    script,
    "exit",
    "4",
  ]);
  expect(stdout).toBe("");
  expect(JSON.parse(stderr) as RunReport).toMatchObject({
    schema: "acpx-lifecycle.run.v1",
    sessionKey: "main",
    code: 4,
    state: "closed",
    proof: "subreaper",
  });
});

/** A command with a child in a session of its own, both announced. */
async function startRunning() {
  const words = [
    "fork",
    "[",
    "session",
    "ignore",
    "TERM",
    "announce",
    "child",
    "forever",
    "]",
    "announce",
    "root",
  ];
  const child = start(
    process.execPath,
    [CLI, "run", ...here, "--session-key", "main", "--", script, ...words, "forever"],
    {
      env: CLEAN_ENVIRONMENT,
    },
  );
  const output = lines(child);
  const said = [await output.next(), await output.next()];
  const everyone = said.map((line) => pin(Number(line.split(" ")[1])));
  pinned.push(...everyone);
  return { child, everyone };
}

test("TERM to it ends the whole tree before it ends itself", async () => {
  const { child, everyone } = await startRunning();
  const { leases } = await cliReport<StatusReport>(["status", ...here]);
  expect(leases).toMatchObject([{ sessionKey: "main", verdict: { kind: "owned" } }]);
  expect(leases[0]?.members).toHaveLength(3);
  child.kill("SIGTERM");
  await exit(child);
  expect(child.signalCode).toBe("SIGTERM");
  await allGone(everyone);
  expect(await cliReport<StatusReport>(["status", ...here])).toMatchObject({ leases: [], endedCount: 1 });
});

test("KILL to it ends the whole tree all the same, and reap settles the lease", async () => {
  const { child, everyone } = await startRunning();
  await end(child);
  await allGone(everyone);
  const swept = await cliReport<SweepReport>(["reap", ...here]);
  expect(swept).toMatchObject({ settled: [{ sessionKey: "main", state: "lost" }], deaths: 0 });
});

/** Typed on a terminal of its own, which `script` provides. */
function typeOn(shell: string) {
  const child = start("script", ["--quiet", "--return", "--command", shell, "/dev/null"], {
    env: { ...CLEAN_ENVIRONMENT, RUN: `${process.execPath} ${CLI} run ${here.join(" ")} --`, S: script },
  });
  const output = lines(child);
  return {
    type: (text: string) => child.stdin?.write(text),
    async says(line: RegExp) {
      let said: string;
      do said = await output.next();
      while (!line.test(said));
    },
    ended: () => exit(child),
  };
}

describe("on a terminal", () => {
  test("Ctrl-C is the command's alone, which may go on", async () => {
    const terminal = typeOn(
      'trap "echo shell was hit" INT; $RUN "$S" tell INT show foreground line exit 5; echo "code $?"',
    );
    await terminal.says(/^foreground yes\r?$/);
    terminal.type("\x03");
    await terminal.says(/got INT\r?$/);
    terminal.type("\n");
    await terminal.says(/^code 5\r?$/);
    await terminal.ended();
  });

  test("a command that dies of Ctrl-C is shown as such, and the shell has its terminal back", async () => {
    const terminal = typeOn(
      'trap : INT; $RUN "$S" show foreground forever; echo "code $?"; "$S" show foreground; read -r l; echo "read $l"',
    );
    await terminal.says(/^foreground yes\r?$/);
    terminal.type("\x03");
    await terminal.says(/code 130\r?$/);
    await terminal.says(/^foreground yes\r?$/);
    terminal.type("hello\n");
    await terminal.says(/^read hello\r?$/);
    await terminal.ended();
  });
});
