// What this kernel and sandbox can do, and the scope in which the numbers read here mean something.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include <cerrno>

#include "procfs_linux.h"

namespace acpx {
namespace {

constexpr long kPidfsMagic = 0x50494446;  // PIDFS_MAGIC of linux/magic.h, Linux 6.9+

std::optional<uint64_t> inodeOf(const char* path) {
  struct stat info;
  if (stat(path, &info) != 0) return std::nullopt;
  return info.st_ino;
}

// Before pidfs all pidfds shared one inode, which would make everybody the same process.
std::optional<uint64_t> uniqueInode(int pidfd) {
  struct statfs filesystem;
  struct stat info;
  if (pidfd < 0 || fstatfs(pidfd, &filesystem) != 0 || filesystem.f_type != kPidfsMagic ||
      fstat(pidfd, &info) != 0) {
    return std::nullopt;
  }
  return info.st_ino;
}

bool linkSaysOurNumber() {
  char target[24];
  const ssize_t length = readlink("/proc/self", target, sizeof target);
  if (length <= 0) return false;
  const std::optional<uint64_t> pid =
      parseNumber(std::string_view(target, static_cast<size_t>(length)));
  return pid == static_cast<uint64_t>(getpid());
}

// After unshare(CLONE_NEWPID) without a new mount, /proc still speaks of the outer namespace: its
// numbers name other processes than our system calls do, and ours may be the same in both by
// chance. The kernel lists our numbers from the namespace of the mount down to our own, so a single
// one says that they are the same namespace.
bool procIsOurs() {
  constexpr std::string_view kLabel = "\nNSpid:\t";
  const Result<std::string> status = readAll(AT_FDCWD, "/proc/self/status");
  if (!status.ok()) return false;
  const size_t label = status->find(kLabel);
  // Kernels that imitate Linux may have no such line.
  if (label == std::string::npos) return linkSaysOurNumber();
  const size_t start = label + kLabel.size();
  const std::string_view numbers(&(*status)[start], status->find('\n', start) - start);
  return parseNumber(numbers) == static_cast<uint64_t>(getpid());
}

// The parts of a token that are the same for every process this one looks at.
Result<StartToken> readScope() {
  if (!procIsOurs()) return Fault{Reason::unsupported, 0, "/proc/self/status"};
  const Result<std::string> boot = readAll(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
  if (!boot.ok()) return Fault{Reason::unsupported, boot.fault().error, boot.fault().call};
  const std::optional<uint64_t> pidNamespace = inodeOf("/proc/self/ns/pid");
  if (!pidNamespace) return Fault{Reason::unsupported, errno, "/proc/self/ns/pid"};

  StartToken scope;
  scope.boot = boot->substr(0, boot->find('\n'));
  scope.pidNamespace = *pidNamespace;
  scope.timeNamespace = inodeOf("/proc/self/ns/time");
  if (!parseToken(formatToken(scope))) {
    return Fault{Reason::garbled, 0, "/proc/sys/kernel/random/boot_id"};
  }
  return scope;
}

const Result<StartToken>& scope() {
  static const Result<StartToken> known = readScope();
  return known;
}

Backend probe() {
  const Descriptor self(openPidfd(getpid()));
  const bool pinned = static_cast<bool>(self);
  const bool signals = pinned && sendThroughPidfd(self.get(), 0, 0) == 0;
  // Older kernels refuse unknown flags with EINVAL. Our group may hold members that we may not
  // signal.
  const bool groups = signals && (sendThroughPidfd(self.get(), 0, kSignalProcessGroup) == 0 ||
                                  errno == EPERM || errno == ESRCH);

  const Result<StatLine> stat = readStat(AT_FDCWD, "/proc/self/stat");
  Observed<std::string> token =
      stat.ok() ? startToken(*stat, self.get())
                : Fault{Reason::unsupported, stat.fault().error, "/proc/self/stat"};
  const bool supported = token.ok();
  return Backend{"linux",         supported, pinned,
                 signals,         groups,    uniqueInode(self.get()).has_value(),
                 std::move(token)};
}

}  // namespace

Result<std::string> startToken(const StatLine& stat, int pidfd) {
  if (!scope().ok()) return scope().fault();
  StartToken token = *scope();
  token.ticks = stat.startTicks;
  token.inode = uniqueInode(pidfd);
  return formatToken(token);
}

const Backend& backend() {
  static const Backend known = probe();
  return known;
}

uint64_t bootTicks() {
  static const uint64_t ticksPerSecond = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * ticksPerSecond +
         static_cast<uint64_t>(now.tv_nsec) / (1'000'000'000 / ticksPerSecond);
}

}  // namespace acpx
