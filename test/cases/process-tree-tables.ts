/** Rows of a table: pid, ppid, pgid, sid. The lease names root 100, adapter 200, group 200. */
export const candidateRows = [
  { name: "an empty table", table: [], candidates: [] },
  {
    name: "the root's descendants at any depth, whatever their groups and sessions",
    table: [
      [100, 50, 100, 100],
      [101, 100, 101, 101],
      [102, 101, 102, 102],
      [900, 1, 900, 900],
    ],
    candidates: [101, 102],
  },
  {
    name: "the adapter's descendants when the root is dead, and the adapter itself",
    table: [
      [200, 1, 200, 200],
      [201, 200, 201, 201],
    ],
    candidates: [200, 201],
  },
  {
    name: "members of the adapter's session and group, wherever they were reparented to",
    table: [
      [300, 1, 300, 200],
      [301, 1, 200, 999],
      [302, 1, 302, 302],
    ],
    candidates: [300, 301],
  },
  {
    name: "a loop of parent numbers, as a stale table shows",
    table: [
      [101, 102, 101, 101],
      [102, 101, 102, 102],
      [100, 102, 100, 100],
      [103, 100, 103, 103],
      [104, 104, 104, 104],
    ],
    candidates: [103],
  },
  {
    name: "a prepared lease: nobody descends from number 0",
    lease: { rootPid: 0, adapterPid: undefined, processGroupId: undefined },
    table: [
      [1, 0, 1, 1],
      [2, 0, 0, 0],
      [3, 2, 0, 0],
    ],
    candidates: [],
  },
  {
    name: "numbers 0 and 1 in a damaged lease lead nowhere",
    lease: { rootPid: 1, adapterPid: 1, processGroupId: 0 },
    table: [
      [1, 0, 1, 1],
      [2, 0, 0, 0],
      [55, 1, 1, 1],
    ],
    candidates: [],
  },
  {
    name: "pid 1 is never a candidate, even in the adapter's group",
    table: [[1, 0, 200, 200]],
    candidates: [],
  },
] as const;
