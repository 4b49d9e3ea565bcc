// The process table: a look at everybody at once, good for finding candidates and never for proof.
// Whoever was found is then opened and looked at through a handle.
#include "table_darwin.h"

#include <libproc.h>
#include <sys/proc.h>

#include <cerrno>
#include <set>

#include "kernel_darwin.h"

namespace acpx {
namespace {

// A member that forked while the others were signalled left somebody new behind.
constexpr int kSweeps = 8;

// nullopt: it is gone since it was listed.
std::optional<TableRow> rowOf(const kinfo_proc& entry) {
  const pid_t pid = entry.kp_proc.p_pid;
  const Result<KernelIdentity> identity = identify(pid, Zombies::included);
  if (!identity.ok()) return std::nullopt;
  const pid_t sid = getsid(pid);
  return TableRow{pid,
                  entry.kp_eproc.e_ppid,
                  entry.kp_eproc.e_pgid,
                  sid < 0 ? 0 : sid,
                  entry.kp_eproc.e_ucred.cr_uid,
                  stateLetter(entry.kp_proc.p_stat),
                  (entry.kp_proc.p_flag & P_TRACED) != 0,
                  identity->unique,
                  identity->parentUnique,
                  identity->version,
                  identity->parentVersion};
}

void append(Snapshot& table, const TableRow& row) {
  table.pid.push_back(row.pid);
  table.ppid.push_back(row.ppid);
  table.pgid.push_back(row.pgid);
  table.sid.push_back(row.sid);
  table.uid.push_back(row.uid);
  table.startTicks.push_back(static_cast<double>(row.unique));
  table.state.push_back(static_cast<uint8_t>(row.state));
}

}  // namespace

Result<std::vector<TableRow>> readTable() {
  const Result<std::vector<kinfo_proc>> entries = listProcesses(KERN_PROC_ALL, 0);
  if (!entries.ok()) return entries.fault();
  std::vector<TableRow> rows;
  rows.reserve(entries->size());
  for (const kinfo_proc& entry : *entries) {
    // Number 0 is the kernel itself.
    if (entry.kp_proc.p_pid < 1) continue;
    if (const std::optional<TableRow> row = rowOf(entry)) rows.push_back(*row);
  }
  return rows;
}

std::vector<TableRow> readChildren(pid_t parent) {
  std::vector<pid_t> pids(64);
  for (;;) {
    const int room = static_cast<int>(pids.size() * sizeof(pid_t));
    const int count = proc_listchildpids(parent, pids.data(), room);  // a count, not bytes
    if (count <= 0) return {};
    const bool full = static_cast<size_t>(count) >= pids.size();
    pids.resize(full ? pids.size() * 2 : static_cast<size_t>(count));
    if (!full) break;
  }
  std::vector<TableRow> rows;
  for (const pid_t pid : pids) {
    const Result<std::vector<kinfo_proc>> entry = listProcesses(KERN_PROC_PID, pid);
    // A number that nobody has is an empty answer.
    if (!entry.ok() || entry->empty()) continue;
    if (const std::optional<TableRow> row = rowOf(entry->front())) rows.push_back(*row);
  }
  return rows;
}

Result<Snapshot> snapshot() {
  if (!backend().supported) return backend().selfToken.fault();
  const Result<std::vector<TableRow>> rows = readTable();
  if (!rows.ok()) return rows.fault();
  Snapshot table{};
  bool sawFirst = false;
  bool sawSelf = false;
  for (const TableRow& row : *rows) {
    sawFirst = sawFirst || row.pid == 1;
    sawSelf = sawSelf || row.pid == getpid();
    append(table, row);
  }
  table.complete = sawFirst && sawSelf;
  return table;
}

// A group's number stays taken while its pinned leader is not reaped, so whoever is in the group of
// that number is in the leader's group. After that nobody can tell from here.
Result<Delivery> Process::signalGroup(int signo) const {
  if (pid_ == 1 || pid_ == ownGroup()) return kProtected;
  return signalMembers(signo);
}

Result<Delivery> Process::signalMembers(int signo) const {
  const auto numberIsOurs = [this] {
    const Result<bool> taken = reaped();
    return taken.ok() && !*taken;
  };
  if (!numberIsOurs()) return Fault{Reason::unsupported, 0, "process group"};
  Fault refusal{Reason::gone, ESRCH, "KERN_PROC_PGRP"};
  std::set<uint64_t> reached;
  bool pinned = true;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const Result<std::vector<kinfo_proc>> members = listProcesses(KERN_PROC_PGRP, pid_);
    if (!members.ok()) return members.fault();
    const size_t before = reached.size();
    for (const kinfo_proc& entry : *members) {
      const Result<Process> member = open(entry.kp_proc.p_pid);
      if (!member.ok() || reached.count(member->unique_) != 0) continue;
      const Result<Membership> membership = membershipOf(member->pid_);
      const Result<bool> over = member->dead();
      if (!membership.ok() || membership->pgid != pid_ || !over.ok() || *over) continue;
      if (!numberIsOurs()) break;
      const Result<Delivery> delivery = member->signal(signo);
      if (delivery.ok()) {
        pinned = pinned && delivery->pinned;
        reached.insert(member->unique_);
      } else if (delivery.fault().reason != Reason::gone) {
        refusal = delivery.fault();
      }
    }
    if (reached.size() == before) break;
  }
  // As kill(2) does for a group: one that was reached is enough.
  if (reached.empty()) return refusal;
  return Delivery{pinned};
}

}  // namespace acpx
