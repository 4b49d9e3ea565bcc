// Rows for lineage.h: who descends from the adapter, and who only looks as if. Run under
// AddressSanitizer and UndefinedBehaviorSanitizer by scripts/sanitizers.mjs.
#include "lineage.h"

#include "check.h"

namespace {

using namespace acpx;

constexpr pid_t kSupervisorSession = 50;

// The adapter: pid 100, leader of a session of its own.
TableRow row(pid_t pid, pid_t ppid, pid_t sid, uint64_t unique, uint64_t parentUnique) {
  return TableRow{pid, ppid,  pid,    sid,          501,
                  'S', false, unique, parentUnique, static_cast<int32_t>(unique) + 1000,
                  0};
}
const TableRow kAdapter = row(100, 60, 100, 1000, 900);

bool finds(Lineage& lineage, const std::vector<TableRow>& table, uint64_t unique) {
  for (const TableRow& member : lineage.look(table)) {
    if (member.unique == unique) return true;
  }
  return false;
}

bool finds(const std::vector<TableRow>& table, uint64_t unique) {
  Lineage lineage(kAdapter, kSupervisorSession);
  return finds(lineage, table, unique);
}

void descendants() {
  check::that(finds({kAdapter}, 1000), "the adapter is in its tree");
  check::that(finds({kAdapter, row(101, 100, 100, 1001, 1000)}, 1001), "a child is");
  check::that(
      finds({row(102, 101, 102, 1002, 1001), row(101, 100, 101, 1001, 1000), kAdapter}, 1002),
      "a grandchild is, in whatever order the table lists them");
  check::that(finds({kAdapter, row(101, 1, 101, 1001, 1000)}, 1001),
              "an orphan in a session of its own is: its fork was noted");
  check::that(finds({kAdapter, row(101, 1, 100, 1001, 1)}, 1001),
              "an orphan that called exec is, by the session that it shares");
  check::that(finds({kAdapter, row(101, 100, 101, 1001, 1)}, 1001),
              "a child whose fork says nothing is, by its parent's number");
  TableRow versioned = row(101, 1, 101, 1001, 1);
  versioned.parentVersion = kAdapter.version;
  check::that(finds({kAdapter, versioned}, 1001),
              "an orphan that called exec elsewhere is, by its parent's version");

  Lineage lineage(kAdapter, kSupervisorSession);
  lineage.look({kAdapter, row(101, 100, 101, 1001, 1000)});
  check::that(finds(lineage, {row(102, 1, 102, 1002, 1001)}, 1002),
              "a child of somebody who has ended since is");
  Lineage carried(kAdapter, kSupervisorSession);
  carried.add(row(101, 1, 101, 1001, 1));
  check::that(finds(carried, {row(101, 1, 101, 1001, 1), row(102, 1, 101, 1002, 1)}, 1002),
              "whoever shares a session with somebody proven otherwise is");

  const std::vector<TableRow> family = {kAdapter, row(101, 100, 100, 1001, 1000),
                                        row(102, 101, 100, 1002, 1001)};
  const std::vector<TableRow> order = Lineage(kAdapter, kSupervisorSession).look(family);
  check::that(order.size() == 3 && order[0].unique == 1002 && order[2].unique == 1000,
              "children come before their parents");
  TableRow zombie = row(101, 100, 0, 1001, 1000);
  zombie.state = 'Z';
  check::that(!finds({kAdapter, zombie}, 1001), "a zombie is not alive");
  check::that(finds({kAdapter, zombie, row(102, 1, 102, 1002, 1001)}, 1002), "its child may be");
}

void strangers() {
  check::that(!finds({kAdapter, row(70, 1, 70, 700, 1)}, 700), "somebody else is not");
  check::that(!finds({kAdapter, row(101, 100, 101, 999, 1)}, 999),
              "nobody older than the adapter is");
  check::that(!finds({kAdapter, row(101, 1, kSupervisorSession, 1001, 1)}, 1001),
              "nobody is for sharing the supervisor's session");
  check::that(!finds({kAdapter, row(101, 1, 0, 1001, 1), row(102, 1, 0, 1002, 1)}, 1001),
              "an unknown session is shared with nobody");
  check::that(!finds({row(100, 1, 100, 2000, 1), row(101, 100, 100, 2001, 2000)}, 2001),
              "a child of whoever has the adapter's number later is not");
  check::that(!finds({row(100, 1, 100, 2000, 1)}, 2000), "nor is that one itself");

  // A debugger of the tree, attached to somebody else's process, becomes its parent.
  TableRow debugged = row(70, 100, 70, 1005, 1);
  debugged.traced = true;
  check::that(!finds({kAdapter, debugged}, 1005), "whom the tree only debugs is not");
  debugged.parentUnique = 1000;
  check::that(!finds({kAdapter, debugged}, 1005), "nor after an exec, which notes the debugger");
  check::that(
      !finds({kAdapter, row(101, 1, 101, 1001, 1003), row(103, 100, 100, 1003, 1000)}, 1001),
      "nobody descends from somebody younger");
}

}  // namespace

int main() {
  descendants();
  strangers();
  return check::report("lineage");
}
