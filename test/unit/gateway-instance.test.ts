import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resolveGatewayInstanceId } from "../../lib/gateway-instance.js";

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "acpx-gateway-instance-"));
});
afterEach(() => {
  rmSync(stateDir, { recursive: true });
});

test("a state directory is given its id once, in a private file", async () => {
  const id = await resolveGatewayInstanceId({ stateDir });
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(await resolveGatewayInstanceId({ stateDir })).toBe(id);
  const file = join(stateDir, "gateway-instance-id");
  expect(await readFile(file, "utf8")).toBe(`${id}\n`);
  expect(statSync(file).mode & 0o7777).toBe(0o600);
  expect(await readdir(join(stateDir, "leases", "tmp"))).toEqual([]);
});

test("two state directories are two installations", async () => {
  const first = await resolveGatewayInstanceId({ stateDir: join(stateDir, "a") });
  expect(await resolveGatewayInstanceId({ stateDir: join(stateDir, "b") })).not.toBe(first);
});

test("fifty callers of one process agree", async () => {
  const ids = await Promise.all(Array.from({ length: 50 }, () => resolveGatewayInstanceId({ stateDir })));
  expect(new Set(ids).size).toBe(1);
});

test.each([
  { name: "empty", text: "" },
  { name: "torn", text: "8c6c2f0e-53a5-4f0e" },
  { name: "the placeholder", text: "00000000-0000-0000-0000-000000000000\n" },
  { name: "two ids", text: "8c6c2f0e-53a5-4f0e-bb6e-52d9a5a4c9f1\n8c6c2f0e-53a5-4f0e-bb6e-52d9a5a4c9f2\n" },
  { name: "a megabyte", text: "8".repeat(1 << 20) },
])(
  "a damaged file ($name) is named and left as it is: a new id would disown every lease",
  async ({ text }) => {
    const file = join(stateDir, "gateway-instance-id");
    writeFileSync(file, text);
    await expect(resolveGatewayInstanceId({ stateDir })).rejects.toMatchObject({
      code: "ERR_STATE_DIR",
      message: expect.stringContaining(file) as string,
    });
    expect(await readFile(file, "utf8")).toBe(text);
  },
);

test("a link in the place of the file is not followed", async () => {
  writeFileSync(join(stateDir, "elsewhere"), "8c6c2f0e-53a5-4f0e-bb6e-52d9a5a4c9f1\n");
  symlinkSync("elsewhere", join(stateDir, "gateway-instance-id"));
  await expect(resolveGatewayInstanceId({ stateDir })).rejects.toThrow(/gateway-instance-id.*symbolic link/);
});
