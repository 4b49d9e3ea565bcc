/**
 * What acpx does for an agent because of its command's name. `keyed`: the rule looks at argv[0] alone, so that a
 * wrapper of any other name would switch it off; `lost`: even a wrapper of the right name does.
 */
export interface AcpxRule {
  readonly name: string;
  /** File name of the agent's program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly agent: string;
  readonly rule: "keyed" | "lost" | "none";
  readonly sessionOptions?: { readonly maxTurns?: number; readonly model?: string };
  /** Options of the fixture agent. */
  readonly offers?: readonly string[];
}

export const acpxRules: readonly AcpxRule[] = [
  {
    name: "gemini is asked for its version first",
    program: "gemini",
    args: ["--acp"],
    agent: "gemini",
    rule: "keyed",
  },
  {
    name: "qodercli gets the turn limit as an argument",
    program: "qodercli",
    args: ["--acp"],
    agent: "qoder",
    rule: "keyed",
    sessionOptions: { maxTurns: 3 },
  },
  {
    name: "devin is greeted by another client name",
    program: "devin",
    args: ["acp"],
    agent: "devin",
    rule: "keyed",
  },
  {
    name: "cursor-agent's models may be asked for without their variant",
    program: "cursor-agent",
    args: ["acp"],
    agent: "cursor",
    rule: "keyed",
    sessionOptions: { model: "fast" },
    offers: ["--model=fast[high]"],
  },
  {
    name: "cursor's other name counts with its argument",
    program: "agent",
    args: ["acp"],
    agent: "cursor",
    rule: "keyed",
    sessionOptions: { model: "fast" },
    offers: ["--model=fast[high]"],
  },
  {
    name: "claude's settings are isolated wherever its name stands",
    program: "claude-agent-acp",
    args: [],
    agent: "claude",
    rule: "none",
  },
  { name: "codex has no rule", program: "codex-acp", args: [], agent: "codex", rule: "none" },
  {
    name: "grok's key is chosen by its name and its first arguments",
    program: "grok",
    args: ["agent", "stdio"],
    agent: "grok-build",
    rule: "lost",
    offers: ["--auth=xai.api_key"],
  },
  {
    name: "copilot's support for ACP is read out of its help",
    program: "copilot",
    args: ["--acp", "--stdio"],
    agent: "copilot",
    rule: "lost",
  },
];
