#!/usr/bin/env node
// A host's own wrapper, for hosts that cannot use the supervisor: it starts a command as the leader of a
// process group of its own, forwards TERM, INT and HUP to the whole group, and kills what ignores them.
//
//   node group-kill-wrapper.mjs <command> <args...>
//
// The usual `process.kill(-pid)` reaches whoever has the number by then: once the leader has ended and the
// group is empty, that may be a stranger's group. `signalGroup` acts through a handle that the kernel pins to
// our leader, so it reaches its group's survivors even after the leader was reaped, and nobody else ever.
//
// What only the supervisor does: it ends the command when the host dies, and finds processes that left the
// group.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

import { open } from "acpx-lifecycle/native";

const GRACE_MS = 1_000;
const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error("usage: group-kill-wrapper <command> <args...>");
  process.exit(64);
}

const child = spawn(command, args, { detached: true, stdio: "inherit" });
if (child.pid === undefined) {
  const [error] = await once(child, "error");
  console.error(error.message);
  process.exit(error.code === "ENOENT" ? 127 : 126);
}
// Before anything is awaited: until then Node cannot have reaped the child, so the number is still its own.
const opened = open(child.pid);
if (!opened.ok) {
  child.kill("SIGKILL");
  console.error(`cannot pin the command: ${opened.call} is ${opened.reason}`);
  process.exit(75);
}
const group = opened.value;

let killing;
let killed = false;
function endGroup(signal) {
  if (killing !== undefined) return; // a second signal does not shorten the grace
  group.signalGroup(signal);
  killing = setTimeout(() => {
    group.signalGroup("SIGKILL");
    killed = true;
  }, GRACE_MS);
}
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, endGroup);

const [code, signal] = await once(child, "exit");
endGroup("SIGTERM"); // whoever the leader left behind
// Zombies count as members until their new parent reaps them, which the init of a container may never do.
while (!killed && group.signalGroup(0).ok) await delay(20);
clearTimeout(killing);
group.close();

// End as the command did: with its code, or by the same signal.
if (signal === null) process.exit(code);
process.removeAllListeners(signal);
process.kill(process.pid, signal);
