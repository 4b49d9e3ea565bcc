/** Installing the image, and the gateway's side of the claims. */
import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterEach, beforeEach, expect, test } from "vitest";

import { LifecycleError } from "../../lib/errors.js";
import { backend, supervisorImage } from "../../lib/native.js";
import {
  publishClaim,
  readDetached,
  readReport,
  removeClaimFiles,
  sweepClaims,
  watchClaims,
} from "../../lib/claims.js";
import { installWrapper, wrapperEnvironment } from "../../lib/wrapper.js";
import { INSTANCE, LEASE, soon } from "../helpers/supervisor.js";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "acpx-wrapper-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const TOKEN =
  "linux;boot=0a1b2c3d-0000-4000-8000-00000000b007;pidns=4026531836;timens=4026531834;ticks=4711;inode=9";
const ROOT = { pid: 1234, token: TOKEN };
const image = () => supervisorImage() ?? "";

test("the installed wrapper is a private copy of the image that runs", async () => {
  const wrapperRoot = join(directory, "state", "wrappers");
  const installed = await installWrapper({ wrapperRoot, name: "codex-wrapper" });
  const { dev, ino } = statSync(installed.path, { bigint: true });
  expect(installed).toEqual({
    path: join(wrapperRoot, "codex-wrapper"),
    realPath: join(realpathSync(wrapperRoot), "codex-wrapper"),
    fileId: `${dev}:${ino}`,
  });
  expect(statSync(wrapperRoot).mode & 0o777).toBe(0o700);
  expect(statSync(installed.path).mode & 0o777).toBe(0o700);
  expect(readFileSync(installed.path).equals(readFileSync(image()))).toBe(true);
  expect(execFileSync(installed.path, ["--self-check"], { encoding: "utf8" })).toBe("ok\n");
  expect(readdirSync(wrapperRoot)).toEqual(["codex-wrapper"]);
});

test("an image of the same content stays, installed again or by many at once", async () => {
  const request = { wrapperRoot: directory, name: "wrapper" };
  const all = await Promise.all(Array.from({ length: 8 }, () => installWrapper(request)));
  expect(new Set(all.map(({ fileId }) => fileId)).size).toBe(1);
  expect(await installWrapper(request)).toEqual(all[0]);
  expect(readdirSync(directory)).toEqual(["wrapper"]);
});

test("two processes that install the same image agree on one file", async () => {
  const module = new URL("../../dist/wrapper.js", import.meta.url).href;
  const script = `
    const { installWrapper } = await import(${JSON.stringify(module)});
    console.log((await installWrapper({ wrapperRoot: process.argv[1], name: "wrapper" })).fileId);
  `;
  const run = () =>
    promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script, directory]);
  const [first, second] = await Promise.all([run(), run()]);
  expect(first.stdout).toBe(second.stdout);
});

test("another content, a link or a file that is not private is replaced", async () => {
  const path = join(directory, "wrapper");
  for (const make of [
    () => {
      writeFileSync(path, "#!/bin/sh\nexit 1\n", { mode: 0o700 });
    },
    () => {
      symlinkSync(image(), path);
    },
    () => {
      copyFileSync(image(), path);
      chmodSync(path, 0o777);
    },
  ]) {
    rmSync(path, { force: true });
    make();
    const before = statSync(path, { bigint: true }).ino;
    await installWrapper({ wrapperRoot: directory, name: "wrapper" });
    expect(statSync(path, { bigint: true }).ino).not.toBe(before);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  }
});

async function refusal(request: Parameters<typeof installWrapper>[0]): Promise<LifecycleError> {
  try {
    await installWrapper(request);
  } catch (error) {
    if (error instanceof LifecycleError) return error;
    throw error;
  }
  throw new Error("it was installed");
}

