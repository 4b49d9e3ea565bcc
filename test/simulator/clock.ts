/**
 * The time of the simulated machine. Everything that waits in there waits here, so that a minute passes at once and
 * always in the same order. One for the whole process, as the clock of the code under test is.
 */
/** The boot clock of a kernel counts in these, milliseconds. */
const TICK_MS = 10;
/** Between two events of the simulation nothing but microtasks runs, and one turn of the event loop drains them. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

export class Clock {
  /** Monotonic, milliseconds. */
  now = 0;
  /** The wall clock is the monotonic one and this; a step of NTP changes it. */
  wallOffset = 0;
  #timers: Timer[] = [];

  reset(): void {
    this.now = 1_000_000;
    this.wallOffset = 1_790_000_000_000;
    this.#timers = [];
  }

  get ticks(): number {
    return Math.floor(this.now / TICK_MS);
  }

  /** Calls back once, `ms` from now; what it returns takes that back. */
  after(ms: number, fire: () => void): () => void {
    const timer = { at: this.now + ms, fire };
    this.#timers.push(timer);
    this.#timers.sort((a, b) => a.at - b.at);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** As `setTimeout` of node:timers/promises. */
  readonly delay = <T>(ms: number, value?: T, options: { signal?: AbortSignal } = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      const cancel = this.after(ms, () => {
        resolve(value as T);
      });
      options.signal?.addEventListener("abort", () => {
        cancel();
        reject(new Error("the delay was aborted"));
      });
    });

  /** Lets everything happen that is due within `ms`. */
  async advance(ms: number): Promise<void> {
    const until = this.now + ms;
    await settled();
    for (;;) {
      const [next] = this.#timers;
      if (next === undefined || next.at > until) break;
      await this.#fire(next);
    }
    this.now = until;
  }

  /** Lets time pass until `work` is done; rejects when it waits for something that no timer brings. */
  async finish<T>(work: Promise<T>): Promise<T> {
    const running = { done: false };
    const finished = work.finally(() => (running.done = true));
    finished.catch(() => undefined);
    await settled();
    while (!running.done) {
      const [next] = this.#timers;
      if (next === undefined) throw new Error("it waits for something that never happens");
      await this.#fire(next);
    }
    return await finished;
  }

  async #fire(timer: Timer): Promise<void> {
    this.#timers.shift();
    this.now = Math.max(this.now, timer.at);
    timer.fire();
    await settled();
  }
}

export const clock = new Clock();
