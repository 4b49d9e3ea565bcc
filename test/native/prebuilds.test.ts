/** The gate in front of published binaries refuses what would not run where its name says. */
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const here = `${process.platform}-${process.arch}`;
const elsewhere = `${process.platform}-${process.arch === "x64" ? "arm64" : "x64"}`;
const addonName = process.platform === "linux" ? "acpx_lifecycle.glibc.node" : "acpx_lifecycle.node";

let prebuilds: string;
beforeEach(() => {
  prebuilds = mkdtempSync(join(tmpdir(), "acpx-gate-"));
});
afterEach(() => {
  rmSync(prebuilds, { recursive: true });
});

interface Files {
  readonly directory?: string;
  readonly addon?: string;
  readonly mode?: number;
}

function put({ directory = here, addon = addonName, mode = 0o755 }: Files): void {
  const built = join(root, "build/Release");
  const supervisor = join(prebuilds, directory, "acpx_supervisor");
  mkdirSync(join(prebuilds, directory));
  copyFileSync(join(built, "acpx_lifecycle.node"), join(prebuilds, directory, addon));
  copyFileSync(join(built, "acpx_supervisor"), supervisor);
  chmodSync(supervisor, mode);
}

function gate(): { readonly status: number | null; readonly failures: string } {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, "scripts/check-prebuilds.mjs"), prebuilds],
    {
      encoding: "utf8",
    },
  );
  const failures = stdout.split("\n").filter((line) => line.startsWith("FAILED "));
  return { status, failures: failures.join("\n") };
}

interface Row {
  readonly name: string;
  readonly files: Files;
  readonly refusal: string;
}

const rows: readonly Row[] = [
  {
    name: "an addon of another architecture",
    files: { directory: elsewhere },
    refusal: `${elsewhere}/${addonName} is for ${elsewhere.split("-")[1] ?? ""}`,
  },
  {
    name: "a supervisor that may not be run",
    files: { mode: 0o644 },
    refusal: `${here}/acpx_supervisor may be run`,
  },
  {
    name: "an addon under a name that nobody looks for",
    files: { addon: "acpx-lifecycle.node" },
    refusal: `${here} has an addon`,
  },
];
const linuxRows: readonly Row[] = [
  {
    name: "a glibc addon under the name for musl",
    files: { addon: "acpx_lifecycle.musl.node" },
    refusal: `${here}/acpx_lifecycle.musl.node needs no glibc`,
  },
];

test.each([...rows, ...(process.platform === "linux" ? linuxRows : [])])(
  "refused: $name",
  ({ files, refusal }) => {
    put(files);
    const { status, failures } = gate();
    expect(failures).toContain(`FAILED ${refusal}`);
    expect(status).toBe(1);
  },
);

test("what was built here is refused for its glibc at most", () => {
  put({});
  const failures = gate()
    .failures.split("\n")
    .filter((line) => !line.includes("needs no glibc after"));
  expect(failures.join("")).toBe("");
});

test("no prebuilds at all are refused", () => {
  expect(gate().status).toBe(1);
});