test("a wrapperRoot below a file is refused by name", async () => {
  writeFileSync(join(directory, "file"), "");
  const wrapperRoot = join(directory, "file", "wrappers");
  const error = await refusal({ wrapperRoot, name: "wrapper" });
  expect(error.code).toBe("ERR_WRAPPER_ROOT");
  expect(error.message).toContain(wrapperRoot);
  expect(error.message).toMatch(/choose another wrapperRoot/);
});

test("a wrapperRoot whose content may not be executed is refused by name, in a mount namespace of its own", () => {
  const module = new URL("../../dist/wrapper.js", import.meta.url).href;
  const script = `
    const { installWrapper } = await import(${JSON.stringify(module)});
    const refused = await installWrapper({ wrapperRoot: process.argv[1], name: "wrapper" }).catch((error) => error);
    console.log(JSON.stringify({ code: refused.code, message: refused.message }));
  `;
  const user = process.geteuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const inside = (options: string) =>
    JSON.parse(
      execFileSync(
        "unshare",
        [
          ...user,
          "--mount",
          "sh",
          "-c",
          `mount -t tmpfs -o ${options} none "$1" && shift && exec "$@"`,
          "sh",
          directory,
          process.execPath,
          "--input-type=module",
          "--eval",
          script,
          directory,
        ],
        { encoding: "utf8" },
      ),
    ) as { code?: string; message?: string };
  for (const [options, reason] of [
    ["noexec", "may not be executed"],
    ["ro", "read-only"],
    ["size=64k", "disk is full"],
  ] as const) {
    const refused = inside(options);
    expect(refused.code).toBe("ERR_WRAPPER_ROOT");
    expect(refused.message).toContain(directory);
    expect(refused.message).toContain(reason);
  }
  expect(inside("exec")).toEqual({});
});

test("an image for another machine, or one that does something else, is refused", async () => {
  const other = join(directory, "other");
  const elf = readFileSync(image());
  elf.writeUInt16LE(243, 18); // e_machine: RISC-V
  writeFileSync(other, elf);
  const wrapperRoot = join(directory, "wrappers");
  const wrong = await refusal({ wrapperRoot, name: "wrapper", image: other });
  expect(wrong.code).toBe("ERR_WRAPPER_ROOT");
  expect(wrong.message).toContain(wrapperRoot);

  writeFileSync(other, "#!/bin/sh\necho not ok\n");
  const silent = await refusal({ wrapperRoot, name: "wrapper", image: other });
  expect(silent.code).toBe("ERR_WRAPPER_ROOT");
  expect(silent.message).toContain("does not answer");
});

test.each(["", ".", "..", "a/b"])("%j is no name for a wrapper", async (name) => {
  expect((await refusal({ wrapperRoot: directory, name })).code).toBe("ERR_INVALID_OPTION");
});

test("a relative directory of claims is misuse", () => {
  const gateway = { pid: 1, token: TOKEN };
  expect(() => wrapperEnvironment({ claimsDir: "claims", gateway, termGraceMs: 0 })).toThrow(TypeError);
});

