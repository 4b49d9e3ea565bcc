/** Agent commands: how they are named, split, told apart and freed of what other releases put into them. */
import type { AgentCommand } from "../../lib/agent-command.js";

export const wrapperNames: { name: string; argv: string[]; agent: string; expected: string }[] = [
  {
    name: "an agent's wrapper is named after the agent",
    argv: ["/usr/bin/codex-acp"],
    agent: "codex",
    expected: "codex-wrapper",
  },
  {
    name: "the interpreter's name does not matter",
    argv: ["/usr/bin/node", "/opt/a.js"],
    agent: "pi",
    expected: "pi-wrapper",
  },
  {
    name: "gemini keeps the name that acpx knows",
    argv: ["/opt/gemini", "--acp"],
    agent: "g",
    expected: "gemini",
  },
  {
    name: "qoder keeps the name of its program, not of the agent",
    argv: ["/opt/qodercli", "--acp"],
    agent: "qoder",
    expected: "qodercli",
  },
  {
    name: "a program in capitals and with a suffix is still known",
    argv: ["/opt/Devin.exe", "acp"],
    agent: "d",
    expected: "devin",
  },
  {
    name: "cursor's second name needs its argument",
    argv: ["/opt/agent", "acp"],
    agent: "cursor",
    expected: "cursor-agent",
  },
  {
    name: "another program called agent is not cursor",
    argv: ["/opt/agent"],
    agent: "mine",
    expected: "mine-wrapper",
  },
  {
    name: "an agent named by a command line takes the program's name",
    argv: ["/opt/my acp/bot"],
    agent: "/opt/my acp/bot --x",
    expected: "bot-wrapper",
  },
  {
    name: "a name that is no file name at all still gives one",
    argv: ["/opt/..."],
    agent: "../../x",
    expected: "agent-wrapper",
  },
];

export const commandLines: { name: string; text: string; expected: string[] | null }[] = [
  { name: "words are split at blanks", text: "  a  b\tc ", expected: ["a", "b", "c"] },
  { name: "double quotes hold blanks and escapes", text: '"a b" "c\\"d"', expected: ["a b", 'c"d'] },
  {
    name: "single quotes hold a backslash as it is",
    text: String.raw`'a\b' c\ d`,
    expected: ["a\\b", "c d"],
  },
  { name: "an empty word counts", text: "a '' b", expected: ["a", "", "b"] },
  { name: "a word may be quoted in the middle", text: `a"b c"d`, expected: ["ab cd"] },
  { name: "a trailing backslash stands for itself", text: "a\\", expected: ["a\\"] },
  { name: "an open quote is no command", text: "a 'b", expected: null },
];

export const identities: { name: string; command: AgentCommand; text: string }[] = [
  { name: "plain words stay bare", command: ["/opt/a", "--x=1"], text: "/opt/a --x=1" },
  { name: "blanks, quotes and nothing are quoted", command: ["/a b", 'c"d', ""], text: '"/a b" "c\\"d" ""' },
  { name: "letters outside ASCII are quoted", command: ["/opt/ü"], text: '"/opt/ü"' },
  { name: "text is its own identity", command: "npx  -y x", text: "npx  -y x" },
];

export const leased: { name: string; argv: string[]; expected: string[] }[] = [
  {
    name: "lease arguments at the end go",
    argv: ["node", "w.mjs", "--openclaw-acpx-lease-id", "l", "--openclaw-gateway-instance-id", "g"],
    expected: ["node", "w.mjs"],
  },
  {
    name: "lease assignments in front go, and env with them",
    argv: ["env", "OPENCLAW_ACPX_LEASE_ID=l", "OPENCLAW_GATEWAY_INSTANCE_ID=g", "node", "w.mjs"],
    expected: ["node", "w.mjs"],
  },
  {
    name: "another use of env stays",
    argv: ["env", "-u", "HOME", "node", "w.mjs"],
    expected: ["env", "-u", "HOME", "node", "w.mjs"],
  },
  {
    name: "half a lease is not one",
    argv: ["w", "--openclaw-acpx-lease-id", "l"],
    expected: ["w", "--openclaw-acpx-lease-id", "l"],
  },
  {
    name: "lease arguments in the middle are the agent's own",
    argv: ["w", "--openclaw-acpx-lease-id", "l", "--openclaw-gateway-instance-id", "g", "x"],
    expected: ["w", "--openclaw-acpx-lease-id", "l", "--openclaw-gateway-instance-id", "g", "x"],
  },
];

export const directCommands: { name: string; argv: string[]; direct: boolean }[] = [
  { name: "npx", argv: ["npx", "-y", "x"], direct: true },
  { name: "uv tool run", argv: ["uv", "tool", "run", "x"], direct: true },
  { name: "uv run", argv: ["uv", "run", "x"], direct: false },
  { name: "bun x", argv: ["/opt/bun", "x", "y"], direct: true },
  { name: "node running npm's own entry", argv: ["node", "/lib/npm-cli.js", "exec"], direct: true },
  { name: "node running an agent", argv: ["node", "/lib/agent.js"], direct: false },
  { name: "grok", argv: ["/opt/grok", "agent", "stdio"], direct: true },
  { name: "copilot", argv: ["copilot", "--acp"], direct: true },
  { name: "a Windows program", argv: ["/mnt/c/agent.EXE"], direct: true },
  { name: "gemini", argv: ["gemini", "--acp"], direct: false },
];
