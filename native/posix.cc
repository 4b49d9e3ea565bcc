#include "posix.h"

#include <cerrno>

namespace acpx {

Fault faultOf(int error, const char* call) {
  if (error == ENOTSUP || error == EOPNOTSUPP) return {Reason::unsupported, error, call};
  switch (error) {
    case ESRCH:
    case ENOENT:
      return {Reason::gone, error, call};
    case ENOSYS:
    case EINVAL:
      return {Reason::unsupported, error, call};
    default:
      // EPERM and EACCES, but also EMFILE or ENOMEM: the kernel did not let us look.
      return {Reason::denied, error, call};
  }
}

Process::Process(pid_t pid, int process, int directory)
    : pid_(pid), process_(process), directory_(directory) {}

Process::Process(Process&& other) noexcept
    : pid_(other.pid_),
      process_(std::exchange(other.process_, -1)),
      directory_(std::exchange(other.directory_, -1)),
      unique_(other.unique_),
      token_(std::move(other.token_)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(process_, other.process_);
  std::swap(directory_, other.directory_);
  std::swap(unique_, other.unique_);
  std::swap(token_, other.token_);
  return *this;
}

Process::~Process() {
  if (process_ >= 0) close(process_);
  if (directory_ >= 0) close(directory_);
}

Result<pid_t> setProcessGroup(pid_t pid, pid_t pgid) {
  if (pid < 1 || pgid < 1) return Fault{Reason::garbled, 0, "setpgid"};
  if (pid == getpid()) return kProtected;
  if (setpgid(pid, pgid) != 0) return faultOf(errno, "setpgid");
  return pgid;
}

pid_t ownGroup() {
  return getpgrp();
}

}  // namespace acpx
