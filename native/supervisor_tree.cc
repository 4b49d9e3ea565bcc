#include "supervisor_tree.h"

namespace acpx {

bool Tree::adapterWasKilled() const {
  return killSent_ && exit_->si_code != CLD_EXITED && exit_->si_status == SIGKILL;
}

bool Tree::look(idtype_t which, pid_t pid, int options, siginfo_t& seen) {
  // Left untouched if nobody has exited.
  seen.si_pid = 0;
  return waitid(which, static_cast<id_t>(pid), &seen, WEXITED | WNOHANG | options) == 0 &&
         seen.si_pid != 0;
}

void Tree::signalAdapterGroup(int signo) const {
  // The one negated number of this package.
  if (!waitedFor_) ::kill(-adapter_, signo);
}

void Tree::waitForAdapter() {
  if (waitedFor_) return;
  siginfo_t seen;
  look(P_PID, adapter_, 0, seen);
  waitedFor_ = true;
}

}  // namespace acpx
