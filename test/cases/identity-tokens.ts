import { BOOT, OTHER_BOOT } from "../helpers/evidence.js";

const linux = `linux;boot=${BOOT};pidns=4026531836;timens=4026531834`;
const darwin = `darwin;boot=${BOOT.toUpperCase()}`;

export const comparisons = [
  {
    name: "equal in every part with an inode",
    recorded: `${linux};ticks=77;inode=5`,
    observed: `${linux};ticks=77;inode=5`,
    expected: "same",
  },
  {
    name: "V7: equal number and start tick, another inode: not the same",
    recorded: `${linux};ticks=77;inode=5`,
    observed: `${linux};ticks=77;inode=6`,
    expected: "different",
  },
  {
    name: "another start tick",
    recorded: `${linux};ticks=77`,
    observed: `${linux};ticks=78`,
    expected: "different",
  },
  {
    name: "another start tick although the inode is equal",
    recorded: `${linux};ticks=77;inode=5`,
    observed: `${linux};ticks=78;inode=5`,
    expected: "different",
  },
  {
    name: "no inode on either side (before Linux 6.9)",
    recorded: `${linux};ticks=77`,
    observed: `${linux};ticks=77`,
    expected: "same-weak",
  },
  {
    name: "recorded before a kernel upgrade could tell inodes",
    recorded: `${linux};ticks=77`,
    observed: `${linux};ticks=77;inode=5`,
    expected: "same-weak",
  },
  {
    name: "inode no longer readable",
    recorded: `${linux};ticks=77;inode=5`,
    observed: `${linux};ticks=77`,
    expected: "same-weak",
  },
  {
    name: "V9: another boot, everything else equal",
    recorded: `${linux};ticks=77;inode=5`,
    observed: `linux;boot=${OTHER_BOOT};pidns=4026531836;timens=4026531834;ticks=77;inode=5`,
    expected: "not-comparable",
  },
  {
    name: "V9: another PID namespace",
    recorded: `${linux};ticks=77;inode=5`,
    observed: `linux;boot=${BOOT};pidns=4026532999;timens=4026531834;ticks=77;inode=5`,
    expected: "not-comparable",
  },
  {
    name: "another time namespace shifts all ticks",
    recorded: `${linux};ticks=77`,
    observed: `linux;boot=${BOOT};pidns=4026531836;timens=1;ticks=77`,
    expected: "not-comparable",
  },
  {
    name: "a time namespace on one side only",
    recorded: `${linux};ticks=77`,
    observed: `linux;boot=${BOOT};pidns=4026531836;ticks=77`,
    expected: "not-comparable",
  },
  {
    name: "no time namespaces at all (before Linux 5.6)",
    recorded: `linux;boot=${BOOT};pidns=7;ticks=77`,
    observed: `linux;boot=${BOOT};pidns=7;ticks=77`,
    expected: "same-weak",
  },
  {
    name: "V5: start time unreadable",
    recorded: `${linux};ticks=77`,
    observed: linux,
    expected: "not-comparable",
  },
  { name: "V5: nothing recorded", recorded: "", observed: `${linux};ticks=77`, expected: "not-comparable" },
  {
    name: "a part that nobody knows yet",
    recorded: `${linux};ticks=77;shade=blue`,
    observed: `${linux};ticks=77;shade=blue`,
    expected: "not-comparable",
  },
  {
    name: "a leading zero is not a second spelling of a number",
    recorded: `${linux};ticks=077`,
    observed: `${linux};ticks=77`,
    expected: "not-comparable",
  },
  {
    name: "a negative number",
    recorded: `${linux};ticks=-1`,
    observed: `${linux};ticks=-1`,
    expected: "not-comparable",
  },
  {
    name: "a line break after the token",
    recorded: `${linux};ticks=77\n`,
    observed: `${linux};ticks=77\n`,
    expected: "not-comparable",
  },
  {
    name: "macOS: equal unique id",
    recorded: `${darwin};unique=9`,
    observed: `${darwin};unique=9`,
    expected: "same",
  },
  {
    name: "macOS: another unique id",
    recorded: `${darwin};unique=9`,
    observed: `${darwin};unique=10`,
    expected: "different",
  },
  {
    name: "another platform",
    recorded: `${darwin};unique=9`,
    observed: `${linux};ticks=9`,
    expected: "not-comparable",
  },
] as const;

export const ages = [
  { name: "an earlier tick", a: `${linux};ticks=9`, b: `${linux};ticks=10`, expected: true },
  { name: "the same tick", a: `${linux};ticks=10`, b: `${linux};ticks=10`, expected: true },
  { name: "a later tick", a: `${linux};ticks=11`, b: `${linux};ticks=10`, expected: false },
  { name: "an earlier unique id", a: `${darwin};unique=9`, b: `${darwin};unique=10`, expected: true },
  {
    name: "unique ids beyond the exact integers of a double",
    a: `${darwin};unique=9007199254740993`,
    b: `${darwin};unique=9007199254740992`,
    expected: false,
  },
  { name: "an unreadable start", a: linux, b: `${linux};ticks=10`, expected: undefined },
] as const;
