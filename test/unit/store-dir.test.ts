import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { resolveGatewayInstanceId } from "../../lib/gateway-instance.js";
import { createLeaseStore } from "../../lib/lease-store.js";
import { openStateDir } from "../../lib/state-dir.js";
import { preparedLease } from "../helpers/lease-samples.js";

let root: string;
beforeEach(() => {
  root = realpathSync.native(mkdtempSync(join(tmpdir(), "acpx-state-dir-")));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true });
});

describe("one directory, however it is written", () => {
  const spellings: { name: string; of: (real: string) => string }[] = [
    { name: "with a trailing slash", of: (real) => `${real}///` },
    { name: "relative", of: (real) => relative(process.cwd(), real) },
    { name: "with dots in it", of: (real) => `${real}/../${real.split("/").at(-1) ?? ""}/.` },
    {
      name: "through a link",
      of: (real) => {
        symlinkSync(real, join(root, "link"));
        return join(root, "link");
      },
    },
    {
      name: "through a link to its parent",
      of: (real) => {
        symlinkSync(root, join(root, "parent"));
        return join(root, "parent", real.split("/").at(-1) ?? "");
      },
    },
  ];

  test.each(spellings)("$name: same store, same instance", async ({ of }) => {
    const real = join(root, `a b'c "d"`);
    const store = await createLeaseStore({ stateDir: real });
    const spelling = of(real);
    const lease = preparedLease({ wrapperPath: `${real}/wrappers/codex` });
    await store.create(lease);
    expect((await openStateDir(spelling)).path).toBe(real);
    const id = await resolveGatewayInstanceId({ stateDir: real });
    expect(await resolveGatewayInstanceId({ stateDir: spelling })).toBe(id);
    expect((await (await createLeaseStore({ stateDir: spelling })).listOpen()).leases).toEqual([lease]);
  });
});

describe("a state directory that cannot be one", () => {
  test.each(["", "a\0b", undefined, 7])("%j is misuse", async (path) => {
    await expect(openStateDir(path as string)).rejects.toThrow(TypeError);
  });

  test("a file in its place is named", async () => {
    writeFileSync(join(root, "file"), "");
    await expect(openStateDir(join(root, "file"))).rejects.toMatchObject({ code: "ERR_STATE_DIR" });
    await expect(openStateDir(join(root, "file", "below"))).rejects.toThrow(/file.*below/);
  });

  test("a link in the place of one of our directories is not followed", async () => {
    mkdirSync(join(root, "elsewhere"));
    symlinkSync("elsewhere", join(root, "claims"));
    await expect(openStateDir(root)).rejects.toThrow(/claims is no directory of ours/);
  });

  test("a link that leads nowhere is named", async () => {
    symlinkSync("nowhere", join(root, "dangling"));
    await expect(openStateDir(join(root, "dangling"))).rejects.toMatchObject({ code: "ERR_STATE_DIR" });
  });
});

describe("an ancestor that every user may write to", () => {
  test("is a warning for a user, and an error for root, whom others could lead astray", async () => {
    const open = join(root, "open");
    mkdirSync(join(open, "state"), { recursive: true });
    chmodSync(open, 0o777);
    vi.spyOn(process, "geteuid").mockReturnValue(1000);
    expect((await openStateDir(join(open, "state"))).warnings).toEqual([
      expect.stringContaining(`${open} is writable`),
    ]);
    vi.spyOn(process, "geteuid").mockReturnValue(0);
    await expect(openStateDir(join(open, "state"))).rejects.toThrow(`${open} is writable by every user`);
  });

  test("is no matter where the sticky bit keeps others from renaming", async () => {
    chmodSync(root, 0o1777);
    expect((await openStateDir(join(root, "state"))).warnings).toEqual([]);
  });
});
