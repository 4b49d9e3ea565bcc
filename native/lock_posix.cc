#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <map>
#include <mutex>

#include "lock.h"
#include "posix.h"

namespace acpx {
namespace {

// A probe holds its shared lock for some microseconds; whoever comes just then tries again.
constexpr int kAttempts = 3;

struct Share {
  int file;
  int holders;
};

// Environments come and go in threads of their own.
std::mutex registryMutex;
std::map<FileId, Share>& registry() {
  static std::map<FileId, Share> held;
  return held;
}

// 0 or the errno.
int tryLock(int file, int operation) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) {
      const timespec moment{0, 1'000'000};
      nanosleep(&moment, nullptr);
    }
    if (flock(file, operation | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK && errno != EINTR) return errno;
  }
  return EWOULDBLOCK;
}

}  // namespace

HeldLock::~HeldLock() {
  const std::lock_guard<std::mutex> guard(registryMutex);
  const auto share = registry().find(file_);
  if (--share->second.holders > 0) return;
  close(share->second.file);
  registry().erase(share);
}

Result<LockAttempt> takeLock(const std::string& path, LockMode mode) {
  const bool exclusive = mode == LockMode::exclusive;
  const int flags =
      O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (exclusive ? O_RDONLY | O_CREAT : O_RDONLY);
  Descriptor file(open(path.c_str(), flags, 0600));
  if (!file) return faultOf(errno, "open");
  const Result<bool> shared = locksReachTheOthers(file.get());
  if (!shared.ok()) return shared.fault();
  if (!*shared) return Fault{Reason::unsupported, 0, "flock on a network file system"};
  struct stat info;
  if (fstat(file.get(), &info) != 0) return faultOf(errno, "fstat");
  if (!S_ISREG(info.st_mode)) return Fault{Reason::garbled, 0, "open"};

  const FileId id{info.st_dev, info.st_ino};
  const std::lock_guard<std::mutex> guard(registryMutex);
  const auto share = registry().find(id);
  if (share != registry().end()) {
    ++share->second.holders;
    return LockAttempt{false, std::make_unique<HeldLock>(id)};
  }
  const int error = tryLock(file.get(), exclusive ? LOCK_EX : LOCK_SH);
  if (error == EWOULDBLOCK) return LockAttempt{true, nullptr};
  if (error != 0) return faultOf(error, "flock");
  if (!exclusive) return LockAttempt{false, nullptr};

  // Somebody may have removed the name in the meantime: then we hold a lock that nobody can find.
  struct stat named;
  if (lstat(path.c_str(), &named) != 0 || FileId{named.st_dev, named.st_ino} != id) {
    return Fault{Reason::gone, ENOENT, "flock"};
  }
  registry()[id] = Share{file.release(), 1};
  return LockAttempt{false, std::make_unique<HeldLock>(id)};
}

}  // namespace acpx
