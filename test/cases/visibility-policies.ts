/** Which ids an allow list names. */
export const allowRows = [
  { name: "no list: everyone", allow: undefined, names: ["a", ""], not: [] },
  { name: "an empty list: everyone", allow: [], names: ["a"], not: [] },
  { name: "a star: everyone", allow: ["*"], names: ["a", "B"], not: [] },
  {
    name: "without a star: exact",
    allow: ["main", " ops "],
    names: ["main", "ops"],
    not: ["Main", "mainframe", "op"],
  },
  {
    name: "with a star: any case",
    allow: ["Team-*"],
    names: ["team-a", "TEAM-", "team-a-b"],
    not: ["team", "a-team-b"],
  },
  {
    name: "a star in the middle",
    allow: ["a*b*c"],
    names: ["abc", "axbyc", "abcbc"],
    not: ["acb", "ab", "ac"],
  },
  { name: "head and tail may not share a letter", allow: ["ab*ba"], names: ["abba", "abxba"], not: ["aba"] },
  { name: "a part may not be taken from the tail", allow: ["*ab*b"], names: ["abb", "xabb"], not: ["ab"] },
  { name: "several stars are one", allow: ["a***"], names: ["a", "ab"], not: ["b"] },
  {
    name: "signs of regular expressions are letters",
    allow: ["a.c*", "(x)"],
    names: ["a.c1", "(x)"],
    not: ["abc1", "x"],
  },
  { name: "a blank entry names nobody", allow: ["", "  "], names: [], not: ["a", ""] },
] as const;

/** Spellings and the one they are compared in. */
export const keyRows = [
  {
    name: "canonical already",
    key: "agent:main:telegram:1",
    canonical: "agent:main:telegram:1",
    agentId: "main",
  },
  { name: "blanks around", key: "\t agent:main:x \n", canonical: "agent:main:x", agentId: "main" },
  { name: "prefix and agent id", key: "AGENT:Main:Xy", canonical: "agent:main:Xy", agentId: "main" },
  { name: "head acp:", key: "agent:codex:ACP:AbC", canonical: "agent:codex:acp:AbC", agentId: "codex" },
  {
    name: "head subagent:",
    key: "agent:codex:SubAgent:AbC",
    canonical: "agent:codex:subagent:AbC",
    agentId: "codex",
  },
  { name: "head main", key: "agent:codex:Main", canonical: "agent:codex:main", agentId: "codex" },
  {
    name: "head main with more",
    key: "agent:codex:MAIN:Thread",
    canonical: "agent:codex:main:Thread",
    agentId: "codex",
  },
  {
    name: "no head: acp without a colon",
    key: "agent:codex:ACP",
    canonical: "agent:codex:ACP",
    agentId: "codex",
  },
  {
    name: "no head: a longer word",
    key: "agent:codex:Mainly",
    canonical: "agent:codex:Mainly",
    agentId: "codex",
  },
  { name: "a colon at the beginning of the rest", key: "agent:a::b", canonical: "agent:a::b", agentId: "a" },
  { name: "a line break in the rest", key: "agent:a:b\nc", canonical: "agent:a:b\nc", agentId: "a" },
  { name: "unscoped", key: " Main ", canonical: "main", agentId: "unscoped" },
  { name: "no second colon", key: "agent:main", canonical: "agent:main", agentId: "malformed" },
  { name: "empty agent id", key: "agent::x", canonical: "agent::x", agentId: "malformed" },
  { name: "blank agent id", key: "agent: :x", canonical: "agent: :x", agentId: "malformed" },
  { name: "empty rest", key: "agent:main:", canonical: "agent:main:", agentId: "malformed" },
  { name: "blank rest", key: "agent:main:  ", canonical: "agent:main:", agentId: "malformed" },
  { name: "another prefix", key: "session:main:x", canonical: "session:main:x", agentId: "malformed" },
  { name: "nothing", key: "", canonical: "", agentId: "malformed" },
] as const;
