/** The reference gateway as a process of its own, so that it can be killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../reference-gateway.mjs", import.meta.url));

export class Gateway {
  #calls = new Map();
  #waiting = [];
  #lastId = 0;
  #stderr = "";

  /** Resolves once the gateway says that it is ready. */
  static async start(name, config, env = process.env) {
    const gateway = new Gateway(name, spawn(process.execPath, [program, JSON.stringify(config)], { env }));
    await gateway.event("ready");
    return gateway;
  }

  constructor(name, child) {
    this.name = name;
    this.child = child;
    this.pid = child.pid;
    this.events = [];
    this.ended = once(child, "exit");
    createInterface({ input: child.stdout }).on("line", (line) => this.#heard(JSON.parse(line)));
    child.stderr.on("data", (data) => (this.#stderr += data));
    child.stdin.on("error", () => {});
    child.on("exit", (code, signal) => {
      const error = new Error(`gateway ${name} ended (${signal ?? code})\n${this.#stderr}`);
      for (const { reject } of [...this.#calls.values(), ...this.#waiting]) reject(error);
    });
  }

  /** Calls a method of the gateway; rejects with the gateway's error, or when it ends first. */
  call(method, params = {}) {
    const id = (this.#lastId += 1);
    const answer = new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
    this.child.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    return answer;
  }

  /** The first event of that name that matches, already heard or still to come. */
  event(name, matches = () => true) {
    const found = this.events.find((event) => event.event === name && matches(event));
    if (found) return Promise.resolve(found);
    return new Promise((resolve, reject) => this.#waiting.push({ name, matches, resolve, reject }));
  }

  /** SIGKILL: no handler, no farewell. Resolves when it is gone. */
  async kill() {
    this.child.kill("SIGKILL");
    await this.ended;
  }

  /** The end of its stdin: it stops and leaves its agents to their wrappers. */
  async stop() {
    this.child.stdin.end();
    await this.ended;
  }

  #heard(message) {
    if (message.event) {
      this.events.push(message);
      const waits = ({ name, matches }) => name === message.event && matches(message);
      for (const waiting of this.#waiting.filter(waits)) waiting.resolve(message);
      this.#waiting = this.#waiting.filter((waiting) => !waits(waiting));
      return;
    }
    const { resolve, reject } = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    if (message.error) reject(Object.assign(new Error(message.error.message), { code: message.error.code }));
    else resolve(message.result);
  }
}
