// A lock that says "this process is alive": an flock on a local file for as long as somebody here
// holds it.
//
// flock belongs to the open file, so a process that opens the file twice excludes itself. Therefore
// one registry for the whole process: whoever asks for a lock that is held here already shares it.
#pragma once

#include <memory>

#include "process.h"

namespace acpx {

// Two numbers that name a file: device and inode.
using FileId = std::pair<uint64_t, uint64_t>;

// One holder's share; the lock goes with the last one.
class HeldLock {
 public:
  explicit HeldLock(FileId file) : file_(file) {}
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock();

 private:
  const FileId file_;
};

// `held` is null when somebody else has the lock, and after a probe.
struct LockAttempt {
  bool busy = false;
  std::unique_ptr<HeldLock> held;
};

// `exclusive` creates the file (0600) and keeps the lock; `probe` only asks whether anybody else
// holds it.
enum class LockMode : uint8_t { exclusive, probe };

// Whether a lock on this open file is seen by everybody who may use the file.
Result<bool> locksReachTheOthers(int file);

// `unsupported` on network and FUSE file systems, where a lock may be local or forgotten by the
// server.
Result<LockAttempt> takeLock(const std::string& path, LockMode mode);

}  // namespace acpx
