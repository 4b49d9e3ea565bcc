// A process on Linux: a pidfd for signals and its end, an open /proc/<pid> directory for everything
// else.
//
// A directory held from before the number was reused answers ESRCH for ever, as the pidfd does.
// Where a sandbox denies pidfds the directory alone still reads truthfully; signals are then
// refused, never sent to a number.
#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <string_view>

#include "process.h"
#include "procfs_linux.h"

namespace acpx {
namespace {

// Whether the number is that of a process, and not of one of its threads: /proc/<tid> looks the
// same.
Result<bool> namesProcess(int directory, pid_t pid) {
  constexpr std::string_view kLabel = "\nTgid:\t";
  const Result<std::string> status = readAll(directory, "status");
  if (!status.ok()) return status.fault();
  const size_t label = status->find(kLabel);
  if (label == std::string::npos) return Fault{Reason::garbled, 0, "status"};
  const size_t start = label + kLabel.size();
  const std::string_view number(&(*status)[start], status->find('\n', start) - start);
  return parseNumber(number) == static_cast<uint64_t>(pid);
}

}  // namespace

Result<Process> Process::open(pid_t pid) {
  if (pid < 1) return Fault{Reason::garbled, 0, "pid"};
  const Backend& can = backend();
  if (!can.supported) return can.selfToken.fault();

  int pidfd = -1;
  if (can.pinnedHandles) {
    pidfd = openPidfd(pid);
    // EINVAL, since 6.16 ENOENT: the number of a thread, or of a process that is just being reaped.
    if (pidfd < 0 && (errno == EINVAL || errno == ENOENT)) {
      return Fault{Reason::gone, ESRCH, "pidfd_open"};
    }
    if (pidfd < 0) return faultOf(errno, "pidfd_open");
  }
  const int directory = ::open(procPath(pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = errno;
  Process process(pid, pidfd, directory);

  if (directory < 0) {
    // A /proc mounted with hidepid=2 says ENOENT of the living; only a system call knows better.
    const bool hidden = error == ENOENT && (getpgid(pid) >= 0 || errno != ESRCH);
    return hidden ? Fault{Reason::denied, error, "/proc/<pid>"} : faultOf(error, "/proc/<pid>");
  }
  // Not reaped up to now, so the number meant one process in both calls above.
  const Result<bool> reaped = process.reaped();
  if (!reaped.ok()) return reaped.fault();
  if (*reaped) return Fault{Reason::gone, ESRCH, "pidfd_send_signal"};
  if (pidfd < 0) {
    const Result<bool> named = namesProcess(directory, pid);
    if (!named.ok()) return named.fault();
    if (!*named) return Fault{Reason::gone, ESRCH, "status"};
  }

  const Result<StatLine> stat = readStat(directory, "stat");
  if (!stat.ok()) return stat.fault();
  Result<std::string> token = startToken(*stat, pidfd);
  if (!token.ok()) return token.fault();
  process.token_ = std::move(*token);
  return process;
}

Result<bool> Process::reaped() const {
  if (process_ >= 0 && backend().pinnedSignals) {
    return sendThroughPidfd(process_, 0, 0) != 0 && errno == ESRCH;
  }
  if (process_ >= 0) return dead();
  const Result<StatLine> stat = readStat(directory_, "stat");
  if (!stat.ok() && stat.fault().reason != Reason::gone) return stat.fault();
  return !stat.ok();
}

Result<bool> Process::dead() const {
  if (process_ >= 0) {
    pollfd ready{process_, POLLIN, 0};
    int count;
    do {
      count = poll(&ready, 1, 0);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return faultOf(errno, "poll");
    return count > 0;
  }
  const Result<StatLine> stat = readStat(directory_, "stat");
  if (!stat.ok()) {
    if (stat.fault().reason == Reason::gone) return true;
    return stat.fault();
  }
  if (stat->state != 'Z' && stat->state != 'X') return false;
  const Result<pid_t> thread = livingThread(directory_);
  if (!thread.ok()) return thread.fault();
  return *thread == 0;
}

Result<StatLine> Process::living() const {
  const Result<StatLine> stat = readStat(directory_, "stat");
  const Result<bool> over = dead();
  if (!over.ok()) return over.fault();
  if (*over) return Fault{Reason::gone, ESRCH, "stat"};
  // Alive, so what cannot be found has been hidden: the process changed its uid under hidepid.
  if (!stat.ok()) return Fault{Reason::denied, stat.fault().error, "stat"};
  return *stat;
}

Result<pid_t> Process::parent() const {
  const Result<StatLine> stat = living();
  if (!stat.ok()) return stat.fault();
  return stat->ppid;
}

Result<Delivery> Process::signal(int signo) const {
  if (pid_ == 1 || pid_ == getpid()) return kProtected;
  if (!backend().pinnedSignals) return Fault{Reason::unsupported, 0, "pidfd_send_signal"};
  if (sendThroughPidfd(process_, signo, 0) != 0) return faultOf(errno, "pidfd_send_signal");
  return Delivery{true};
}

Result<Delivery> Process::signalGroup(int signo) const {
  if (pid_ == 1 || pid_ == ownGroup()) return kProtected;
  if (!backend().pinnedSignals) return Fault{Reason::unsupported, 0, "pidfd_send_signal"};
  if (!backend().groupSignals) return signalMembers(signo);
  if (sendThroughPidfd(process_, signo, kSignalProcessGroup) != 0) {
    return faultOf(errno, "pidfd_send_signal");
  }
  return Delivery{true};
}

int Process::exitDescriptor() const {
  return process_;
}

}  // namespace acpx
