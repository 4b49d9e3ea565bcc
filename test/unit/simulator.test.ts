import { beforeEach, describe, expect, test, vi } from "vitest";

import { caseRows, seedRows, type SimulatorRow } from "../cases/simulator-rows.js";
import { clock } from "../simulator/clock.js";
import { Simulation } from "../simulator/simulation.js";

vi.mock("node:timers/promises", async (original) => ({
  ...(await original<object>()),
  setTimeout: (await import("../simulator/clock.js")).clock.delay,
}));

beforeEach(() => {
  clock.reset();
  vi.spyOn(performance, "now").mockImplementation(() => clock.now);
  vi.spyOn(Date, "now").mockImplementation(() => clock.now + clock.wallOffset);
});

const play = async (row: SimulatorRow) => {
  const { signals, leases, alive, verdicts, outcome } = row;
  const expected = { signals, leases, alive, ...(verdicts && { verdicts }), ...(outcome ? { outcome } : {}) };
  expect(await new Simulation().play(row.events)).toMatchObject(expected);
};

describe("the eight kinds of fault that were asked for", () => {
  test.each(seedRows)("$name", play);
});

describe("what people met", () => {
  test.each(caseRows)("$name", play);
});
