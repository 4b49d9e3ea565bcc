#include "supervisor_signals.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace acpx {

namespace {

constexpr int kEnding[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT};

}  // namespace

sigset_t endingSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signo : kEnding) sigaddset(&set, signo);
  return set;
}

bool endsTree(int signo) {
  for (const int ending : kEnding) {
    if (signo == ending) return true;
  }
  return false;
}

void blockSignals() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  for (int signo = 1; signo < NSIG; signo++) signal(signo, SIG_DFL);
}

int openSignals() {
  sigset_t set = endingSignals();
  for (const int signo : {SIGUSR1, SIGUSR2, SIGCHLD}) sigaddset(&set, signo);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int nextSignal(int descriptor) {
  signalfd_siginfo information;
  const ssize_t length = read(descriptor, &information, sizeof information);
  return length == sizeof information ? static_cast<int>(information.ssi_signo) : 0;
}

void unblockSignals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void dieByPending(const sigset_t& set) {
  // A core limit does not bind a piped core pattern; a process that is not dumpable leaves no core
  // at all.
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_DUMPABLE, 0);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void dieBy(int signo) {
  kill(getpid(), signo);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signo);
  dieByPending(one);
}

}  // namespace acpx
