/** `--foreground`: the terminal is lent to the adapter and comes back. */
import { afterAll, beforeAll, expect, test } from "vitest";

import { Stage } from "../helpers/supervisor.js";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Runs a shell on a terminal of its own, with "$W" for the wrapper and "$S" for the scripted adapter. */
function onTerminal(shell: string) {
  return stage.start([], {
    command: ["script", "--quiet", "--return", "--command", shell, "/dev/null"],
    env: { W: stage.wrapper, S: stage.script },
  });
}

test("the adapter has the terminal, its Ctrl-C is the adapter's alone, and the shell gets it back", async () => {
  const terminal = onTerminal(
    'trap "echo shell was hit" INT; "$W" --foreground -- "$S" tell INT show terminal show foreground line exit 5;' +
      ' echo "code $?"; "$S" show foreground; read -r line; echo "read $line"',
  );
  await terminal.says(/^terminal open\r?$/);
  await terminal.says(/^foreground yes\r?$/);
  terminal.child.stdin?.write("\x03");
  await terminal.says(/got INT\r?$/);
  terminal.child.stdin?.write("\n");
  await terminal.says(/^code 5\r?$/);
  terminal.child.stdin?.write("hello\n");
  await terminal.says(/^read hello\r?$/);
  expect(terminal.lines.filter((line) => line.startsWith("foreground"))).toEqual([
    expect.stringContaining("yes"),
    expect.stringContaining("yes"),
  ]);
  expect(terminal.lines.some((line) => line.includes("shell was hit"))).toBe(false);
});

test("without it the adapter has no terminal at all", async () => {
  const terminal = onTerminal('"$W" -- "$S" show terminal');
  await terminal.says(/^terminal ENXIO\r?$/);
});

test("Ctrl-Z does not stop an adapter that nobody could continue", async () => {
  const terminal = onTerminal('"$W" --foreground -- "$S" show foreground line exit 6; echo "code $?"');
  await terminal.says(/^foreground yes\r?$/);
  terminal.child.stdin?.write("\x1a\n");
  await terminal.says(/code 6\r?$/);
});

test("from the background it takes no terminal away from anybody", async () => {
  const terminal = onTerminal(
    'set -m; "$W" --foreground -- "$S" show terminal forever & read -r go; "$S" show foreground; kill $!; wait $!',
  );
  await terminal.says(/^terminal open\r?$/);
  terminal.child.stdin?.write("\n");
  await terminal.says(/^foreground yes\r?$/);
  await terminal.end();
});
