/** Text that strangers chose, as it may reach a terminal. */
export const hostile = [
  { name: "an escape sequence", text: "a\x1b[2Jb", shown: "a\\x1b[2Jb" },
  { name: "a carriage return that hides what was before", text: "rm -rf\rls", shown: "rm -rf\\rls" },
  { name: "a line feed that looks like a row of ours", text: "x\nowned", shown: "x\\nowned" },
  { name: "an eight-bit control", text: "\x9b31m", shown: "\\x9b31m" },
  { name: "a bidirectional override", text: "a\u202eb", shown: "a\\u{202e}b" },
  { name: "a zero-width space", text: "a\u200bb", shown: "a\\u{200b}b" },
  { name: "a lone surrogate", text: "a\ud800b", shown: "a\\u{d800}b" },
  { name: "a line separator", text: "a\u2028b", shown: "a\\u{2028}b" },
  { name: "a tag character beyond the first plane", text: "a\u{e0041}b", shown: "a\\u{e0041}b" },
] as const;

export const commandLines = [
  { name: "plain words", argv: ["node", "/opt/a.js", "--x=1"], shown: "node /opt/a.js --x=1" },
  { name: "a word with spaces", argv: ["sh", "-c", "echo hi"], shown: "sh -c 'echo hi'" },
  { name: "a quote", argv: ["a'b"], shown: "'a'\\''b'" },
  { name: "an empty word", argv: ["a", ""], shown: "a ''" },
  { name: "a word with an escape sequence", argv: ["\x1b]0;x\x07"], shown: "'\\x1b]0;x\\x07'" },
] as const;

export const fits = [
  { name: "what is short is filled up", text: "ab", width: 4, shown: "ab  " },
  { name: "what is as wide stays", text: "abcd", width: 4, shown: "abcd" },
  { name: "what is longer loses its middle", text: "agent:codex:main", width: 9, shown: "agen…main" },
  { name: "wide characters count twice", text: "日本語日本語", width: 7, shown: "日…本語" },
  { name: "combining characters count nothing", text: "e\u0301e\u0301", width: 3, shown: "e\u0301e\u0301 " },
  { name: "no room at all", text: "abc", width: 0, shown: "" },
  { name: "room for the gap alone", text: "abc", width: 1, shown: "…" },
] as const;

export const durations = [
  { milliseconds: -5, shown: "0s" },
  { milliseconds: 59_999, shown: "59s" },
  { milliseconds: 60_000, shown: "1m" },
  { milliseconds: 3_600_000, shown: "1h00m" },
  { milliseconds: 86_399_999, shown: "23h59m" },
  { milliseconds: 90_000_000, shown: "1d01h" },
] as const;
