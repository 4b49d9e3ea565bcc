/**
 * A directory with a state directory and a wrapper root for each test of a file, and handles that end whatever the
 * test has left alive.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

import type { ProcessHandle } from "../../lib/native.js";
import { pin, put } from "./alive.js";

export class LaunchStage {
  #base = "";
  #pinned: ProcessHandle[] = [];

  constructor() {
    beforeEach(async () => {
      this.#base = await mkdtemp(join(tmpdir(), "acpx-stage-"));
    });
    afterEach(async () => {
      this.#pinned.forEach(put);
      this.#pinned = [];
      await rm(this.#base, { recursive: true });
    });
  }

  /** A path in the test's own directory. */
  path(...names: string[]): string {
    return join(this.#base, ...names);
  }

  get stateDir(): string {
    return this.path("state");
  }

  get wrapperRoot(): string {
    return this.path("wrappers");
  }

  /** A handle on a process that must be there now. */
  pin(pid: number | undefined): ProcessHandle {
    const handle = pin(pid);
    this.#pinned.push(handle);
    return handle;
  }

  /** On the root and every member of a launch. */
  pinAll(launched: {
    readonly rootPid: number;
    readonly pids: Readonly<Record<string, number>>;
  }): ProcessHandle[] {
    return [launched.rootPid, ...Object.values(launched.pids)].map((pid) => this.pin(pid));
  }
}
