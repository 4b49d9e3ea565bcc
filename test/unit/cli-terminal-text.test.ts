import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { commandLine, duration, fit, paint, visible, widthOf, wrap } from "../../lib/terminal-text.js";
import { commandLines, durations, fits, hostile } from "../cases/terminal-texts.js";

const rich = { width: 80, colour: true, unicode: true, boxes: true };
const ascii = { ...rich, unicode: false, boxes: false };

describe("nothing of a stranger's text acts on the terminal", () => {
  test.each(hostile)("$name", ({ text, shown }) => {
    expect(visible(rich, text)).toBe(shown);
  });

  test("whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(visible(rich, text)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
        expect(visible(ascii, text)).toMatch(/^[\x20-\x7e]*$/);
        expect(visible(rich, visible(rich, text))).toBe(visible(rich, text));
      }),
    );
  });

  test("letters stay what they are, except where there is only ASCII", () => {
    expect(visible(rich, "agent:日本:é")).toBe("agent:日本:é");
    expect(visible(ascii, "é")).toBe("\\xe9");
  });
});

describe("argument lists as one would type them", () => {
  test.each(commandLines)("$name", ({ argv, shown }) => {
    expect(commandLine(rich, argv)).toBe(shown);
  });
});

describe("cut to a column", () => {
  test.each(fits)("$name", ({ text, width, shown }) => {
    expect(fit(rich, text, width)).toBe(shown);
  });

  test("always as wide as it was to be", () => {
    const text = fc.string({ unit: "grapheme" }).map((any) => visible(rich, any));
    fc.assert(
      fc.property(text, fc.nat(40), fc.boolean(), (text, width, unicode) => {
        expect(widthOf(fit({ ...rich, unicode }, text, width))).toBe(width);
      }),
    );
  });
});

describe("wrapped to the terminal", () => {
  test("no line is wider, and no word is lost", () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { minLength: 1 });
    fc.assert(
      fc.property(words, fc.integer({ min: 24, max: 60 }), fc.nat(8), (words, width, hang) => {
        const wrapped = wrap({ ...rich, width }, words.join(" "), hang);
        const lines = (" ".repeat(hang) + wrapped).split("\n");
        expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
        expect(wrapped.replaceAll(/\s/g, "")).toBe(words.join(""));
      }),
    );
  });

  test("not at all where there is no terminal", () => {
    const long = "word ".repeat(100);
    expect(wrap({ ...rich, width: undefined }, long, 4)).toBe(long);
  });
});

test.each(durations)("$milliseconds ms are $shown", ({ milliseconds, shown }) => {
  expect(duration(milliseconds)).toBe(shown);
});

test("colour is there only where it is wanted", () => {
  expect(paint(rich, "red", "x")).toBe("\x1b[31mx\x1b[0m");
  expect(paint({ ...rich, colour: false }, "red", "x")).toBe("x");
});
