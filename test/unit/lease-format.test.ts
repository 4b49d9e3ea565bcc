import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LEASE_SIZE_LIMIT, packLease, unpackLease } from "../../lib/lease-format.js";
import { leaseTexts, wholeText } from "../cases/lease-texts.js";

describe("a text becomes a whole lease or a reason", () => {
  test.each(leaseTexts)("$name: $becomes", ({ text, becomes }) => {
    const unpacked = unpackLease(text);
    expect(unpacked.ok ? "lease" : unpacked.reason).toBe(becomes);
    if (unpacked.ok) expect(unpackLease(packLease(unpacked.lease))).toEqual(unpacked);
  });

  test("wherever a file is torn, no lease is left", () => {
    for (let length = 0; length < wholeText.trimEnd().length; length++)
      expect(unpackLease(wholeText.slice(0, length))).toMatchObject({ ok: false, reason: "damaged" });
  });

  test("any value in any field gives a lease that reads back, or a reason; never an exception", () => {
    const fields = Object.keys(JSON.parse(wholeText) as object);
    const hostile = fc.oneof(
      fc.jsonValue(),
      fc.string({ unit: "binary" }),
      fc.double(),
      fc.constant(undefined),
    );
    fc.assert(
      fc.property(fc.constantFrom(...fields, "__proto__", "toString"), hostile, (name, value) => {
        const changed = { ...(JSON.parse(wholeText) as object), [name]: value };
        const unpacked = unpackLease(JSON.stringify(changed));
        if (!unpacked.ok) return;
        expect(unpackLease(packLease(unpacked.lease))).toEqual(unpacked);
        expect(fields).toEqual(expect.arrayContaining(Object.keys(unpacked.lease)));
      }),
      { numRuns: 2000 },
    );
  });

  test("any text at all gives a reason", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (text) => {
        expect(unpackLease(text).ok).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("a lease with every field at its bound is within the size limit", () => {
    const wide = (length: number) => "\u{10ffff}".repeat(length / 2);
    const { owner, ...rest } = JSON.parse(wholeText) as { owner: object };
    const text = JSON.stringify({
      ...rest,
      sessionKey: wide(4096),
      wrapperRoot: "\u0001".repeat(16_384),
      wrapperPath: "\u0001".repeat(16_384),
      launchId: wide(512),
      commandHash: wide(512),
      rootToken: wide(512),
      adapterToken: wide(512),
      reason: wide(1000),
      owner: { ...owner, token: wide(512), host: wide(128) },
    });
    expect(unpackLease(text).ok).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThan(LEASE_SIZE_LIMIT);
  });
});
