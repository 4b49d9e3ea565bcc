/** Texts that are no claim for the process whose token is given. */
import { INSTANCE, LEASE } from "../helpers/supervisor.js";

const NIL = "00000000-0000-0000-0000-000000000000";
const claim = (token: string, lease = LEASE, instance = INSTANCE) =>
  `token ${token}\nlease ${lease}\ninstance ${instance}\n`;

export interface BadClaimRow {
  readonly name: string;
  readonly text: (token: string) => string;
}

export const badClaims: readonly BadClaimRow[] = [
  { name: "an empty claim", text: () => "" },
  { name: "a claim cut short in its last line", text: (token) => claim(token).slice(0, -1) },
  { name: "a claim without its first line", text: (token) => claim(token).replace(/^.*\n/, "") },
  { name: "a claim with a line more", text: (token) => `${claim(token)}more\n` },
  {
    name: "a claim with its lines in another order",
    text: (token) =>
      claim(token)
        .split(/(?<=\n)/)
        .reverse()
        .join(""),
  },
  { name: "a claim with a placeholder for the lease", text: (token) => claim(token, NIL) },
  { name: "a claim with a placeholder for the instance", text: (token) => claim(token, LEASE, NIL) },
  { name: "a claim with an id of another length", text: (token) => claim(token, LEASE.slice(1)) },
  { name: "a claim larger than any claim", text: (token) => claim(token) + "x".repeat(5000) },
  {
    name: "a claim for another boot",
    text: (token) => claim(token.replace(/boot=[0-9a-f]{8}/, "boot=00000000")),
  },
  { name: "a claim for other ticks", text: (token) => claim(token.replace(/ticks=(\d+)/, "ticks=1$1")) },
  { name: "a claim with a NUL in it", text: (token) => claim(`${token}\0`) },
  { name: "a claim that is not text at all", text: () => "\xff\xfe\x00claim" },
];
