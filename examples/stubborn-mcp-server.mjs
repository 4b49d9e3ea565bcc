/**
 * The smallest MCP server that answers over stdio and then will not go: it ignores the end of its stdin and every
 * signal that can be ignored. Real servers do this by accident (a timer that is never cleared, a handler that
 * swallows SIGTERM); this one does it on purpose.
 */
import { createInterface } from "node:readline";
import { setInterval } from "node:timers";

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"]) process.on(signal, () => {});
setInterval(() => {}, 2 ** 30);

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "stubborn", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = results[method];
  const outcome = answer
    ? { result: answer(params) }
    : { error: { code: -32601, message: `${method} is not a method of this server` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
});
