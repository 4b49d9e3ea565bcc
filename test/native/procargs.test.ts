/**
 * The layouts of KERN_PROCARGS2 that macOS produces, decoded on every platform under AddressSanitizer. The files model
 * XNU's exec_save_path, exec_extract_strings, exec_add_apple_strings and sysctl_procargsx.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

/** Text that is not UTF-8 is written as Python does it: byte 0x80 + n as U+DC80 + n. */
interface Layout {
  readonly bytes: number;
  /** "garbled" or "gone": nothing of the answer is used. */
  readonly exe: string;
  readonly argv: readonly string[] | string;
  readonly env: "visible" | "denied" | "garbled" | "gone";
  readonly lease: string | null;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const recorded = join(root, "test/fixtures/procargs");
const layouts = JSON.parse(readFileSync(join(recorded, "cases.json"), "utf8")) as Record<string, Layout>;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "acpx-procargs-"));
  const flags = ["-std=c++17", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
  const sources = ["test/native/procargs_print.cc", "native/decode.cc"].map((file) => join(root, file));
  execFileSync(process.env["CXX"] ?? "c++", [
    ...flags,
    `-I${join(root, "native")}`,
    "-o",
    join(directory, "print"),
    ...sources,
  ]);
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

test.each(Object.entries(layouts))("an argument area, %s", (name, layout) => {
  const answer = readFileSync(join(recorded, `${name}.bin`));
  expect(answer.length).toBe(layout.bytes);
  // Only the truncated answer filled the buffer that was offered.
  const offered = name === "truncated" ? layout.bytes : layout.bytes + 1;

  const printed = execFileSync(join(directory, "print"), [String(offered)], { input: answer }).toString(
    "latin1",
  );

  const [exe, env, lease, ...argv] = printed.split("\0").slice(0, -1);
  if (layout.env === "garbled" || layout.env === "gone") {
    expect(printed).toBe("");
  } else {
    expect({ exe, env, lease, argv }).toEqual({
      exe: asLatin1(layout.exe),
      env: layout.env,
      lease: layout.lease ?? "",
      argv: [layout.argv].flat().map(asLatin1),
    });
  }
});

function asLatin1(text: string): string {
  const bytes = Array.from(text).map((character) => {
    const code = character.charCodeAt(0);
    return code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(character);
  });
  return Buffer.concat(bytes).toString("latin1");
}
