/** The command line as a process of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** Nothing of where the tests run decides what is tested. */
export const CLEAN_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  LC_ALL: "C.UTF-8",
  TERM: "xterm",
};

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function startCli(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [CLI, ...args], { stdio: "pipe", env: { ...CLEAN_ENVIRONMENT, ...env } });
}

/** To its end; `input` is all that it can read. */
export async function cli(args: readonly string[], input = "", env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = startCli(args, env);
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("its stdio is no pipe");
  stdin.end(input);
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const [said, complained, [code, signal]] = await Promise.all([text(stdout), text(stderr), exited]);
  return { code, signal, stdout: said, stderr: complained };
}

/** What `--json` printed. */
export async function cliReport<Report>(args: readonly string[]): Promise<Report> {
  return JSON.parse((await cli([...args, "--json"])).stdout) as Report;
}
