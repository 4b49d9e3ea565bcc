/**
 * Step f, as the first process of a PID namespace of its own: a gateway, its wrapper and its agent are killed, and
 * the wrapper's number is given to a stranger. Prints what it saw as one JSON object.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Gateway } from "./gateway.mjs";
import { eventually, isAlive, look, pin, treeOf } from "./processes.mjs";

const config = JSON.parse(process.argv[2]);
const gateway = await Gateway.start("first", config);
await gateway.call("ensure", { sessionKey: "reused" });
const [{ lease }] = await gateway.call("status");
const tree = treeOf(lease.rootPid);
const ending = pin(tree);
// Stopped, it cannot react to the wrapper's end any more: as if all died in the same instant.
gateway.child.kill("SIGSTOP");
for (const { pid } of tree) process.kill(pid, "SIGKILL");
await gateway.kill();
if ((await ending.gone(10_000)) === undefined) throw new Error("the killed tree did not end");

const stranger = await strangerWithPid(lease.rootPid);
const second = await Gateway.start("second", config);
const [before] = await second.call("status");
const report = await second.call("reap");
await second.stop();
console.log(JSON.stringify({ lease, stranger, before, report, strangerLives: isAlive(stranger) }));
process.kill(stranger.pid, "SIGKILL");

/** Until its exec the stranger still looks like the shell that forked it. */
function isSleep(seen) {
  return seen?.argv[0] === "sleep" && seen;
}

/** The next fork of a namespace gets the number after the one written to ns_last_pid, if that is free. */
async function strangerWithPid(wanted) {
  const script = `echo ${wanted - 1} > /proc/sys/kernel/ns_last_pid && { sleep 600 & } && echo $!; wait`;
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const shell = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(createInterface({ input: shell.stdout }), "line");
    const pid = Number(line);
    if (pid === wanted) return await eventually("the stranger", () => isSleep(look(pid)));
    process.kill(pid, "SIGKILL");
    await once(shell, "exit");
  }
  throw new Error(
    `the kernel would not reuse ${wanted}; last number: ${readFileSync("/proc/loadavg", "utf8")}`,
  );
}
