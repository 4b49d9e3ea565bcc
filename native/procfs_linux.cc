#include "procfs_linux.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

namespace acpx {
namespace {

// The same on every architecture (Linux 5.1 and 5.3), and newer than the headers we want to build
// with.
constexpr long kPidfdSendSignal = 424;
constexpr long kPidfdOpen = 434;

}  // namespace

std::string procPath(pid_t pid) {
  std::string path = "/proc/";
  appendNumber(path, static_cast<uint64_t>(pid));
  return path;
}

Result<std::string> readAll(int directory, const char* name) {
  const Descriptor file(openat(directory, name, O_RDONLY | O_CLOEXEC));
  if (!file) return faultOf(errno, name);
  std::string text;
  size_t used = 0;
  for (;;) {
    if (used == text.size()) text.resize(used + (used < 2048 ? 2048 : used));
    const ssize_t got = read(file.get(), &text[used], text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return faultOf(errno, name);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  text.resize(used);
  return text;
}

Result<StatLine> readStat(int directory, const char* name) {
  const Result<std::string> line = readAll(directory, name);
  if (!line.ok() && line.fault().error == ENOENT) return Fault{Reason::denied, ENOENT, name};
  if (!line.ok()) return line.fault();
  const std::optional<StatLine> stat = parseStat(*line);
  if (!stat) return Fault{Reason::garbled, 0, name};
  return *stat;
}

Result<pid_t> livingThread(int directory) {
  Descriptor tasks(openat(directory, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!tasks) return faultOf(errno, "task");
  const Directory listing(fdopendir(tasks.get()));
  if (!listing) return faultOf(errno, "task");
  tasks.release();
  while (const dirent* entry = readdir(listing.get())) {
    const std::optional<uint64_t> thread = parseNumber(entry->d_name);
    if (!thread) continue;
    const std::string name = std::string(entry->d_name) + "/stat";
    const Result<StatLine> stat = readStat(dirfd(listing.get()), name.c_str());
    // One that ended since it was listed is not alive; anything else might be.
    const bool ended = !stat.ok() && (stat.fault().error == ENOENT || stat.fault().error == ESRCH);
    if (!stat.ok() && !ended) return stat.fault();
    if (stat.ok() && stat->state != 'Z' && stat->state != 'X') return static_cast<pid_t>(*thread);
  }
  return 0;
}

int openPidfd(pid_t pid) {
  return static_cast<int>(syscall(kPidfdOpen, pid, 0));
}

int sendThroughPidfd(int pidfd, int signo, unsigned flags) {
  return static_cast<int>(syscall(kPidfdSendSignal, pidfd, signo, nullptr, flags));
}

}  // namespace acpx
