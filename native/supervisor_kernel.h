// What the supervisor needs of the kernel beyond process.h, and what each kernel has instead of it.
#pragma once

#include <signal.h>

#include "posix.h"

namespace acpx {

// A descriptor that becomes readable when one of the set, all of them blocked, is pending, also if
// it has been from before.
int watchSignals(const sigset_t& set);
// The next pending one of the set, or 0.
int takeSignal(int descriptor, const sigset_t& set);

// Readable after something was put into the directory.
class DirectoryWatch {
 public:
  explicit DirectoryWatch(const char* path);
  // -1: the kernel has no room for another watch.
  int descriptor() const { return watched_ ? events_.get() : -1; }
  void drain() const;

 private:
  Descriptor directory_;
  Descriptor events_;
  bool watched_;
};

// Orphans below us become our children, where the kernel has subreapers.
void adoptOrphans();
// In the adapter before exec: KILL when the supervisor dies, where the kernel does such a thing.
void dieWithSupervisor();
// A core limit does not bind a piped core pattern; a process that is not dumpable leaves none.
void leaveNoCore();
// Where the kernel lists our open descriptors.
extern const char* const kDescriptorDirectory;

}  // namespace acpx
