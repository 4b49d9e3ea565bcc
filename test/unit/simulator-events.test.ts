import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { DIAGNOSTICS_CHANNEL, type LifecycleEvent } from "../../lib/diagnostics.js";
import { clock } from "../simulator/clock.js";
import { Simulation, type SimulatorEvent } from "../simulator/simulation.js";

vi.mock("node:timers/promises", async (original) => ({
  ...(await original<object>()),
  setTimeout: (await import("../simulator/clock.js")).clock.delay,
}));

let heard: LifecycleEvent[];
const listener = (message: unknown) => heard.push(message as LifecycleEvent);
beforeEach(() => {
  heard = [];
  clock.reset();
  vi.spyOn(performance, "now").mockImplementation(() => clock.now);
  subscribe(DIAGNOSTICS_CHANNEL, listener);
});
afterEach(() => {
  unsubscribe(DIAGNOSTICS_CHANNEL, listener);
});

const ensure = { gateway: "A", does: "ensure" } as const;
const close = { gateway: "A", does: "close" } as const;
interface Row {
  readonly name: string;
  readonly events: readonly SimulatorEvent[];
  readonly types: readonly LifecycleEvent["type"][];
}
const rows: readonly Row[] = [
  {
    name: "a launch and its close",
    events: [ensure, close],
    types: ["lease-opened", "launch-admitted", "lease-ended"],
  },
  {
    name: "a close that cannot end everybody",
    events: [{ ...ensure, agent: { direct: true } }, { process: "adapter", hides: "signal" }, close],
    types: ["lease-opened", "launch-admitted", "lease-left"],
  },
  {
    name: "a close on a full disk",
    events: [ensure, { disk: "full", of: "A" }, close],
    types: ["lease-opened", "launch-admitted", "warning", "lease-left"],
  },
];

test.each(rows)("$name is told on the channel", async ({ events, types }) => {
  await new Simulation().play(events);
  expect([...new Set(heard.map(({ type }) => type))]).toEqual(types);
});

test("the events that can be heard are those that docs/faults.md lists", () => {
  const source = readFileSync(new URL("../../lib/diagnostics.ts", import.meta.url), "utf8");
  const documented = readFileSync(new URL("../../docs/faults.md", import.meta.url), "utf8");
  const types = [...source.matchAll(/readonly type: "([a-z-]+)"/g)].map(([, type]) => type);
  const listed = [...documented.matchAll(/^\| `([a-z-]+)` *\|/gm)].map(([, type]) => type);
  expect(listed.filter((type) => type !== "type")).toEqual(types);
});
