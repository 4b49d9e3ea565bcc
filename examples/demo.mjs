/**
 * Two gateways, the real codex-acp with an MCP server that will not go, crashes, and a pid that somebody else gets:
 * step by step, each claim checked where it is made. Ends with a status other than 0 at the first thing that is not so.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { codexCommand, codexHome, startSilentModel } from "./demo/codex.mjs";
import { Gateway } from "./demo/gateway.mjs";
import { eventually, everybody, isAlive, nameOf, pin, treeOf } from "./demo/processes.mjs";
import { claim, drawLease, elapsed, step, tell } from "./demo/story.mjs";
import { ask } from "./demo/visibility.mjs";

const GRACE_MS = 1_000;
const beside = (file) => fileURLToPath(new URL(file, import.meta.url));
const directory = realpathSync(mkdtempSync(join(tmpdir(), "acpx-lifecycle-demo-")));
const foreignBefore = foreignFiles();
const model = await startSilentModel();
const gateways = [];
/** Every process of a session that was ever shown. */
const seen = new Map();

/** What codex and acpx would write without a home of their own. */
function foreignFiles() {
  return [".codex", ".acpx"].filter((name) => existsSync(join(homedir(), name))).join();
}

function configOf(name) {
  const home = join(directory, name);
  const cwd = join(home, "work");
  mkdirSync(cwd, { recursive: true });
  return {
    stateDir: join(home, "state"),
    wrapperRoot: join(home, "wrappers"),
    termGraceMs: GRACE_MS,
    cwd,
    agents: { codex: codexCommand },
    agentEnv: codexHome(home, model),
    mcpServers: [
      // The last word is for the demo itself: whoever carries it is its own.
      {
        name: "stubborn",
        command: process.execPath,
        args: [beside("stubborn-mcp-server.mjs"), directory],
        env: [],
      },
    ],
  };
}

const sameSet = (left, right) => left.length === right.length && left.every((one) => right.includes(one));

async function startGateway(name, config) {
  const gateway = await Gateway.start(name, config);
  gateways.push(gateway);
  tell(`gateway ${name} is process ${gateway.pid}`);
  return gateway;
}

const noneAlive = (processes) => !processes.some(isAlive);
const isMcpServer = ({ argv }) => argv.includes(beside("stubborn-mcp-server.mjs"));

/** Ensures a session, waits for its MCP server, and shows its lease. */
async function ensure(gateway, sessionKey, owner) {
  const { backendSessionId } = await gateway.call("ensure", { sessionKey, owner });
  return { ...(await running(gateway, sessionKey)), backendSessionId };
}

/** acpx starts the agent of a session that it has a record of with the next turn only. */
async function resume(gateway, sessionKey, requestId) {
  const { backendSessionId } = await gateway.call("ensure", { sessionKey });
  await beginTurn(gateway, sessionKey, requestId);
  return { ...(await running(gateway, sessionKey)), backendSessionId };
}

/** Shows a session once its MCP server is up and codex has done with what it runs at its start (lsb_release). */
async function running(gateway, sessionKey) {
  const atRest = async () => {
    const session = await observe(gateway, sessionKey);
    const [tree, members] = [session.tree, session.members].map((some) => some.map(({ pid }) => pid));
    return session.tree.some(isMcpServer) && sameSet(tree, members) && session;
  };
  return shown(await eventually("a tree with its MCP server, all of it provably its own", atRest));
}

async function show(gateway, sessionKey) {
  return shown(await observe(gateway, sessionKey));
}

async function observe(gateway, sessionKey) {
  const leases = await gateway.call("status", { sessionKey });
  if (leases.length !== 1) throw new Error(`${sessionKey} has ${leases.length} open leases, not one`);
  return { ...leases[0], tree: treeOf(leases[0].lease.rootPid) };
}

function shown(session) {
  drawLease(session);
  for (const process of session.tree) seen.set(process.pid, process);
  return session;
}

/** Begins a turn and resolves when codex has asked its model. */
async function beginTurn(gateway, sessionKey, requestId) {
  const asked = model.asked();
  await gateway.call("turn", { sessionKey, text: "say hello", requestId });
  await asked;
}

async function cancel(gateway, sessionKey, turn) {
  await gateway.call("cancel", { sessionKey });
  return await gateway.event("turn-ended", ({ requestId }) => requestId === turn);
}

