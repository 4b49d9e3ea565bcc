/**
 * A host's keyed store as this package uses it: changed by compare-and-apply, failing with one kind of error.
 */
import { LifecycleError } from "./errors.js";

/**
 * What a host's store must be able to do. Its entries never expire by themselves and are never evicted: a lease
 * that vanishes leaves its processes to nobody. Values are texts of some 2 KiB, at most 256 KiB.
 */
export interface KeyedStore {
  register(key: string, value: string): Promise<unknown>;
  lookup(key: string): Promise<string | undefined>;
  delete(key: string): Promise<unknown>;
  entries(): Promise<readonly { readonly key: string; readonly value: string }[]>;
  /**
   * Atomically, among all processes that share the store: if the value of `key` is `expected` (undefined: there is
   * none), makes it `next` and answers true; otherwise changes nothing and answers false.
   */
  compareAndApply?(key: string, expected: string | undefined, next: string): Promise<boolean>;
}

export type ComparingStore = Required<KeyedStore>;

/**
 * Puts compare-and-apply where it is missing, for one process alone. Throws LifecycleError ERR_INVALID_OPTION if
 * there may be several; what it returns throws ERR_STATE_DIR with the host's own error as cause.
 */
export function comparing(host: KeyedStore, soleProcess: boolean): ComparingStore {
  if (!host.compareAndApply && !soleProcess)
    throw new LifecycleError(
      "ERR_INVALID_OPTION",
      "the host's store has no compareAndApply: give it one, or promise by soleProcess: true that no second " +
        "process uses it",
    );
  const store = {
    register: (key: string, value: string) => asked("register", key, () => host.register(key, value)),
    lookup: (key: string) => asked("look up", key, () => host.lookup(key)),
    delete: (key: string) => asked("delete", key, () => host.delete(key)),
    entries: () => asked("list", "its entries", () => host.entries()),
  };
  return {
    ...store,
    compareAndApply: (key, expected, next) =>
      host.compareAndApply
        ? asked("change", key, async () => host.compareAndApply?.(key, expected, next) ?? false)
        : inTurn(host, async () => {
            if ((await store.lookup(key)) !== expected) return false;
            await store.register(key, next);
            return true;
          }),
  };
}

/** The last change of each store: within one process a queue is as good as an atomic change. */
const queues = new WeakMap<KeyedStore, Promise<unknown>>();

function inTurn<T>(host: KeyedStore, change: () => Promise<T>): Promise<T> {
  const turn = (queues.get(host) ?? Promise.resolve()).then(change);
  queues.set(
    host,
    turn.catch(() => undefined),
  );
  return turn;
}

async function asked<T>(verb: string, what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new LifecycleError("ERR_STATE_DIR", `the host's keyed store could not ${verb} ${what}: ${detail}`, {
      cause: error,
    });
  }
}
