/**
 * Which floor each file of lib/ is on. It may import from floors below; on its own floor only what `beside` names,
 * which is the order that ARCHITECTURE.md draws.
 */
export interface Place {
  readonly floor: 0 | 1 | 2 | 3;
  readonly beside?: readonly string[];
}

export const floors: Readonly<Record<string, Place>> = {
  // Pure: no node: imports, no clock, no chance, no I/O.
  errors: { floor: 0 },
  concurrency: { floor: 0 },
  environment: { floor: 0 },
  identity: { floor: 0 },
  evidence: { floor: 0 },
  "agent-command": { floor: 0 },
  lease: { floor: 0, beside: ["identity"] },
  "lease-format": { floor: 0, beside: ["errors", "lease"] },
  "lease-retention": { floor: 0, beside: ["errors", "lease"] },
  "owner-liveness": { floor: 0, beside: ["identity", "lease"] },
  checks: { floor: 0, beside: ["environment", "evidence", "identity", "lease"] },
  "image-check": { floor: 0, beside: ["checks", "evidence", "lease"] },
  "legacy-record": {
    floor: 0,
    beside: ["agent-command", "checks", "evidence", "identity", "image-check", "lease"],
  },
  "adapter-session": { floor: 0, beside: ["checks", "evidence", "identity", "lease"] },
  kinship: { floor: 0, beside: ["adapter-session", "checks", "evidence", "identity", "lease"] },
  verdict: { floor: 0, beside: ["checks", "evidence", "identity", "image-check", "kinship", "lease"] },
  "process-tree": { floor: 0, beside: ["evidence", "identity", "kinship", "lease", "verdict"] },
  "session-key": { floor: 0 },
  "session-owner": { floor: 0, beside: ["lease", "session-key"] },
  "session-relation": { floor: 0, beside: ["session-owner"] },
  "session-row-format": { floor: 0, beside: ["lease-format", "session-owner"] },
  "visibility-rules": { floor: 0 },
  "visibility-denial": { floor: 0, beside: ["visibility-rules"] },
  "agent-to-agent": { floor: 0, beside: ["visibility-rules"] },
  "visibility-decision": {
    floor: 0,
    beside: ["agent-to-agent", "session-key", "visibility-denial", "visibility-rules"],
  },
  visibility: {
    floor: 0,
    beside: [
      "agent-to-agent",
      "session-key",
      "session-owner",
      "visibility-decision",
      "visibility-denial",
      "visibility-rules",
    ],
  },

  "terminal-text": { floor: 0 },
  "cli-reports": { floor: 0, beside: ["checks", "lease"] },
  "cli-tree-text": { floor: 0, beside: ["cli-reports", "terminal-text"] },
  "cli-status-text": { floor: 0, beside: ["cli-reports", "cli-tree-text", "terminal-text"] },
  "cli-inspect-text": { floor: 0, beside: ["checks", "cli-reports", "cli-tree-text", "terminal-text"] },
  "cli-reap-text": { floor: 0, beside: ["cli-reports", "cli-tree-text", "terminal-text"] },
  checkups: { floor: 0, beside: ["cli-reports"] },
  "cli-doctor-text": { floor: 0, beside: ["cli-reports", "terminal-text"] },

  // Shells, one effect each.
  addon: { floor: 1 },
  native: { floor: 1, beside: ["addon"] },
  process: { floor: 1, beside: ["native"] },
  diagnostics: { floor: 1 },
  executable: { floor: 1 },
  "state-file": { floor: 1 },
  "state-dir": { floor: 1, beside: ["state-file"] },
  "gateway-instance": { floor: 1, beside: ["state-dir", "state-file"] },
  "cautious-clock": { floor: 1 },
  "owner-lock": { floor: 1, beside: ["cautious-clock", "native", "state-file"] },
  "lease-files": { floor: 1, beside: ["state-file"] },
  "lease-store": { floor: 1, beside: ["cautious-clock", "lease-files", "state-dir", "state-file"] },
  "lease-reader": { floor: 1, beside: ["lease-files", "lease-store", "state-dir", "state-file"] },
  "keyed-store": { floor: 1 },
  "keyed-lease-store": { floor: 1, beside: ["cautious-clock", "keyed-store", "lease-store"] },
  "session-store": { floor: 1 },
  "session-rows": { floor: 1, beside: ["state-file"] },
  claims: { floor: 1, beside: ["state-file"] },
  wrapper: { floor: 1, beside: ["native", "state-file"] },
  "wrapper-port": { floor: 1, beside: ["claims", "wrapper"] },

  // Policy in motion.
  ownership: { floor: 2 },
  terminate: { floor: 2, beside: ["ownership"] },
  settle: { floor: 2, beside: ["ownership", "terminate"] },
  launches: { floor: 2, beside: ["settle", "terminate"] },
  "spawn-agent": { floor: 2, beside: ["launches", "settle", "terminate"] },
  reaper: { floor: 2, beside: ["ownership", "session-close", "settle"] },
  "state-dir-reaper": { floor: 2, beside: ["reaper", "settle"] },
  "lease-view": { floor: 2, beside: ["ownership", "reaper", "state-dir-reaper", "terminate"] },
  acpx: { floor: 2 },
  "agent-registry": { floor: 2, beside: ["acpx"] },
  "owned-sessions": { floor: 2 },
  "acpx-options": { floor: 2, beside: ["acpx", "agent-registry", "launches"] },
  "session-close": { floor: 2, beside: ["acpx", "settle", "terminate"] },
  legacy: { floor: 2, beside: ["acpx", "ownership", "reaper", "session-close", "settle", "terminate"] },
  "legacy-leases": { floor: 2, beside: ["legacy", "settle"] },
  lifecycle: {
    floor: 2,
    beside: [
      "acpx",
      "acpx-options",
      "launches",
      "legacy",
      "legacy-leases",
      "owned-sessions",
      "ownership",
      "reaper",
      "session-close",
      "settle",
      "spawn-agent",
      "state-dir-reaper",
      "terminate",
    ],
  },

  index: { floor: 3 },
  // The command line: what it found is a report (JSON), how that reads on a terminal is pure.
  cli: {
    floor: 3,
    beside: ["cli-doctor", "cli-inspect", "cli-options", "cli-reap", "cli-run", "cli-status"],
  },
  "cli-options": { floor: 3 },
  "cli-leases": { floor: 3, beside: ["cli-options"] },
  "cli-status": { floor: 3, beside: ["cli-leases", "cli-options"] },
  "cli-inspect": { floor: 3, beside: ["cli-leases", "cli-options"] },
  "cli-reap": { floor: 3, beside: ["cli-leases", "cli-options"] },
  "cli-run": { floor: 3, beside: ["cli-options"] },
  "cli-doctor": { floor: 3, beside: ["cli-leases", "cli-options"] },
};

