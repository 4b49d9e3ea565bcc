/** No lease, no adapter: what happens until a claim is there, and what the claim changes. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import {
  CLAIMS,
  DETACH,
  GATEWAY_PID,
  INSTANCE_ID,
  LEASE_ID,
  NIL_ID,
  TERM_GRACE,
} from "../../lib/environment.js";
import { startTicks } from "../../lib/identity.js";
import { publishClaim } from "../../lib/claims.js";
import { badClaims } from "../cases/supervisor-claims.js";
import { isAlive } from "../helpers/alive.js";
import { INSTANCE, LEASE, Stage, type Supervised } from "../helpers/supervisor.js";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const ids = { leaseId: LEASE, instanceId: INSTANCE };

function claimPath({ root }: Supervised): string {
  return join(stage.claimsDir, `${root.pid}.${startTicks(root.token) ?? ""}`);
}

/** Puts something at the claim's place as a gateway would: complete, then renamed. */
function put(supervised: Supervised, text: string): void {
  const temporary = join(stage.claimsDir, ".put");
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, claimPath(supervised));
}

test("the adapter starts when the claim is there, and not before", async () => {
  const waiting = stage.startUnclaimed(["announce", "adapter", "forever"]);
  const other = stage.startUnclaimed(["announce", "adapter", "forever"]);
  await publishClaim(stage.claimsDir, other.root, ids);
  await other.announced("adapter");
  // The other one had all that time too, and was woken by the same directory.
  expect(waiting.lines).toEqual([]);
  expect(isAlive(waiting.root)).toBe(true);
  await publishClaim(stage.claimsDir, waiting.root, ids);
  await waiting.announced("adapter");
});

test("a claim that is there before the supervisor looks is not missed", async () => {
  const supervised = stage.startUnclaimed(["announce", "adapter", "forever"], {
    before: ["line"],
  });
  await publishClaim(stage.claimsDir, supervised.root, ids);
  supervised.child.stdin?.write("\n");
  await supervised.announced("adapter");
});

test("supervisor and adapter carry the ids once they are claimed, and placeholders before", async () => {
  const supervised = stage.startUnclaimed(["announce", "adapter", "forever"], {
    before: ["announce", "ready", "line"],
  });
  await supervised.announced("ready");
  const environmentOf = (handle: Supervised["root"]) => {
    const reading = handle.read([LEASE_ID, INSTANCE_ID]);
    return reading.ok && reading.value.environment.ok ? reading.value.environment.value : reading;
  };
  expect(environmentOf(supervised.root)).toEqual({ [LEASE_ID]: NIL_ID, [INSTANCE_ID]: NIL_ID });
  await publishClaim(stage.claimsDir, supervised.root, ids);
  supervised.child.stdin?.write("\n");
  const adapter = await supervised.announced("adapter");
  const carried = { [LEASE_ID]: LEASE, [INSTANCE_ID]: INSTANCE };
  expect(environmentOf(supervised.root)).toEqual(carried);
  expect(environmentOf(adapter)).toEqual(carried);
});

test("the adapter sees no variable that is meant for the supervisor alone", async () => {
  const names = [CLAIMS, GATEWAY_PID, TERM_GRACE, DETACH, LEASE_ID, "HOST_VARIABLE"];
  const words = names.flatMap((name) => ["show-env", name]);
  const { supervised } = await stage.startLeased([...words, "forever"], {
    env: { [DETACH]: "1", HOST_VARIABLE: "kept" },
  });
  await supervised.says(/^HOST_VARIABLE/);
  expect(supervised.lines).toEqual([
    CLAIMS,
    GATEWAY_PID,
    TERM_GRACE,
    DETACH,
    `${LEASE_ID}=${LEASE}`,
    "HOST_VARIABLE=kept",
  ]);
});

test("the reported adapter is a child of the supervisor that leads a group and a session of its own", async () => {
  const { supervised, adapter } = await stage.startLeased(["announce", "adapter", "forever"]);
  const reading = adapter.read([]);
  expect(reading.ok && reading.value).toMatchObject({
    ppid: supervised.root.pid,
    pgid: adapter.pid,
    sid: adapter.pid,
  });
  const own = supervised.root.read([]);
  const gateway = stage.pin(process.pid).read([]);
  expect(own.ok && gateway.ok && own.value.sid !== gateway.value.sid).toBe(true);
  expect(own.ok && own.value.pgid).toBe(supervised.root.pid);
});

