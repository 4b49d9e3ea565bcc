import { stripVTControlCharacters } from "node:util";

import { describe, expect, test } from "vitest";

import { statusText } from "../../lib/cli-status-text.js";
import { widthOf } from "../../lib/terminal-text.js";
import { ascii, narrow, renderings, wide } from "../cases/cli-renderings.js";
import { leaseSample, processSample, statusSample } from "../helpers/cli-samples.js";

const trimmed = (text: string) => text.replaceAll(/ +$/gm, "");

describe("reports as they read", () => {
  test.each(renderings)("$name", ({ text, reads }) => {
    expect(trimmed(text)).toBe(reads.replace(/^\n/, ""));
  });
});

test("colour adds nothing but colour", () => {
  const report = statusSample();
  const coloured = statusText({ ...wide, colour: true }, report, false);
  const plain = statusText(wide, report, false);
  expect(coloured).not.toBe(plain);
  expect(stripVTControlCharacters(coloured)).toBe(plain);
});

test("under a locale without UTF-8 every byte is ASCII", () => {
  const lease = leaseSample({
    sessionKey: "é".repeat(60),
    members: [processSample(2, 1, { program: "日本" })],
  });
  expect(statusText(ascii, statusSample({ leases: [lease] }), false)).toMatch(/^[\n\x20-\x7e]*$/);
});

test("no row is wider than the terminal", () => {
  const lease = leaseSample({ sessionKey: "日本語".repeat(60) });
  const lines = statusText(narrow, statusSample({ leases: [lease] }), true).split("\n");
  expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(60);
});

test("processes whose parents form a loop are drawn once each", () => {
  const lease = leaseSample({ members: [processSample(7, 8), processSample(8, 7)] });
  const text = statusText(wide, statusSample({ leases: [lease] }), false);
  expect(text.match(/program-7/g)).toHaveLength(1);
  expect(text.match(/program-8/g)).toHaveLength(1);
});
