#include "supervisor_signals.h"

#include <unistd.h>

#include <initializer_list>

#include "supervisor_kernel.h"

namespace acpx {

namespace {

constexpr int kEnding[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT};

// What is forwarded to the adapter, and SIGCHLD.
sigset_t ourSignals() {
  sigset_t set = endingSignals();
  for (const int signo : {SIGUSR1, SIGUSR2, SIGCHLD}) sigaddset(&set, signo);
  return set;
}

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
  return watchSignals(ourSignals());
}

int nextSignal(int descriptor) {
  return takeSignal(descriptor, ourSignals());
}

void unblockSignals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void dieByPending(const sigset_t& set) {
  leaveNoCore();
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
