// A process on macOS: its unique id, and a kqueue with one note of its end.
//
// Nothing here opens a process for good, so each look is taken between two looks at the unique id,
// which is never reused: equal before and after, it was one process. The note is bound to the
// process that was there when it was attached, through every exec.
#include <signal.h>
#include <sys/event.h>

#include <cerrno>

#include "kernel_darwin.h"

namespace acpx {
namespace {

// An exec gives a process another version, and signals are addressed to a version.
constexpr int kSignalAttempts = 8;

int attachExitNote(int queue, pid_t pid) {
  struct kevent change;
  struct kevent answer;
  EV_SET(&change, static_cast<uintptr_t>(pid), EVFILT_PROC, EV_ADD | EV_RECEIPT, NOTE_EXIT, 0,
         nullptr);
  if (kevent(queue, &change, 1, &answer, 1, nullptr) != 1) return errno;
  return static_cast<int>(answer.data);
}

}  // namespace

Result<Process> Process::open(pid_t pid) {
  if (pid < 1) return Fault{Reason::garbled, 0, "pid"};
  if (!backend().supported) return backend().selfToken.fault();
  const Result<KernelIdentity> before = identify(pid, Zombies::excluded);
  if (!before.ok()) return before.fault();
  Process process(pid, kqueue(), -1);
  if (process.process_ < 0) return faultOf(errno, "kqueue");
  if (const int error = attachExitNote(process.process_, pid)) return faultOf(error, "kevent");
  const Result<KernelIdentity> after = identify(pid, Zombies::excluded);
  if (!after.ok()) return after.fault();
  if (after->unique != before->unique) return Fault{Reason::gone, ESRCH, "kevent"};

  Result<std::string> token = startToken(after->unique);
  if (!token.ok()) return token.fault();
  process.unique_ = after->unique;
  process.token_ = std::move(*token);
  return process;
}

Result<bool> Process::dead() const {
  const Result<KernelIdentity> now = identify(pid_, Zombies::excluded);
  if (now.ok()) return now->unique != unique_;
  if (now.fault().reason == Reason::gone) return true;
  return now.fault();
}

Result<bool> Process::reaped() const {
  const Result<KernelIdentity> now = identify(pid_, Zombies::included);
  if (now.ok()) return now->unique != unique_;
  if (now.fault().reason == Reason::gone) return true;
  return now.fault();
}

Result<pid_t> Process::parent() const {
  const Result<Membership> membership = membershipOf(pid_);
  const Result<bool> over = dead();
  if (!over.ok()) return over.fault();
  if (*over) return Fault{Reason::gone, ESRCH, "proc_pidinfo"};
  if (!membership.ok()) return membership.fault();
  return membership->ppid;
}

Result<Delivery> Process::signal(int signo) const {
  if (pid_ == 1 || pid_ == getpid()) return kProtected;
  for (int attempt = 0; attempt < kSignalAttempts; ++attempt) {
    const Result<KernelIdentity> now = identify(pid_, Zombies::excluded);
    if (!now.ok()) return now.fault();
    if (now->unique != unique_) return Fault{Reason::gone, ESRCH, "proc_pidinfo"};
    // Signal 0 has no pinned form, and the look above has answered it.
    if (signo == 0) return Delivery{true};
    if (!backend().pinnedSignals) {
      // Before macOS 14.2. For a stranger to be hit, the process has to end, be waited for, and
      // the counter of pids come round to just this number between these two system calls.
      if (kill(pid_, signo) != 0) return faultOf(errno, "kill");
      return Delivery{false};
    }
    const int error = signalVersion(pid_, now->version, signo);
    if (error == 0) return Delivery{true};
    if (error != ESRCH) return faultOf(error, "proc_signal_with_audittoken");
  }
  return Fault{Reason::denied, ESRCH, "proc_signal_with_audittoken"};
}

int Process::exitDescriptor() const {
  return process_;
}

}  // namespace acpx
