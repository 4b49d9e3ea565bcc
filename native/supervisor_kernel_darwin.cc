#include <fcntl.h>
#include <sys/event.h>
#include <sys/resource.h>

#include "supervisor_kernel.h"

namespace acpx {

namespace {

constexpr timespec kAtOnce = {0, 0};

bool isPending(const sigset_t& set, int signo) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signo) == 1 && sigismember(&set, signo) == 1;
}

// 0: none.
int pendingOf(const sigset_t& set) {
  for (int signo = 1; signo < NSIG; signo++) {
    if (isPending(set, signo)) return signo;
  }
  return 0;
}

void drainQueue(int queue) {
  struct kevent ignored[16];
  while (kevent(queue, nullptr, 0, ignored, 16, &kAtOnce) > 0) {
  }
}

void add(int queue, uintptr_t what, short filter, unsigned flags, unsigned notes) {
  struct kevent change;
  EV_SET(&change, what, filter, static_cast<unsigned short>(EV_ADD | flags), notes, 0, nullptr);
  kevent(queue, &change, 1, nullptr, 0, nullptr);
}

}  // namespace

const char* const kDescriptorDirectory = "/dev/fd";

// The notes come when a signal is sent, blocked or not, and leave it pending.
int watchSignals(const sigset_t& set) {
  const int queue = kqueue();
  if (queue < 0) return -1;
  for (int signo = 1; signo < NSIG; signo++) {
    if (sigismember(&set, signo) == 1) {
      add(queue, static_cast<uintptr_t>(signo), EVFILT_SIGNAL, EV_CLEAR, 0);
    }
  }
  // One that came before its note was attached is announced by nobody but us.
  if (pendingOf(set) != 0) {
    add(queue, 0, EVFILT_USER, EV_CLEAR, 0);
    struct kevent trigger;
    EV_SET(&trigger, 0, EVFILT_USER, 0, NOTE_TRIGGER, 0, nullptr);
    kevent(queue, &trigger, 1, nullptr, 0, nullptr);
  }
  return queue;
}

int takeSignal(int descriptor, const sigset_t& set) {
  // Before the look: what is sent after it announces itself again.
  drainQueue(descriptor);
  const int signo = pendingOf(set);
  if (signo == 0) return 0;
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signo);
  int taken = 0;
  return sigwait(&one, &taken) == 0 ? taken : 0;
}

DirectoryWatch::DirectoryWatch(const char* path)
    : directory_(open(path, O_EVTONLY | O_CLOEXEC)), events_(kqueue()), watched_(false) {
  if (!directory_ || !events_) return;
  struct kevent change;
  EV_SET(&change, static_cast<uintptr_t>(directory_.get()), EVFILT_VNODE, EV_ADD | EV_CLEAR,
         NOTE_WRITE, 0, nullptr);
  watched_ = kevent(events_.get(), &change, 1, nullptr, 0, nullptr) == 0;
}

void DirectoryWatch::drain() const {
  drainQueue(events_.get());
}

// There are no subreapers: orphans go to launchd, and are found again by their lineage.
void adoptOrphans() {}

// Nor is there such a signal: what a killed supervisor leaves behind is for the gateway to find.
void dieWithSupervisor() {}

void leaveNoCore() {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

}  // namespace acpx
