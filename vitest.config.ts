import { defineConfig } from "vitest/config";

// unit: pure rows, milliseconds. native: real processes, no acpx. e2e: the real acpx runtime and real agents.
const project = (name: string, testTimeout: number) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout, pool: "forks" as const },
});

export default defineConfig({
  test: { projects: [project("unit", 20_000), project("native", 60_000), project("e2e", 120_000)] },
});
