// Who descends from one process, on a platform that hands orphans to somebody else: by what the
// kernel noted at each fork, and by sessions, which are entered only by being born into them. Pure,
// so that its rules are tested everywhere.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <vector>

namespace acpx {

// One process, zombies included, as one look at the table shows it.
struct TableRow {
  pid_t pid;
  pid_t ppid;
  pid_t pgid;
  pid_t sid;  // 0: unknown, as a zombie's is
  uid_t uid;
  char state;
  bool traced;            // its parent is the debugger
  uint64_t unique;        // counts the forks of a boot
  uint64_t parentUnique;  // since macOS 13 of the parent at the last exec
  int32_t version;        // another one after each exec
  int32_t parentVersion;  // of the parent at fork; 0: the kernel does not say
};

class Lineage {
 public:
  // `outerSession`: that of whoever started the root. Others are in it too.
  Lineage(const TableRow& root, pid_t outerSession);

  // Proven by other means, such as its environment.
  void add(const TableRow& member);
  bool has(uint64_t unique) const { return members_.count(unique) != 0; }
  // Whoever is older cannot descend from the root.
  bool mayHave(const TableRow& row) const { return row.unique > root_; }

  // Takes in everybody of the table who descends from a member, to a fixed point. Answers with the
  // members that the table shows alive, the youngest first: children before their parents.
  std::vector<TableRow> look(const std::vector<TableRow>& table);

 private:
  const uint64_t root_;
  const pid_t outerSession_;
  std::set<uint64_t> members_;  // unique ids, those of the dead too
  std::set<int32_t> versions_;  // that members had when they were seen
};

}  // namespace acpx
