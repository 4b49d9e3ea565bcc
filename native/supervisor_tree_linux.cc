// As a child subreaper the supervisor is given every orphan below it, double-forked and in sessions
// of their own as they may be. So waitid answering ECHILD proves that nothing is left.
//
// Own children that are not yet waited for are signalled by number, which the kernel cannot give
// away, and so is the adapter's group, because the adapter is waited for last. Deeper descendants
// are signalled through a handle opened first, whose parent chain is read up to us after.
#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

#include "decode.h"
#include "supervisor_descendants_linux.h"
#include "supervisor_tree.h"

namespace acpx {

namespace {

constexpr size_t kLargestList = 4096;
constexpr long long kWalkMilliseconds = 500;
// Between two rounds of KILL.
constexpr long long kBriefWalkMilliseconds = 100;

class SubreaperTree : public Tree {
 public:
  explicit SubreaperTree(pid_t adapter) : Tree(adapter) {}

  void reap() override;
  void forward(int signo) override;
  void askToEnd(int signo) override;
  void kill() override;
  bool settled() override;
  std::string optedOut() override;
  std::string survivors() override;

 private:
  void waitFor(pid_t child);
  // Whether anybody of them is still to end.
  bool mustWaitFor(const std::vector<pid_t>& children);
  bool isToEnd(pid_t child);
  // Everybody below us, as long as that takes at most; learns who opted out.
  bool walk(long long milliseconds, const std::function<void(const Descendant&)>& visit);
  void survey(long long milliseconds);
  void signalGroup(std::initializer_list<int> signals);
  void killChild(pid_t child);

  OptOuts optOuts_;
  // Own children that were sent KILL. They are not asked again: reading takes time, and there may
  // be many.
  std::set<pid_t> killed_;
  bool groupIsShared_ = false;  // with somebody who opted out
  int rounds_ = 0;              // of KILL
};

// __WALL: clone can make children that announce their end by another signal or by none.
void SubreaperTree::reap() {
  siginfo_t seen;
  while (look(P_ALL, 0, __WALL | WNOWAIT, seen) && seen.si_pid != adapter()) waitFor(seen.si_pid);
  if (seen.si_pid == 0) return;
  exit_ = seen;
  // The unreaped adapter hides whoever exited behind it.
  const Result<std::vector<pid_t>> children = ownChildren();
  if (!children.ok()) return;
  for (const pid_t child : *children) {
    if (child != adapter()) waitFor(child);
  }
}

void SubreaperTree::waitFor(pid_t child) {
  siginfo_t seen;
  if (look(P_PID, child, __WALL, seen)) killed_.erase(child);
}

bool SubreaperTree::walk(long long milliseconds,
                         const std::function<void(const Descendant&)>& visit) {
  return walkDescendants(adapter(), optOuts_, milliseconds, visit);
}

void SubreaperTree::survey(long long milliseconds) {
  bool shared = false;
  const bool whole = walk(milliseconds, [this, &shared](const Descendant& one) {
    if (one.optedOut && one.pgid == adapter()) shared = true;
  });
  // One that was not reached this time is there all the same.
  groupIsShared_ = shared || (!whole && groupIsShared_);
}

void SubreaperTree::forward(int signo) {
  survey(kWalkMilliseconds);
  signalGroup({signo});
}

void SubreaperTree::askToEnd(int signo) {
  walk(kWalkMilliseconds, [this](const Descendant& one) {
    if (one.pgid == adapter()) {
      if (one.optedOut) groupIsShared_ = true;
    } else if (!one.optedOut) {
      one.signal(SIGTERM);
      one.signal(SIGCONT);
    }
  });
  signalGroup({signo, SIGCONT});
}

void SubreaperTree::killChild(pid_t child) {
  signalChild(child, SIGKILL);
  killed_.insert(child);
}

// What takes time comes last: environments are read when all those have been sent KILL who need no
// reading. In the first round whoever cannot be read gets another chance; after that the promise
// that nobody is left weighs more than a wish that may not even be there.
void SubreaperTree::kill() {
  if (!exit_) {
    killSent_ = true;
    signalChild(adapter(), SIGKILL);
  }
  if (rounds_ == 0) {
    survey(kWalkMilliseconds);
  } else if (optOuts_.any()) {
    survey(kBriefWalkMilliseconds);
  }
  signalGroup({SIGKILL});
  const Result<std::vector<pid_t>> children = ownChildren();
  if (children.ok()) {
    for (const pid_t child : *children) {
      if (killed_.count(child) != 0) killChild(child);
    }
    for (const pid_t child : *children) {
      if (child == adapter() || killed_.count(child) != 0) continue;
      const OptOut optOut = optOuts_.of(child);
      if (optOut == OptOut::no || (optOut == OptOut::unreadable && rounds_ > 0)) killChild(child);
    }
  }
  rounds_++;
}

bool SubreaperTree::settled() {
  if (!exit_) return false;
  const Result<std::vector<pid_t>> children = ownChildren();
  if (!children.ok() || mustWaitFor(*children)) return false;
  waitForAdapter();
  // Whoever died meanwhile may have left us somebody: only a list read now, and whole, decides.
  const Result<std::vector<pid_t>> left = ownChildren();
  if (!left.ok() || mustWaitFor(*left)) return false;
  return !left->empty() || !hasChildren();
}

bool SubreaperTree::mustWaitFor(const std::vector<pid_t>& children) {
  return std::any_of(children.begin(), children.end(),
                     [this](pid_t child) { return isToEnd(child); });
}

bool SubreaperTree::isToEnd(pid_t child) {
  // The adapter cannot opt out: it is what the launch is about.
  if (child == adapter()) return !exit_;
  // Between rounds of KILL nothing is read: a chain of orphans is as long as it likes, and the next
  // round asks.
  if (rounds_ > 0) return !optOuts_.has(child);
  return optOuts_.of(child) != OptOut::yes;
}

std::string SubreaperTree::optedOut() {
  std::string lines;
  walk(kWalkMilliseconds, [&lines](const Descendant& one) {
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

std::string SubreaperTree::survivors() {
  const Result<std::vector<pid_t>> children = ownChildren();
  if (!children.ok()) return "processes that cannot be listed";
  std::string numbers;
  for (const pid_t child : *children) {
    if (!isToEnd(child)) continue;
    if (!numbers.empty()) numbers += ' ';
    appendNumber(numbers, static_cast<uint64_t>(child));
  }
  return numbers;
}

void SubreaperTree::signalGroup(std::initializer_list<int> signals) {
  if (waitedFor_) return;
  if (!groupIsShared_) {
    for (const int signo : signals) signalAdapterGroup(signo);
    return;
  }
  walk(kWalkMilliseconds, [this, signals](const Descendant& one) {
    if (one.optedOut || one.pgid != adapter()) return;
    for (const int signo : signals) one.signal(signo);
  });
}

}  // namespace

std::unique_ptr<Tree> Tree::of(pid_t adapter) {
  return std::make_unique<SubreaperTree>(adapter);
}

}  // namespace acpx