/** Sources that break a rule, and what has to be said about them. */
export const badSources = [
  {
    name: "a file that is on no floor",
    file: "utils",
    source: "export {};",
    complaint: "utils: is on no floor",
  },
  {
    name: "an import from a floor above",
    file: "process",
    source: 'import { terminate } from "./terminate.js";',
    complaint: "process: imports terminate from above",
  },
  {
    name: "a type imported from a floor above",
    file: "verdict",
    source: 'import type { Native } from "./native.js";',
    complaint: "verdict: imports native from above",
  },
  {
    name: "a re-export from a floor above",
    file: "lease",
    source: 'export * from "./lease-store.js";',
    complaint: "lease: imports lease-store from above",
  },
  {
    name: "a dynamic import from a floor above",
    file: "native",
    source: 'export const late = () => import("./lifecycle.js");',
    complaint: "native: imports lifecycle from above",
  },
  {
    name: "an edge on the own floor that nobody drew",
    file: "identity",
    source: 'import { judge } from "./verdict.js";',
    complaint: "identity: imports verdict beside it",
  },
  {
    name: "a node: import on floor 0",
    file: "verdict",
    source: 'import { sep } from "node:path";',
    complaint: "verdict: is pure and imports node:path",
  },
  {
    name: "a package on floor 0",
    file: "verdict",
    source: 'import bindings from "bindings";',
    complaint: "verdict: is pure and imports bindings",
  },
  {
    name: "a clock on floor 0",
    file: "lease",
    source: "export const now = Date.now();",
    complaint: "lease: is pure and uses Date",
  },
  {
    name: "chance on floor 0",
    file: "lease",
    source: "export const id = Math.random();",
    complaint: "lease: is pure and uses Math.random",
  },
  {
    name: "the process on floor 0",
    file: "identity",
    source: "export const own = process.pid;",
    complaint: "identity: is pure and uses process",
  },
] as const;