test("a claim appears whole and private, whatever stray was left", async () => {
  writeFileSync(join(directory, ".1234.4711"), "stray");
  await publishClaim(directory, ROOT, { leaseId: LEASE, instanceId: INSTANCE });
  expect(readdirSync(directory)).toEqual(["1234.4711"]);
  const path = join(directory, "1234.4711");
  expect(readFileSync(path, "utf8")).toBe(`token ${TOKEN}\nlease ${LEASE}\ninstance ${INSTANCE}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a claim that cannot be written says where", async () => {
  const missing = join(directory, "missing");
  await expect(publishClaim(missing, ROOT, { leaseId: LEASE, instanceId: INSTANCE })).rejects.toMatchObject({
    code: "ERR_STATE_DIR",
    message: expect.stringContaining(missing) as string,
  });
});

const reports: readonly (readonly [string, string, number | undefined])[] = [
  ["a report", "adapter 77\n", 77],
  ["an empty report", "", undefined],
  ["a report cut short", "adapter 77", undefined],
  ["a report about nobody", "adapter 0\n", undefined],
  ["a report about a negative number", "adapter -1\n", undefined],
  ["a report that goes on", "adapter 77\nmore\n", undefined],
  ["a report larger than any report", `adapter 77\n${" ".repeat(5000)}`, undefined],
];
test.each(reports)("%s is read as what it is", async (_, text, expected) => {
  writeFileSync(join(directory, "1234.4711.report"), text);
  expect(await readReport(directory, ROOT)).toBe(expected);
});

test("reports that are links or pipes are not read", async () => {
  const report = join(directory, "1234.4711.report");
  writeFileSync(join(directory, "elsewhere"), "adapter 77\n");
  symlinkSync("elsewhere", report);
  expect(await readReport(directory, ROOT)).toBeUndefined();
  rmSync(report);
  execFileSync("mkfifo", [report]);
  expect(await readReport(directory, ROOT)).toBeUndefined();
});

test("of a list of those who opted out the readable lines count", async () => {
  writeFileSync(
    join(directory, "1234.4711.detached"),
    `5 ${TOKEN}\n0 ${TOKEN}\nx\n6 token\n-7 ${TOKEN}\n8 ${TOKEN}\n`,
  );
  expect((await readDetached(directory, ROOT)).map(({ pid }) => pid)).toEqual([5, 8]);
});

test("a report is heard of whether it comes before or after it is expected", async () => {
  const claims = watchClaims(directory);
  const other = { pid: 99, token: TOKEN };
  using late = claims.expectReport(ROOT);
  using never = claims.expectReport(other);
  writeFileSync(join(directory, "1234.4711.report"), "adapter 77\n");
  expect(await soon(late.arrived, "the report is not heard of")).toBe(77);
  using early = claims.expectReport(ROOT);
  expect(await soon(early.arrived, "the report is not heard of")).toBe(77);
  expect(await Promise.race([never.arrived, Promise.resolve("nothing")])).toBe("nothing");
  claims.close();
});

test("a directory that cannot be watched is looked at instead", async () => {
  const later = join(directory, "later");
  const claims = watchClaims(later);
  using expected = claims.expectReport(ROOT);
  mkdirSync(later);
  writeFileSync(join(later, "1234.4711.report"), "adapter 77\n");
  expect(await soon(expected.arrived, "the report is not heard of")).toBe(77);
  claims.close();
});

test("files are removed with their supervisor, and strays with the sweep; other names stay", async () => {
  const own = ["1234.4711", "1234.4711.report", "1234.4711.detached"];
  const stale = ["55.1", ".55.1", "55.1.report", ".55.1.report", "55.1.detached"];
  const others = ["1234.4712", "66.2.report", "notes", "55.1.other", "0.1"];
  for (const name of [...own, ...stale, ...others]) writeFileSync(join(directory, name), "");
  await removeClaimFiles(directory, ROOT);
  expect(own.some((name) => existsSync(join(directory, name)))).toBe(false);
  await sweepClaims(directory, ({ pid, ticks }) => pid === 55 && ticks === 1);
  expect(readdirSync(directory).sort()).toEqual([...others].sort());
});

test("a gateway's own identity is what the supervisor expects", () => {
  const self = backend().selfToken;
  const token = self.ok ? self.value : "";
  const environment = wrapperEnvironment({
    claimsDir: directory,
    gateway: { pid: process.pid, token },
    termGraceMs: 250,
  });
  expect(environment).toEqual({
    OPENCLAW_ACPX_CLAIMS: directory,
    OPENCLAW_GATEWAY_PID: `${process.pid} ${token}`,
    OPENCLAW_ACPX_TERM_GRACE_MS: "250",
    OPENCLAW_ACPX_LEASE_ID: "00000000-0000-0000-0000-000000000000",
    OPENCLAW_GATEWAY_INSTANCE_ID: "00000000-0000-0000-0000-000000000000",
    OPENCLAW_ACPX_LEASE_DETACH: "",
  });
});
