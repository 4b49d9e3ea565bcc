// The model-based test for longer than in the test run:  node scripts/model.mjs --runs 10000 [--seed 42]
// Each run is a sequence of 20 to 60 steps; a failure prints its seed and the shortest sequence that shows it.
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "10000" }, seed: { type: "string" } },
});
const env = { ...process.env, MODEL_RUNS: values.runs, ...(values.seed && { MODEL_SEED: values.seed }) };
const vitest = spawn("npx", ["vitest", "run", "--testTimeout=0", "test/unit/model.test.ts"], {
  stdio: "inherit",
  env,
});
vitest.once("exit", (code) => {
  process.exitCode = code ?? 1;
});
