import { defineConfig } from "vitest/config";

// unit: pure rows, milliseconds. native: real processes, no acpx. e2e: the real acpx runtime and real agents.
const project = (name: string, testTimeout: number) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout },
});

export default defineConfig({
  test: {
    pool: "forks",
    // Most of a run is waiting for processes to start and end, so more files than cores go at once.
    maxWorkers: 4,
    globalSetup: "test/helpers/leftovers.ts",
    // The names of rows are sentences; they are what a failure says.
    chaiConfig: { truncateThreshold: 0 },
    projects: [
      project("unit", 60_000),
      project("native", 120_000),
      project("e2e", 120_000),
      // What only a Mac's kernel can show.
      ...(process.platform === "darwin" ? [project("darwin", 60_000)] : []),
    ],
  },
});
