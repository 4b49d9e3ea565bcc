/** The death of the gateway: whatever it has started ends, at whatever instant it dies. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createReadStream, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";

import { afterAll, beforeAll, expect, test } from "vitest";

import { GATEWAY_PID } from "../../lib/environment.js";
import type { ProcessHandle } from "../../lib/native.js";
import { publishClaim } from "../../lib/claims.js";
import { isAlive } from "../helpers/alive.js";
import { compile } from "../helpers/compile.js";
import { AS_INIT } from "../helpers/pid-namespace.js";
import { hasEnded, INSTANCE, LEASE, soon, Stage } from "../helpers/supervisor.js";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const GRACE_MS = 300;

/** A gateway that starts one supervisor when it has been told who it is, and then only waits. */
class Gateway {
  readonly handle: ProcessHandle;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterableIterator<string>;
  /** Nobody who was started here is left: all of them hold one of these pipes, and never let go of stderr. */
  readonly nobodyLeft: Promise<unknown>;

  constructor(words: readonly string[], launcher: readonly string[] = []) {
    const start = `read gateway; export ${GATEWAY_PID}="$gateway"; "$@" & echo "root $!"; wait`;
    const supervisor = [...launcher, stage.wrapper, "--", stage.script, ...words];
    this.#child = spawn("sh", ["-c", start, "gateway", ...supervisor], {
      env: { ...process.env, ...stage.environment(GRACE_MS) },
      stdio: "pipe",
    });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("no pipes");
    this.handle = stage.pin(this.#child.pid ?? 0);
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    this.nobodyLeft = Promise.all([once(stdout, "close"), text(stderr)]);
  }

  go(): void {
    this.#child.stdin?.write(`${this.handle.pid} ${this.handle.token}\n`);
  }

  /** The next process that is announced: "root" by the gateway, the others by themselves. */
  async announced(): Promise<ProcessHandle> {
    const line = await soon(this.#lines.next(), "nobody announces itself");
    return stage.pin(Number(/\d+$/.exec(String(line.value))?.[0]));
  }

  async claim(root: ProcessHandle): Promise<void> {
    await publishClaim(stage.claimsDir, root, { leaseId: LEASE, instanceId: INSTANCE });
  }

  async die(): Promise<void> {
    this.#child.kill("SIGKILL");
    await soon(this.nobodyLeft, "somebody survived");
  }
}

const stubborn = "ignore TERM announce adapter fork [ session fork [ announce worker forever ] ] forever";

test("a gateway that is killed takes a stubborn tree with it, within the grace and half a second", async () => {
  const gateway = new Gateway(stubborn.split(" "));
  gateway.go();
  const root = await gateway.announced();
  await gateway.claim(root);
  const members = [await gateway.announced(), await gateway.announced()];
  expect([root, ...members].every(isAlive)).toBe(true);
  const begin = performance.now();
  await gateway.die();
  for (const handle of [root, ...members]) await hasEnded(handle);
  expect(performance.now() - begin).toBeLessThan(GRACE_MS + 500);
});

test.each(["1", "38"])("its death is noticed where pidfds are denied (errno %s)", async (errno) => {
  const gateway = new Gateway(stubborn.split(" "), [compile("deny-pidfd"), "all", errno]);
  gateway.go();
  const root = await gateway.announced();
  await gateway.claim(root);
  const members = [await gateway.announced(), await gateway.announced()];
  expect([root, ...members].every(isAlive)).toBe(true);
  await gateway.die();
});

test("200 gateways that are killed 0 to 20 ms after they started a supervisor leave nothing", async () => {
  const round = async (index: number) => {
    const gateway = new Gateway(["announce", "adapter", "forever"]);
    gateway.go();
    const root = await gateway.announced();
    // Every instant is hit: before, while and after the supervisor looks at its parent and finds its claim.
    const claimed = index % 4 === 3 ? undefined : gateway.claim(root).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, index % 21));
    await gateway.die();
    await claimed;
    await hasEnded(root);
  };
  for (let index = 0; index < 200; index += 4)
    await Promise.all([index, index + 1, index + 2, index + 3].map(round));
});

test("a gateway that lives keeps its tree: the same rounds without a death leave everybody alive", async () => {
  const gateway = new Gateway(["announce", "adapter", "forever"]);
  gateway.go();
  const root = await gateway.announced();
  await gateway.claim(root);
  const adapter = await gateway.announced();
  root.signal("SIGUSR1");
  await hasEnded(adapter);
});

test("a supervisor that a worker thread has started outlives the thread", async () => {
  const fifo = join(stage.directory, "fifo");
  execFileSync("mkfifo", [fifo]);
  const output = openSync(fifo, "r+");
  const source = `
    const { workerData, parentPort } = require("node:worker_threads");
    const { file, args, output } = workerData;
    const child = require("node:child_process").spawn(file, args, { stdio: ["ignore", output, output] });
    parentPort.postMessage(child.pid);
  `;
  const args = ["--", stage.script, "tell", "USR1", "announce", "adapter", "forever"];
  const worker = new Worker(source, { eval: true, workerData: { file: stage.wrapper, args, output } });
  const exited = once(worker, "exit");
  const [pid] = (await once(worker, "message")) as [number];
  const root = stage.pin(pid);
  const lines = createInterface({ input: createReadStream("", { fd: output }) })[Symbol.asyncIterator]();
  const next = async () => String((await soon(lines.next(), "the adapter says nothing")).value);
  const adapter = stage.pin(Number((await next()).split(" ")[1]));
  await worker.terminate();
  await exited;
  root.signal("SIGUSR1");
  expect(await next()).toBe("got USR1");
  expect(isAlive(root) && isAlive(adapter)).toBe(true);
  root.signal("SIGTERM");
  await hasEnded(root);
});

test("under a parent that is rightly pid 1 it lives and supervises", async () => {
  const inside =
    '"$0" -- "$1" tell USR1 show umask forever & read go; kill -USR1 $!; read go; kill -TERM $!; wait $!; echo "code $?"';
  const init = stage.start([], {
    command: [...AS_INIT, "sh", "-c", inside, stage.wrapper, stage.script],
  });
  await init.says(/^umask/);
  init.child.stdin?.write("\n");
  await init.says(/^got USR1$/);
  init.child.stdin?.write("\n");
  await init.says(/^code 143$/);
});
