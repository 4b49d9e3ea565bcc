import { describe, expect, test } from "vitest";

import { verifyLegacy } from "../../lib/legacy-record.js";
import { legacyRows } from "../cases/legacy-records.js";
import {
  CLEARED,
  MEMBER_READING,
  OTHER_LEASE,
  ROOT,
  leased,
  live,
  seen,
  token,
} from "../helpers/evidence.js";

/** When the recorded process started, epoch milliseconds. */
const SPAWN = 1_780_000_000_000;
const READING = {
  ...MEMBER_READING,
  pid: 400,
  token: token(1_000_000, 70400),
  readAtTicks: 1_360_000,
  argv: seen(["codex-acp", "--stdio"]),
  environment: CLEARED,
};

describe("a record from before leases", () => {
  test.each(legacyRows)(
    "$name: verified $verified",
    ({ record, reading, heardAfter = 40, clockStep = 0, ...row }) => {
      const verdict = verifyLegacy(
        { pid: 400, argv: ["codex-acp", "--stdio"], ...record, startedAt: SPAWN + heardAfter },
        live({ ...READING, ...reading }),
        {
          lease: leased({ leaseId: OTHER_LEASE.replaceAll("3", "9") }),
          wrapperRoots: [ROOT],
          now: SPAWN + 3_600_000 + clockStep,
        },
      );
      expect(verdict.verified).toBe(row.verified);
      const against = verdict.checks.find(({ outcome }) => outcome !== "match");
      expect(against?.name).toBe(row.against);
      if (against !== undefined) expect(verdict.because).toBe(against.detail);
      for (const { detail } of verdict.checks) expect(detail).toMatch(/^[A-Z].*\.$/s);
    },
  );
});