async function main() {
  step("a", "Two gateways, one session each");
  const configA = configOf("a");
  let a = await startGateway("A", configA);
  const configB = configOf("b");
  const b = await startGateway("B", configB);
  const [sessionA, sessionB] = ["agent:codex:acp:of-A", "agent:codex:acp:of-B"];
  const parentOfB = "agent:main:main";
  let ownedByA = await ensure(a, sessionA);
  const ownedByB = await ensure(b, sessionB, { spawnedBy: parentOfB });
  for (const { verdict, members, tree } of [ownedByA, ownedByB]) {
    claim(verdict.kind === "owned", `root ${tree[0].pid} is owned, by live evidence`);
    claim(tree.length === members.length, `all ${tree.length} processes of its tree are provably its own`);
  }
  const mcpServer = ownedByA.tree.find(isMcpServer);
  claim(mcpServer.pgid === mcpServer.pid, "codex has put its MCP server into a process group of its own");
  const untouchedB = () => ownedByB.tree.every(isAlive);

  step("b", "A turn on A is cancelled");
  await beginTurn(a, sessionA, "turn-b");
  tell("the agent is waiting for its model; cancelTurn");
  const { result } = await cancel(a, sessionA, "turn-b");
  claim(result.status === "cancelled", "the turn ended as cancelled");
  const afterCancel = await show(a, sessionA);
  claim(afterCancel.lease.rootPid === ownedByA.lease.rootPid, "the root is the same process as before");
  claim(afterCancel.lease.state === "open", "the lease is still open");
  claim(ownedByA.tree.every(isAlive), "no process was ended, not even the smallest");

  step("c", "The session on A is closed, and started again");
  const outcome = await a.call("close", { sessionKey: sessionA, reason: "step c" });
  claim(noneAlive(ownedByA.tree), `when close answers, all ${ownedByA.tree.length} processes are gone`);
  const [settled] = outcome.leases;
  claim(settled.state === "closed", `the lease is closed; how that is known: ${settled.proof}`);
  claim(untouchedB(), "B is untouched");
  const again = await resume(a, sessionA, "turn-c");
  claim(again.lease.leaseId !== ownedByA.lease.leaseId, "started again, it has a new lease");
  claim(again.backendSessionId === ownedByA.backendSessionId, "and goes on with the same session of codex");
  ownedByA = again;

  step("d", "Gateway A is killed with SIGKILL in the middle of that turn");
  const orphaned = pin(ownedByA.tree);
  await a.kill();
  const lasted = await orphaned.gone(GRACE_MS + 500);
  claim(
    lasted !== undefined,
    `the wrapper saw it and ended all ${ownedByA.tree.length} processes in ${Math.round(lasted ?? 0)} ms (grace ${GRACE_MS} ms)`,
  );
  claim(untouchedB(), "B is untouched");

  step("e", "Gateway A and its wrapper are killed in the same instant");
  a = await startGateway("A", configA);
  ownedByA = await resume(a, sessionA, "turn-e1");
  await cancel(a, sessionA, "turn-e1");
  await beginTurn(a, sessionA, "turn-e2");
  const [wrapper, adapter] = ownedByA.tree;
  const killed = pin([wrapper, adapter]);
  // Stopped, the gateway cannot react to the end of the wrapper any more.
  a.child.kill("SIGSTOP");
  process.kill(wrapper.pid, "SIGKILL");
  await a.kill();
  claim((await killed.gone(5_000)) !== undefined, "gateway, wrapper and adapter are dead");
  const survivors = ownedByA.tree.filter(isAlive);
  claim(
    survivors.some(isMcpServer),
    "the MCP server lives on: its environment was cleared, its group is its own",
  );
  claim(
    survivors.every(({ sid }) => sid === adapter.pid),
    `all ${survivors.length} survivors are in the session of the dead adapter`,
  );
  a = await startGateway("A", configA);
  await show(a, sessionA);
  const report = await a.call("reap");
  claim(noneAlive(survivors), "reapStartupOrphans ended them");
  const reaped = report.settled.find(({ leaseId }) => leaseId === ownedByA.lease.leaseId);
  const died = reaped?.deaths.map(({ pid }) => pid) ?? [];
  claim(
    sameSet(
      died,
      survivors.map(({ pid }) => pid),
    ),
    `it saw die exactly those: ${died.join(", ")}`,
  );
  claim(
    reaped?.state === "closed",
    `the lease of the dead gateway is ${reaped?.state}; how: ${reaped?.proof}`,
  );
  claim(untouchedB(), "B is untouched");

  step("f", "The pid in a lease now belongs to a stranger");
  const reuse = await inNamespace({ ...configOf("f"), mcpServers: [] });
  if (reuse.refused !== undefined) {
    tell(
      `this kernel gives no PID namespace to this user, so a pid cannot be reused on purpose: ${reuse.refused}`,
    );
  } else {
    const { lease, stranger, before, report: sweep, strangerLives } = reuse;
    tell(`in a PID namespace of its own; the lease names root ${lease.rootPid}, whose wrapper is dead`);
    claim(stranger.pid === lease.rootPid, `process ${stranger.pid} is now "${nameOf(stranger)}"`);
    claim(before.verdict.kind === "foreign", `the verdict is foreign: ${before.verdict.because}`);
    claim(sweep.settled[0]?.state === "lost", "the sweep settles the lease as lost");
    claim(sweep.deaths === 0 && strangerLives, "nobody was signalled; the stranger lives");
  }

  step("g", "Who gets to see B's session");
  await whoSees(b, configB, sessionB, parentOfB);
  claim(untouchedB(), "B is untouched");

  step("h", "Nothing is left");
  await a.stop();
  await b.call("close", { sessionKey: sessionB });
  claim(noneAlive(ownedByB.tree), "B's session is closed, its processes are gone");
  await b.stop();
  claim(noneAlive([...seen.values()]), `of ${seen.size} processes that were shown none is left`);
  const own = everybody().filter(
    ({ pid, argv }) => pid !== process.pid && argv.some((word) => word.includes(directory)),
  );
  claim(own.length === 0, "no process anywhere names the demo's directory");
  claim(foreignFiles() === foreignBefore, "codex and acpx wrote nothing outside that directory");
}

