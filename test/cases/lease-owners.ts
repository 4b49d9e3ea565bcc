/** Whether the gateway that holds a lease lives, by what can be seen from here. */
import { SILENCE_MS, type OwnerLiveness, type OwnerView } from "../../lib/owner-liveness.js";
import { tokenOf } from "../helpers/lease-samples.js";

export interface LeaseOwnerRow {
  readonly name: string;
  readonly view: OwnerView;
  readonly then: OwnerLiveness["kind"] | "alive, copied";
}

const HOST = "a".repeat(64);
const OTHER_HOST = "b".repeat(64);
const OTHER_BOOT = { boot: "00000000-1111-4222-8333-444444444444" };
const OTHER_NAMESPACE = { pidns: 4026532999 };

const self = { pid: 4100, token: tokenOf(1000), host: HOST };
const owner = { pid: 3900, token: tokenOf(900), host: HOST };
const itself = { kind: "live", token: owner.token } as const;
const stranger = { kind: "live", token: tokenOf(5000) } as const;
const absent = { kind: "absent" } as const;
const here: OwnerView = { owner, self, process: itself, lock: "held" };

const withoutInode = (token: string): string => token.replace(/;inode=\d+$/, "");
const abroad = { ...here, owner: { ...owner, token: tokenOf(900, OTHER_NAMESPACE) } };
const earlier = { ...here, owner: { ...owner, token: tokenOf(900, OTHER_BOOT) } };

const justSilent = { silentMs: SILENCE_MS };
const tooSilent = { silentMs: SILENCE_MS + 1 };

const locks = ["held", "free", "missing", "unknown"] as const;

export const leaseOwners: readonly LeaseOwnerRow[] = [
  { name: "it runs and holds its lock", view: here, then: "alive" },
  {
    name: "it runs, its lock is free: the state directory is a copy",
    view: { ...here, lock: "free" },
    then: "alive, copied",
  },
  { name: "it runs, its lock is not there", view: { ...here, lock: "missing" }, then: "alive" },
  { name: "it runs, its lock cannot be tried", view: { ...here, lock: "unknown" }, then: "alive" },
  {
    name: "it runs as far as its start time tells",
    view: { ...here, process: { kind: "live", token: withoutInode(owner.token) } },
    then: "alive",
  },
  {
    name: "it runs in a container that knows another machine id",
    view: { ...here, owner: { ...owner, host: OTHER_HOST } },
    then: "alive",
  },
  ...locks.flatMap((lock): LeaseOwnerRow[] => [
    { name: `it has ended, lock ${lock}`, view: { ...here, process: absent, lock }, then: "dead" },
    {
      name: `its pid is a stranger's, lock ${lock}`,
      view: { ...here, process: stranger, lock },
      then: "dead",
    },
  ]),
  {
    name: "its pid is ours, its start token is not",
    view: {
      ...here,
      owner: { ...owner, pid: self.pid },
      process: { kind: "live", token: self.token },
      lock: "held",
    },
    then: "dead",
  },
  {
    name: "it could not be looked at, though its lock is free",
    view: { ...here, process: { kind: "unreadable", detail: "pidfd_open" }, lock: "free" },
    then: "unknown",
  },
  {
    name: "what has its pid cannot be compared",
    view: { ...here, process: { kind: "live", token: "garbled" }, lock: "free" },
    then: "unknown",
  },
  {
    name: "its token is garbled, its lock free",
    view: { ...here, owner: { pid: 3900, token: "garbled" }, lock: "free" },
    then: "unknown",
  },

  { name: "another PID namespace, lock held", view: { ...abroad, lock: "held" }, then: "alive" },
  { name: "another PID namespace, lock free", view: { ...abroad, lock: "free" }, then: "dead-elsewhere" },
  {
    name: "another PID namespace, lock held, its pid unused here",
    view: { ...abroad, process: absent, lock: "held" },
    then: "alive",
  },
  {
    name: "another PID namespace, lock free, its pid and start time used here too",
    view: { ...abroad, process: itself, lock: "free" },
    then: "dead-elsewhere",
  },
  { name: "another PID namespace, no lock", view: { ...abroad, lock: "missing" }, then: "unknown" },
  {
    name: "another PID namespace, lock cannot be tried",
    view: { ...abroad, lock: "unknown" },
    then: "unknown",
  },
  {
    name: "another boot of this host, lock free",
    view: { ...earlier, lock: "free" },
    then: "dead-elsewhere",
  },
  { name: "another boot with our machine id, lock held", view: { ...earlier, lock: "held" }, then: "alive" },
  {
    name: "another boot with our machine id, no lock",
    view: { ...earlier, lock: "missing" },
    then: "unknown",
  },

  ...locks.flatMap((lock): LeaseOwnerRow[] => [
    {
      name: `another host, lock ${lock}`,
      view: { ...earlier, owner: { ...earlier.owner, host: OTHER_HOST }, process: absent, lock },
      then: "unknown",
    },
    {
      name: `an owner without a host in another namespace, lock ${lock}`,
      view: { ...abroad, owner: { pid: 3900, token: abroad.owner.token }, process: absent, lock },
      then: "unknown",
    },
    {
      name: `another namespace seen from a host without machine id, lock ${lock}`,
      view: { ...abroad, self: { pid: self.pid, token: self.token }, process: absent, lock },
      then: "unknown",
    },
  ]),

  {
    name: "another host, silent for a month",
    view: { ...earlier, owner: { ...earlier.owner, host: OTHER_HOST }, ...justSilent },
    then: "unknown",
  },
  {
    name: "another host, silent for longer",
    view: { ...earlier, owner: { ...earlier.owner, host: OTHER_HOST }, ...tooSilent },
    then: "dead-elsewhere",
  },
  {
    name: "another PID namespace without a lock, silent for longer",
    view: { ...abroad, lock: "missing", ...tooSilent },
    then: "dead-elsewhere",
  },
  {
    name: "another PID namespace, lock held, silent for longer",
    view: { ...abroad, lock: "held", ...tooSilent },
    then: "alive",
  },
  { name: "it runs here, silent for longer", view: { ...here, ...tooSilent }, then: "alive" },
  {
    name: "here it could not be looked at, silent for longer: that may change any moment",
    view: { ...here, process: { kind: "unreadable", detail: "pidfd_open" }, ...tooSilent },
    then: "unknown",
  },
  {
    name: "its token is garbled, silent for longer",
    view: { ...here, owner: { pid: 3900, token: "garbled" }, ...tooSilent, lock: "missing" },
    then: "dead-elsewhere",
  },
];
