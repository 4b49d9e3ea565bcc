import fc from "fast-check";
import { beforeEach, expect, test, vi } from "vitest";

import { clock } from "../simulator/clock.js";
import { Model, modelRun } from "../simulator/model.js";

vi.mock("node:timers/promises", async (original) => ({
  ...(await original<object>()),
  setTimeout: (await import("../simulator/clock.js")).clock.delay,
}));

beforeEach(() => {
  vi.spyOn(performance, "now").mockImplementation(() => clock.now);
  vi.spyOn(Date, "now").mockImplementation(() => clock.now + clock.wallOffset);
});

/** `npm run test:model -- --runs N` sets it; each run has 20 to 60 steps. */
const RUNS = Number(process.env["MODEL_RUNS"] ?? 600);
const SEED = process.env["MODEL_SEED"];

test("whatever happens to two gateways, in any order: the invariants hold after every step", async () => {
  let steps = 0;
  await fc.assert(
    fc.asyncProperty(modelRun, async (run) => {
      clock.reset();
      steps += run.steps.length;
      await new Model(run).play();
    }),
    { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
  );
  expect(steps).toBeGreaterThanOrEqual(Math.min(20_000, RUNS * 20));
}, 3_600_000);
