/**
 * How many session rows a second are filtered, and whether that makes garbage. Wants the built package:
 *
 *   npm run build:lib && node --trace-gc bench/visibility.mjs
 */
import { performance } from "node:perf_hooks";
import { GCProfiler, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createAgentToAgentPolicy, filterVisibleRows } from "../dist/visibility.js";

const ROWS = 100_000;
const PASSES = 10;
const REQUESTER = "agent:main:main";
const AGENTS = ["main", "codex", "ops"];
const KINDS = ["telegram:direct", "acp", "subagent", "dashboard"];

// What is left over from making the rows must not be collected during the passes.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

/** Of 500 sessions the requester has spawned one; the rest are others', of its own agent and of other agents. */
function row(number) {
  const agentId = AGENTS[number % AGENTS.length];
  const owner = number % 500 === 0 ? REQUESTER : `agent:${agentId}:telegram:direct:${number}`;
  const key = `agent:${agentId}:${KINDS[number % KINDS.length]}:${number}`;
  return { key, agentId, spawnedBy: owner, ownerSessionKey: owner };
}

const question = {
  rows: Array.from({ length: ROWS }, (_, number) => row(number)),
  requesterSessionKey: REQUESTER,
  visibility: "tree",
  a2aPolicy: createAgentToAgentPolicy({ enabled: false }),
};

/** Milliseconds of each pass. */
function passes() {
  return Array.from({ length: PASSES }, () => {
    const started = performance.now();
    const visible = filterVisibleRows(question).length;
    if (visible !== ROWS / 500) throw new Error(`${visible} of ${ROWS} rows are visible`);
    return performance.now() - started;
  });
}

passes(); // until it is compiled
collect();

const profiler = new GCProfiler();
profiler.start();
console.log(`${PASSES} passes over ${ROWS} rows; what --trace-gc says between here ...`);
const processor = process.cpuUsage();
const [median] = passes()
  .sort((left, right) => left - right)
  .slice(PASSES / 2);
const { user } = process.cpuUsage(processor);
const collections = profiler.stop().statistics.length;
console.log("... and here is their garbage.");

const perSecond = (milliseconds) => `${(ROWS / milliseconds / 1_000).toFixed(1)} million rows per second`;
console.log(`${perSecond(median)} in the median pass`);
// Tells a slow decision from a busy machine.
console.log(`${perSecond(user / 1_000 / PASSES)} of processor time`);
console.log(collections === 0 ? "no garbage collection" : `${collections} garbage collections`);