/** A session of codex that `parent`, a session of the agent main, has spawned. */
async function whoSees(gateway, config, sessionKey, parent) {
  const [stranger, sibling, boxed] = ["agent:ops:main", "agent:codex:main", "agent:codex:boxed"];
  tell(`${parent} has spawned it, as its row says; agents may not see each other's sessions`);

  tell("visibility tree:");
  const asked = model.asked();
  const own = await ask(gateway, parent, sessionKey, "from the parent");
  claim(own.word === "owned", `${parent} lists it, reads it and sends to it: ${own.word}`);
  await asked;
  const { result } = await cancel(gateway, sessionKey, "from the parent");
  claim(result.status === "cancelled", "what it sent has reached the agent's model (and is cancelled now)");
  const strange = await ask(gateway, stranger, sessionKey, "from the stranger");
  claim(
    !strange.allowed && strange.word === "cross_agent_visibility_restricted",
    `${stranger}, a stranger, may do nothing of that: ${strange.word}`,
  );
  for (const message of strange.messages) tell(`  "${message}"`);

  tell("visibility all, by a second gateway on the same state directory:");
  const wide = await startGateway("B2", {
    ...config,
    tools: { sessions: { visibility: "all" } },
    sandboxed: [boxed],
  });
  const stillOwn = await ask(wide, parent, sessionKey);
  claim(stillOwn.word === "owned", `${parent} sees it as before: ${stillOwn.word}`);
  const stillStrange = await ask(wide, stranger, sessionKey, "from the stranger");
  claim(
    !stillStrange.allowed && stillStrange.word === "agent_to_agent_disabled",
    `${stranger} does not: ${stillStrange.word}`,
  );
  const near = await ask(wide, sibling, sessionKey);
  claim(near.word === "same_agent", `${sibling}, of codex as well, does: ${near.word}`);
  const clamped = await ask(wide, boxed, sessionKey, "from the sandbox");
  claim(
    !clamped.allowed && clamped.word === "tree_visibility_restricted",
    `${boxed}, of codex too but in a sandbox, does not: ${clamped.word}`,
  );
  await wide.stop();
}

/** Step f needs a PID namespace and its counter; without privileges a user namespace may allow both. */
async function inNamespace(config) {
  const user = process.getuid() === 0 ? [] : ["--user", "--map-root-user"];
  const unshare = ["--pid", "--fork", "--mount-proc", "--kill-child", ...user];
  const probe = await run("unshare", [...unshare, "test", "-w", "/proc/sys/kernel/ns_last_pid"]);
  if (probe.code !== 0) return { refused: probe.stderr.trim() || "its pid counter cannot be set" };
  // The shell is the namespace's init: it waits for whoever is orphaned, so that dead numbers become free.
  const command = ["sh", "-c", '"$@"; exit $?', "sh", process.execPath, beside("demo/pid-reuse.mjs")];
  const inside = await run("unshare", [...unshare, ...command, JSON.stringify(config)]);
  if (inside.code !== 0) throw new Error(`step f did not run to its end\n${inside.stderr}`);
  return JSON.parse(inside.stdout);
}

async function run(command, args) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  try {
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { code, stdout, stderr };
  } catch (error) {
    return { code: -1, stdout: "", stderr: error.message };
  }
}

try {
  await main();
  process.exitCode = 0;
} catch (error) {
  console.error(`\n${error.stack}`);
  process.exitCode = 1;
} finally {
  model.stop();
  for (const gateway of gateways) if (gateway.child.exitCode === null) await gateway.kill();
  const left = pin([...seen.values()]);
  if ((await left.gone(GRACE_MS + 4_000)) === undefined) left.kill();
  rmSync(directory, { recursive: true, force: true });
}
console.log(
  process.exitCode === 0
    ? `\nAll of it was so, in ${elapsed()} s.`
    : "\nThe demo stopped at the first thing that was not so.",
);
