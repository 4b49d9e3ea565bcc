#include "lineage.h"

#include <algorithm>
#include <map>

namespace acpx {

Lineage::Lineage(const TableRow& root, pid_t outerSession)
    : root_(root.unique), outerSession_(outerSession) {
  add(root);
}

void Lineage::add(const TableRow& member) {
  members_.insert(member.unique);
  versions_.insert(member.version);
}

std::vector<TableRow> Lineage::look(const std::vector<TableRow>& table) {
  std::map<pid_t, uint64_t> numbers;  // of members in this table
  std::set<pid_t> sessions;
  const auto descends = [&](const TableRow& row) {
    if (!mayHave(row)) return false;
    if (row.parentVersion != 0 && versions_.count(row.parentVersion) != 0) return true;
    // A session's number stays taken while anybody is in it, so whoever shares it with a member
    // shares the session.
    if (sessions.count(row.sid) != 0) return true;
    // A debugger stands in as the parent of what it was attached to.
    if (row.traced) return false;
    if (row.parentUnique < row.unique && has(row.parentUnique)) return true;
    // The rows are not read at one instant. A member that is older than the row was there when the
    // row's parent was noted, so the number meant the member.
    const auto parent = numbers.find(row.ppid);
    return parent != numbers.end() && parent->second < row.unique;
  };

  for (bool grown = true; grown;) {
    grown = false;
    for (const TableRow& row : table) {
      if (!has(row.unique) && !descends(row)) continue;
      add(row);
      if (!numbers.emplace(row.pid, row.unique).second) continue;
      if (row.sid != 0 && row.sid != outerSession_) sessions.insert(row.sid);
      grown = true;
    }
  }

  std::vector<TableRow> living;
  for (const TableRow& row : table) {
    if (has(row.unique) && row.state != 'Z') living.push_back(row);
  }
  std::sort(living.begin(), living.end(),
            [](const TableRow& a, const TableRow& b) { return a.unique > b.unique; });
  return living;
}

}  // namespace acpx
