import { describe, expect, test } from "vitest";
import { ownerLiveness } from "../../lib/owner-liveness.js";
import { leaseOwners } from "../cases/lease-owners.js";

describe("the gateway of a lease", () => {
  test.each(leaseOwners)("$name: $then", ({ view, then }) => {
    const liveness = ownerLiveness(view);
    const copied = liveness.kind === "alive" && liveness.copied;
    expect(copied ? `${liveness.kind}, copied` : liveness.kind).toBe(then);
    expect(liveness.because).toMatch(/^its gateway|^the lock of its gateway/);
  });
});
