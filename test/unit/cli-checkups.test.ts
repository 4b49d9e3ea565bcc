import { describe, expect, test } from "vitest";

import { examineFacts } from "../../lib/checkups.js";
import { findings, FOUND, HEALTHY } from "../cases/checkups.js";

describe("doctor finds", () => {
  test.each(findings)("$name, and says what helps", ({ facts, about, outcome, found }) => {
    const checkups = examineFacts({ ...HEALTHY, ...facts });
    expect(checkups).toContainEqual({
      about,
      outcome,
      found: expect.stringMatching(found) as string,
      remedy: expect.stringMatching(/\.$/) as string,
    });
  });
});

test("where everything is in order it says so of each subject, and of what it cannot see", () => {
  const checkups = examineFacts(HEALTHY);
  expect(checkups.filter(({ outcome }) => outcome !== "ok").map(({ about }) => about)).toEqual(["terminals"]);
  expect(checkups.filter(({ outcome, remedy }) => outcome === "ok" && remedy !== undefined)).toEqual([]);
});

test("a machine without limits, and a directory that no launch has made yet, are in order", () => {
  const checkups = examineFacts({
    ...HEALTHY,
    limits: { openFiles: Infinity, processes: Infinity },
    stateDir: { kind: "absent", path: FOUND.path },
    wrapperRoots: [{ path: "/srv/wrappers", images: 0, refused: [] }],
  });
  expect(checkups.filter(({ outcome }) => outcome === "problem")).toEqual([]);
  expect(checkups.map(({ about, found }) => `${about} ${found}`)).toContain(
    "open files Unlimited (RLIMIT_NOFILE).",
  );
});
