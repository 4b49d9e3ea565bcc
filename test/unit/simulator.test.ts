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

describe("a close at each moment of a launch", () => {
  const close = { gateway: "A", does: "close" } as const;
  const launches = [
    { name: "wrapped", agent: { family: { worker: "s" } } },
    { name: "direct", agent: { direct: true, family: { worker: "" } } },
  ] as const;

  test.each(launches)("leaves nobody under a lease that has ended ($name)", async ({ agent }) => {
    const ensure = { gateway: "A", does: "ensure", agent } as const;
    let closed = 0;
    for (let afterTurns = 0; afterTurns < 150; afterTurns += 1) {
      for (const together of [
        [ensure, { ...close, afterTurns }],
        [close, { ...ensure, afterTurns }],
      ]) {
        clock.reset();
        const { leases, alive } = await new Simulation().play([{ together }]);
        const isOpen = leases[0] === "open";
        expect({ afterTurns, leases, alive: alive.length > 0 }).toEqual({
          afterTurns,
          leases,
          alive: isOpen,
        });
        closed += Number(!isOpen);
      }
    }
    expect(closed).toBeGreaterThan(20);
  });
});
