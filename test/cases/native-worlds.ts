/**
 * Worlds in which a process is asked about another one, and what it may then know and do. None of these may
 * end in a signal to a bare number.
 */
export interface World {
  readonly name: string;
  /** What is put before the command; `deny-pidfd` stands for the program of that name. */
  readonly launcher: readonly string[];
  readonly needsRoot: boolean;
  readonly supported: boolean;
  /** What `open` answers, or undefined when a handle can be had. */
  readonly open?: { readonly reason: string; readonly errno?: string };
  readonly executable?: string;
  readonly environment?: string;
  readonly uniqueIdentity?: boolean;
  /** The reason why a signal is refused; "delivered" when it is not. */
  readonly signal?: string;
  readonly complete: boolean;
}

const otherUser = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const remount = (type: string) => [
  ...["unshare", "--mount", "--propagation", "private"],
  ...["sh", "-c", `mount -t ${type} none /proc && exec "$@"`, "sh"],
];

export const worlds: readonly World[] = [
  {
    name: "the same user, nothing denied",
    launcher: [],
    needsRoot: false,
    supported: true,
    executable: "ok",
    environment: "ok",
    uniqueIdentity: true,
    signal: "delivered",
    complete: true,
  },
  {
    name: "another user: everybody may read identity and argv, not image and environment, and not signal",
    launcher: otherUser,
    needsRoot: true,
    supported: true,
    executable: "denied",
    environment: "denied",
    uniqueIdentity: true,
    signal: "denied",
    complete: true,
  },
  ...["EPERM 1", "ENOSYS 38", "EINVAL 22"].map((error): World => {
    const [name = "", number = ""] = error.split(" ");
    return {
      name: `pidfds denied with ${name}: the directory still reads, nothing is signalled`,
      launcher: ["deny-pidfd", "all", number],
      needsRoot: false,
      supported: true,
      executable: "ok",
      environment: "ok",
      uniqueIdentity: false,
      signal: "unsupported",
      complete: true,
    };
  }),
  {
    name: "a kernel before 6.9, without group signals: the members one by one",
    launcher: ["deny-pidfd", "groups", "22"],
    needsRoot: false,
    supported: true,
    executable: "ok",
    environment: "ok",
    uniqueIdentity: true,
    signal: "delivered",
    complete: true,
  },
  {
    name: "/proc with hidepid=1: what is hidden is denied, not gone",
    launcher: [...remount("proc -o hidepid=1"), ...otherUser],
    needsRoot: true,
    supported: true,
    open: { reason: "denied", errno: "EPERM" },
    complete: false,
  },
  {
    name: "/proc with hidepid=2: what seems absent is denied, not gone",
    launcher: [...remount("proc -o hidepid=2"), ...otherUser],
    needsRoot: true,
    supported: true,
    open: { reason: "denied", errno: "ENOENT" },
    complete: false,
  },
  {
    name: "/proc with hidepid=2 and pidfds denied: still denied, not gone",
    launcher: [...remount("proc -o hidepid=2"), ...otherUser, "deny-pidfd", "all", "1"],
    needsRoot: true,
    supported: true,
    open: { reason: "denied", errno: "ENOENT" },
    complete: false,
  },
  {
    name: "/proc with subset=pid: no boot id, no identity",
    launcher: remount("proc -o subset=pid"),
    needsRoot: true,
    supported: false,
    open: { reason: "unsupported" },
    complete: false,
  },
  {
    name: "no /proc at all",
    launcher: remount("tmpfs"),
    needsRoot: true,
    supported: false,
    open: { reason: "unsupported" },
    complete: false,
  },
  {
    name: "the /proc of another PID namespace, whose numbers are strangers'",
    launcher: ["unshare", "--pid", "--fork", "--kill-child"],
    needsRoot: true,
    supported: false,
    open: { reason: "unsupported" },
    complete: false,
  },
];
