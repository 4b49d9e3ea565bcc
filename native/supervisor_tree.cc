#include "supervisor_tree.h"

#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "decode.h"
#include "supervisor_descendants.h"

namespace acpx {

namespace {

constexpr size_t kLargestList = 4096;

// __WALL: clone can make children that announce their end by another signal or by none.
bool look(idtype_t which, pid_t pid, int options, siginfo_t& seen) {
  seen.si_pid = 0;
  return waitid(which, static_cast<id_t>(pid), &seen, WEXITED | WNOHANG | __WALL | options) == 0 &&
         seen.si_pid != 0;
}

bool hasChildren() {
  siginfo_t seen;
  return waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

}  // namespace

void Tree::reap() {
  siginfo_t seen;
  while (look(P_ALL, 0, WNOWAIT, seen) && seen.si_pid != adapter_) {
    look(P_PID, seen.si_pid, 0, seen);
  }
  if (seen.si_pid != adapter_) return;
  exit_ = seen;
  // The unreaped adapter hides whoever exited behind it.
  for (const pid_t child : childrenOf(getpid())) {
    if (child != adapter_) look(P_PID, child, 0, seen);
  }
}

void Tree::forward(int signo) const {
  signalGroup(signo, groupHasOptedOut());
}

void Tree::askToEnd(int signo) const {
  walkDescendants(adapter_, [this](const Descendant& one) {
    if (one.optedOut || one.pgid == adapter_) return;
    one.signal(SIGTERM);
    one.signal(SIGCONT);
  });
  const bool oneByOne = groupHasOptedOut();
  signalGroup(signo, oneByOne);
  signalGroup(SIGCONT, oneByOne);
}

void Tree::kill() {
  if (!exit_) killSent_ = true;
  signalGroup(SIGKILL, groupHasOptedOut());
  for (const pid_t child : childrenOf(getpid())) {
    if (isToEnd(child)) ::kill(child, SIGKILL);
  }
}

bool Tree::settled() {
  if (!exit_) return false;
  for (const pid_t child : childrenOf(getpid())) {
    if (isToEnd(child)) return false;
  }
  if (!waitedFor_) {
    siginfo_t seen;
    look(P_PID, adapter_, 0, seen);
    waitedFor_ = true;
  }
  // Children that are there but cannot be listed (no /proc) prove nothing.
  return !hasChildren() || !childrenOf(getpid()).empty();
}

bool Tree::adapterWasKilled() const {
  return killSent_ && exit_->si_code != CLD_EXITED && exit_->si_status == SIGKILL;
}

std::string Tree::optedOut() const {
  std::string lines;
  walkDescendants(adapter_, [&lines](const Descendant& one) {
    if (!one.optedOut || one.handle == nullptr) return;
    std::string line;
    appendNumber(line, static_cast<uint64_t>(one.pid));
    line += ' ';
    line += one.handle->token();
    line += '\n';
    if (lines.size() + line.size() <= kLargestList) lines += line;
  });
  return lines;
}

std::string Tree::survivors() const {
  std::string numbers;
  for (const pid_t child : childrenOf(getpid())) {
    if (!isToEnd(child)) continue;
    if (!numbers.empty()) numbers += ' ';
    appendNumber(numbers, static_cast<uint64_t>(child));
  }
  return numbers;
}

bool Tree::isToEnd(pid_t child) const {
  // The adapter cannot opt out: it is what the launch is about.
  return child == adapter_ ? !exit_ : !childOptedOut(child);
}

bool Tree::groupHasOptedOut() const {
  bool found = false;
  walkDescendants(adapter_, [this, &found](const Descendant& one) {
    if (one.optedOut && one.pgid == adapter_) found = true;
  });
  return found;
}

void Tree::signalGroup(int signo, bool oneByOne) const {
  if (waitedFor_) return;
  if (!oneByOne) {
    // The one negated number of this package: the adapter leads this group and is not waited for
    // yet.
    ::kill(-adapter_, signo);
    return;
  }
  walkDescendants(adapter_, [this, signo](const Descendant& one) {
    if (!one.optedOut && one.pgid == adapter_) one.signal(signo);
  });
}

}  // namespace acpx
