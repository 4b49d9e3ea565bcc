/** The real codex-acp without a network: a private home, and a model on this host that never answers. */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const codexCommand = [
  process.execPath,
  fileURLToPath(import.meta.resolve("@zed-industries/codex-acp/bin/codex-acp.js")),
];

/** Answers no request, so that a turn goes on until it is cancelled. `asked()` resolves with the next request. */
export async function startSilentModel() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    asked: () => once(server, "request"),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Environment of a codex that reads and writes below `home` alone and starts nothing but its MCP servers. */
export function codexHome(home, model) {
  const codexDirectory = join(home, ".codex");
  const temporary = join(home, "tmp");
  mkdirSync(codexDirectory, { recursive: true });
  mkdirSync(temporary);
  writeFileSync(
    join(codexDirectory, "config.toml"),
    `model = "silent"
model_provider = "silent"
[model_providers.silent]
name = "silent"
base_url = "${model.url}"
wire_api = "responses"
[features]
shell_snapshot = false
`,
  );
  return { HOME: home, CODEX_HOME: codexDirectory, TMPDIR: temporary, OPENAI_API_KEY: "dummy" };
}
