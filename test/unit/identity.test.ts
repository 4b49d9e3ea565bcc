import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  compareStartTokens,
  notYounger,
  parseStartToken,
  sameScope,
  startNumber,
  startTicks,
} from "../../lib/identity.js";
import { ages, comparisons } from "../cases/identity-tokens.js";
import { BOOT, token } from "../helpers/evidence.js";

describe("compareStartTokens", () => {
  test.each(comparisons)("$name: $expected", ({ recorded, observed, expected }) => {
    expect(compareStartTokens(recorded, observed)).toBe(expected);
    expect(compareStartTokens(observed, recorded)).toBe(expected);
    expect(sameScope(recorded, observed)).toBe(expected !== "not-comparable");
  });
});

describe("notYounger", () => {
  test.each(ages)("$name: $expected", ({ a, b, expected }) => {
    expect(notYounger(a, b)).toBe(expected);
  });
});

test("start ticks are numbers on Linux and absent elsewhere", () => {
  expect(startTicks(token(1234, 5))).toBe(1234);
  expect(startTicks(`darwin;boot=${BOOT};unique=1234`)).toBeUndefined();
  expect(startTicks("linux;ticks=1234")).toBeUndefined();
});

test("a start number is the ticks on Linux and the unique id on macOS", () => {
  expect(startNumber(token(1234, 5))).toBe(1234);
  expect(startNumber(`darwin;boot=${BOOT};unique=1234`)).toBe(1234);
  expect(startNumber("linux;ticks=1234")).toBeUndefined();
});

test("no text makes the parser throw, and only the exact format is a token", () => {
  const pieces = fc.constantFrom(
    "linux",
    "darwin",
    ";",
    "boot=",
    BOOT,
    "pidns=1",
    "ticks=1",
    "inode=1",
    "unique=1",
    "\n",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces).map((parts) => parts.join("")),
      ),
      (text) => {
        const parsed = parseStartToken(text);
        expect(compareStartTokens(text, text)).toBe(
          parsed === undefined
            ? "not-comparable"
            : parsed.platform === "linux" && !parsed.inode
              ? "same-weak"
              : "same",
        );
      },
    ),
  );
});
