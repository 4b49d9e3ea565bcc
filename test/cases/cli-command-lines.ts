/** What people type, and what is understood. */
export const understood = [
  {
    name: "status in the directory of the environment",
    args: ["status"],
    env: { OPENCLAW_ACPX_STATE_DIR: "/srv/state", XDG_STATE_HOME: "/home/me/state" },
    request: {
      command: "status",
      stateDir: "/srv/state",
      wrapperRoots: ["/srv/state/wrappers"],
      argv: false,
    },
  },
  {
    name: "an option before the command, and over the environment",
    args: ["--state-dir=/data", "--json", "status", "--ended"],
    env: { OPENCLAW_ACPX_STATE_DIR: "/srv/state" },
    request: { command: "status", stateDir: "/data", json: true, ended: true },
  },
  {
    name: "the default of this user",
    args: ["doctor"],
    env: {},
    request: { command: "doctor", stateDir: "/home/me/.local/state/acpx-lifecycle" },
  },
  {
    name: "a directory for state that the user chose",
    args: ["doctor"],
    env: { XDG_STATE_HOME: "/home/me/state" },
    request: { command: "doctor", stateDir: "/home/me/state/acpx-lifecycle" },
  },
  {
    name: "a relative XDG directory, which the specification has ignored",
    args: ["doctor"],
    env: { XDG_STATE_HOME: "state" },
    request: { command: "doctor", stateDir: "/home/me/.local/state/acpx-lifecycle" },
  },
  {
    name: "wrapper roots beside our own",
    args: ["status", "--wrapper-root", "/opt/a", "--wrapper-root", "/opt/b", "--state-dir", "/s"],
    env: { OPENCLAW_ACPX_WRAPPER_ROOT: "/opt/c" },
    request: { command: "status", wrapperRoots: ["/opt/a", "/opt/b", "/s/wrappers"] },
  },
  {
    name: "a wrapper root of the environment",
    args: ["reap", "--dry-run", "--state-dir", "/s"],
    env: { OPENCLAW_ACPX_WRAPPER_ROOT: "/opt/c" },
    request: { command: "reap", dryRun: true, wrapperRoots: ["/opt/c", "/s/wrappers"] },
  },
  {
    name: "a command whose own options are not ours",
    args: ["run", "--session-key", "main", "--", "codex-acp", "--json", "--", "-x"],
    env: {},
    request: {
      command: "run",
      sessionKey: "main",
      json: false,
      launch: ["codex-acp", "--json", "--", "-x"],
    },
  },
  {
    name: "a subject that begins with a letter",
    args: ["inspect", "agent:codex:acp:main", "--argv"],
    env: {},
    request: { command: "inspect", subject: "agent:codex:acp:main", argv: true },
  },
] as const;

export const misunderstood = [
  { name: "nothing", args: [], complaint: "a command is missing" },
  { name: "an unknown command", args: ["kill"], complaint: 'there is no command "kill"' },
  { name: "a name that every object has", args: ["constructor"], complaint: "there is no command" },
  { name: "an unknown option", args: ["status", "--force"], complaint: "Unknown option '--force'" },
  { name: "an option without its value", args: ["status", "--state-dir"], complaint: "argument missing" },
  { name: "an empty state directory", args: ["status", "--state-dir="], complaint: "--state-dir is empty" },
  { name: "an option of another command", args: ["status", "--dry-run"], complaint: "status has no option" },
  { name: "run without a command", args: ["run"], complaint: "run needs a command" },
  { name: "run with nothing behind --", args: ["run", "--"], complaint: "run needs a command" },
  { name: "run without --", args: ["run", "ls", "/"], complaint: "run -- ls /" },
  { name: "inspect of nothing", args: ["inspect"], complaint: "inspect needs a lease id" },
  { name: "inspect of two things", args: ["inspect", "1", "2"], complaint: 'what to do with "2"' },
  { name: "something behind status", args: ["status", "all"], complaint: 'what to do with "all"' },
  { name: "-- behind doctor", args: ["doctor", "--"], complaint: 'doctor takes nothing behind "--"' },
] as const;