test.each(badClaims)("not started: $name", async ({ text }) => {
  const supervised = stage.startUnclaimed(["announce", "adapter"]);
  put(supervised, text(supervised.root.token));
  expect(await supervised.end()).toEqual({ code: 75, signal: null });
  await supervised.silent;
  expect(supervised.lines).toEqual([]);
  expect(supervised.stderr).toMatch(/^acpx-lifecycle: [^\n]*; the command was not started\n$/);
});

test.each([
  [
    "a symbolic link",
    (path: string) => {
      symlinkSync("elsewhere", path);
    },
  ],
  [
    "a directory",
    (path: string) => {
      mkdirSync(path);
    },
  ],
])("not started: %s stands where the claim belongs", async (_, make) => {
  const supervised = stage.startUnclaimed(["announce", "adapter"]);
  const temporary = join(stage.claimsDir, ".made");
  make(temporary);
  renameSync(temporary, claimPath(supervised));
  expect((await supervised.end()).code).toBe(75);
  await supervised.silent;
  expect(supervised.lines).toEqual([]);
});

test.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const)(
  "%s while no claim is there ends the supervisor at once, and nothing was started",
  async (signal) => {
    // Blocked from the start, it is pending when the supervisor comes to look.
    const supervised = stage.startUnclaimed(["announce", "adapter"], {
      before: ["block", signal.slice(3), "announce", "ready", "line"],
    });
    await supervised.announced("ready");
    supervised.root.signal(signal);
    supervised.child.stdin?.write("\n");
    expect(await supervised.end()).toEqual({ code: null, signal });
    await supervised.silent;
    expect(supervised.lines).toEqual([`ready ${supervised.root.pid}`]);
  },
);

test("a signal that came before the adapter is replayed to it", async () => {
  const supervised = stage.startUnclaimed(["forever"], {
    before: ["block", "USR1", "announce", "ready", "line"],
  });
  await supervised.announced("ready");
  supervised.root.signal("SIGUSR1");
  await publishClaim(stage.claimsDir, supervised.root, ids);
  supervised.child.stdin?.write("\n");
  expect(await supervised.end()).toEqual({ code: null, signal: "SIGUSR1" });
});

test("variables of a gateway that is dead, or another process by now: not started", async () => {
  const gone = stage.start(["exit", "0"]);
  const identity = `${gone.root.pid} ${gone.root.token}`;
  await gone.end();
  const self = stage.environment();
  for (const gateway of [identity, `${process.pid} ${gone.root.token}`, "1", "x y", "99999999 token"]) {
    const supervised = stage.start(["announce", "adapter"], { env: { ...self, [GATEWAY_PID]: gateway } });
    expect(await supervised.end(), gateway).toEqual({ code: 75, signal: null });
    await supervised.silent;
    expect(supervised.lines).toEqual([]);
  }
});

test("half of the claim variables, or a directory that is not there: not started", async () => {
  const { [CLAIMS]: claims = "", [GATEWAY_PID]: gateway = "", ...rest } = stage.environment();
  for (const env of [
    { ...rest, [CLAIMS]: claims },
    { ...rest, [GATEWAY_PID]: gateway },
    { ...rest, [CLAIMS]: `${claims}/missing`, [GATEWAY_PID]: gateway },
  ]) {
    const supervised = stage.start(["announce", "adapter"], { env });
    expect((await supervised.end()).code).toBe(75);
    await supervised.silent;
    expect(supervised.lines).toEqual([]);
  }
});

test("variables that were inherited through another child of the gateway are dropped, and no lease is needed", async () => {
  const words = [CLAIMS, GATEWAY_PID, LEASE_ID].flatMap((name) => ["show-env", name]);
  const supervised = stage.startUnclaimed(words, { via: ["sh", "-c", '"$0" "$@"; exit $?'] });
  expect(await supervised.end()).toEqual({ code: 0, signal: null });
  await supervised.silent;
  expect(supervised.lines).toEqual([CLAIMS, GATEWAY_PID, LEASE_ID]);
});

test("an unleased supervisor keeps the ids of the lease that it runs under", async () => {
  const supervised = stage.start(["show-env", LEASE_ID], { env: { [LEASE_ID]: LEASE } });
  await supervised.says(new RegExp(`^${LEASE_ID}=${LEASE}$`));
});

test("claims are removed once they are used, and no temporary file stays", async () => {
  const { supervised } = await stage.startLeased(["forever"]);
  const name = `${supervised.root.pid}.${startTicks(supervised.root.token) ?? ""}`;
  const files = await readdir(stage.claimsDir);
  expect(files.filter((file) => file.includes(name))).toEqual([`${name}.report`]);
});
