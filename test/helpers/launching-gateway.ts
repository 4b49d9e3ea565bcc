/**
 * test/fixtures/lifecycle-gateway.mjs as an object: a gateway process that can be killed like one.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

import type { AcpxProcessLease } from "../../lib/lease.js";
import type { ReapReport } from "../../lib/reaper.js";
import type { Settlement } from "../../lib/settle.js";
import type { WayOfEnding } from "../../lib/terminate.js";
import type { ProcessReading } from "../../lib/evidence.js";
import type { Verdict } from "../../lib/verdict.js";

const FIXTURE = fileURLToPath(new URL("../fixtures/lifecycle-gateway.mjs", import.meta.url));

export interface Launched {
  readonly leaseId: string;
  readonly rootPid: number;
  /** Pids by what the family printed: "adapter", and the letters of each member. */
  readonly pids: Readonly<Record<string, number>>;
}

export interface StatusRow {
  readonly lease: AcpxProcessLease;
  readonly verdict: Verdict;
  readonly members: readonly ProcessReading[];
}

export class LaunchingGateway implements AsyncDisposable {
  readonly #answers: AsyncIterator<string>;

  private constructor(private readonly process: ChildProcessByStdio<Writable, Readable, null>) {
    this.#answers = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  }

  /** `within`: a command that runs the one behind it, as in another namespace; `kill` then ends that command. */
  static async start(
    stateDir: string,
    wrapperRoot: string,
    graceMs = 300,
    within: readonly string[] = [],
  ): Promise<LaunchingGateway> {
    const gatewayArgs = [FIXTURE, stateDir, wrapperRoot, String(graceMs)];
    const [command = process.execPath, ...args] = [...within, process.execPath, ...gatewayArgs];
    const gateway = new LaunchingGateway(spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] }));
    await gateway.#next();
    return gateway;
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** A family (test/fixtures/family.c) under a lease; resolves when every member has said that it is up. */
  async launch(
    family: string,
    letters: readonly string[],
    sessionKey = "agent:test:acp:1",
  ): Promise<Launched> {
    const answer = await this.#ask<{ leaseId: string; rootPid: number; seen: string[] }>("launch", {
      command: family,
      args: letters,
      sessionKey,
      lines: letters.length + 1,
    });
    const pids = answer.seen.map((line): [string, number] => {
      const words = line.split(" ");
      return [words.at(-2) ?? "", Number(words.at(-1))];
    });
    return { leaseId: answer.leaseId, rootPid: answer.rootPid, pids: Object.fromEntries(pids) };
  }

  end(leaseId: string): Promise<Settlement> {
    return this.#ask("end", { leaseId });
  }

  ended(leaseId: string): Promise<WayOfEnding & { settlement: Settlement }> {
    return this.#ask("ended", { leaseId });
  }

  reap(options: { dryRun?: boolean } = {}): Promise<ReapReport> {
    return this.#ask("reap", options);
  }

  status(sessionKey?: string): Promise<StatusRow[]> {
    return this.#ask("status", { sessionKey });
  }

  warnings(): Promise<string[]> {
    return this.#ask("warnings", {});
  }

  /** SIGKILL, as the kernel's OOM killer or a person would. */
  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #ask<T>(verb: string, options: object): Promise<T> {
    this.process.stdin.write(`${JSON.stringify({ verb, ...options })}\n`);
    const answer = JSON.parse(await this.#next()) as { value?: T; error?: { code: string; message: string } };
    if (answer.error !== undefined)
      throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
    return answer.value as T;
  }

  async #next(): Promise<string> {
    const line = await this.#answers.next();
    if (line.done === true) throw new Error("the gateway process ended");
    return line.value;
  }
}
