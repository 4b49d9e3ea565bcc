// The process table: a look at everybody at once, good for finding candidates and never for proof.
// Whoever was found is then opened and read through a handle.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "procfs_linux.h"

namespace acpx {
namespace {

// An entry of /proc that is a process, or 0.
pid_t processOf(const dirent& entry) {
  const std::optional<uint64_t> pid = parseNumber(entry.d_name);
  return pid && *pid <= INT32_MAX ? static_cast<pid_t>(*pid) : 0;
}

struct Row {
  StatLine stat;
  uid_t uid;
};

// `gone` is the normal fate of a process between the listing and the look.
Result<Row> readRow(int proc, const char* name) {
  struct stat owner;
  const Descriptor directory(openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return faultOf(errno, "/proc/<pid>");
  if (fstat(directory.get(), &owner) != 0) return faultOf(errno, "fstat");
  const Result<StatLine> stat = readStat(directory.get(), "stat");
  if (!stat.ok()) return stat.fault();
  return Row{*stat, owner.st_uid};
}

void append(Snapshot& table, const Row& row) {
  table.pid.push_back(row.stat.pid);
  table.ppid.push_back(row.stat.ppid);
  table.pgid.push_back(row.stat.pgid);
  table.sid.push_back(row.stat.sid);
  table.uid.push_back(row.uid);
  table.startTicks.push_back(static_cast<double>(row.stat.startTicks));
  table.state.push_back(static_cast<uint8_t>(row.stat.state));
}

}  // namespace

Result<Snapshot> snapshot() {
  // A /proc of another PID namespace would be full of strangers' numbers.
  if (!backend().supported) return backend().selfToken.fault();
  const Directory proc(opendir("/proc"));
  if (!proc) return faultOf(errno, "/proc");

  Snapshot table{};
  bool whole = true;
  bool sawFirst = false;
  bool sawSelf = false;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(proc.get());
    if (entry == nullptr) {
      whole = whole && errno == 0;
      break;
    }
    const pid_t pid = processOf(*entry);
    if (pid == 0) continue;
    const Result<Row> row = readRow(dirfd(proc.get()), entry->d_name);
    if (!row.ok()) {
      whole = whole && row.fault().reason == Reason::gone;
      continue;
    }
    sawFirst = sawFirst || pid == 1;
    sawSelf = sawSelf || pid == getpid();
    append(table, *row);
  }
  table.complete = whole && sawFirst && sawSelf;
  return table;
}

// A group's number stays taken while anybody is in it, so while the pinned leader is not reaped,
// whoever is in the group of that number is in the leader's group. After that nobody can tell from
// here.
Result<Delivery> Process::signalMembers(int signo) const {
  const auto numberIsOurs = [this] {
    const Result<bool> taken = reaped();
    return taken.ok() && !*taken;
  };
  if (!numberIsOurs()) return Fault{Reason::unsupported, 0, "PIDFD_SIGNAL_PROCESS_GROUP"};
  const Result<Snapshot> table = snapshot();
  if (!table.ok()) return table.fault();

  Fault refusal{Reason::gone, ESRCH, "pidfd_send_signal"};
  bool delivered = false;
  for (size_t i = 0; i < table->pid.size(); ++i) {
    if (table->pgid[i] != pid_) continue;
    const Result<Process> member = open(table->pid[i]);
    if (!member.ok()) continue;
    const Result<StatLine> stat = member->living();
    if (!stat.ok() || stat->pgid != pid_ || !numberIsOurs()) continue;
    const Result<Delivery> delivery = member->signal(signo);
    delivered = delivered || delivery.ok();
    if (!delivery.ok() && delivery.fault().reason != Reason::gone) refusal = delivery.fault();
  }
  // As kill(2) does for a group: one that was reached is enough.
  if (!delivered) return refusal;
  return Delivery{true};
}

}  // namespace acpx
