#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "supervisor_kernel.h"

namespace acpx {

const char* const kDescriptorDirectory = "/proc/self/fd";

int watchSignals(const sigset_t& set) {
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int takeSignal(int descriptor, const sigset_t&) {
  signalfd_siginfo information;
  const ssize_t length = read(descriptor, &information, sizeof information);
  return length == sizeof information ? static_cast<int>(information.ssi_signo) : 0;
}

DirectoryWatch::DirectoryWatch(const char* path)
    : directory_(-1),
      events_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      watched_(events_ && inotify_add_watch(events_.get(), path, IN_MOVED_TO) >= 0) {}

void DirectoryWatch::drain() const {
  alignas(inotify_event) char ignored[4096];
  (void)!read(events_.get(), ignored, sizeof ignored);
}

void adoptOrphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void dieWithSupervisor() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void leaveNoCore() {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace acpx
