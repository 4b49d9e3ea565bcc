// As a child subreaper the supervisor is given every orphan below it, double-forked and in sessions
// of their own as they may be. So waitid answering ECHILD proves that nothing is left.
//
// Own children that are not yet waited for are signalled by number, which the kernel cannot give
// away, and so is the adapter's group, because the adapter is waited for last. Deeper descendants
// are signalled through a handle opened first, whose parent chain is read up to us after.
#include <unistd.h>

#include <vector>

#include "decode.h"
#include "supervisor_descendants_linux.h"
#include "supervisor_tree.h"

namespace acpx {

namespace {

constexpr size_t kLargestList = 4096;

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
  // Of an own child that has not been waited for.
  bool isToEnd(pid_t child) const;
  bool groupHasOptedOut() const;
  void signalGroup(int signo, bool oneByOne) const;
};

// __WALL: clone can make children that announce their end by another signal or by none.
void SubreaperTree::reap() {
  siginfo_t seen;
  while (look(P_ALL, 0, __WALL | WNOWAIT, seen) && seen.si_pid != adapter()) {
    look(P_PID, seen.si_pid, __WALL, seen);
  }
  if (seen.si_pid != adapter()) return;
  exit_ = seen;
  // The unreaped adapter hides whoever exited behind it.
  const Result<std::vector<pid_t>> children = ownChildren();
  if (!children.ok()) return;
  for (const pid_t child : *children) {
    if (child != adapter()) look(P_PID, child, __WALL, seen);
  }
}

void SubreaperTree::forward(int signo) {
  signalGroup(signo, groupHasOptedOut());
}

void SubreaperTree::askToEnd(int signo) {
  walkDescendants(adapter(), [this](const Descendant& one) {
    if (one.optedOut || one.pgid == adapter()) return;
    one.signal(SIGTERM);
    one.signal(SIGCONT);
  });
  const bool oneByOne = groupHasOptedOut();
  signalGroup(signo, oneByOne);
  signalGroup(SIGCONT, oneByOne);
}

void SubreaperTree::kill() {
  if (!exit_) killSent_ = true;
  signalGroup(SIGKILL, groupHasOptedOut());
  const Result<std::vector<pid_t>> children = ownChildren();
  if (!children.ok()) return;
  for (const pid_t child : *children) {
    if (isToEnd(child)) signalChild(child, SIGKILL);
  }
}

bool SubreaperTree::settled() {
  if (!exit_) return false;
  const Result<std::vector<pid_t>> children = ownChildren();
  if (!children.ok()) return false;
  for (const pid_t child : *children) {
    if (isToEnd(child)) return false;
  }
  waitForAdapter();
  // Whoever died meanwhile may have left us somebody: only a list read now, and whole, decides.
  const Result<std::vector<pid_t>> left = ownChildren();
  if (!left.ok()) return false;
  for (const pid_t child : *left) {
    if (isToEnd(child)) return false;
  }
  return !left->empty() || !hasChildren();
}

std::string SubreaperTree::optedOut() {
  std::string lines;
  walkDescendants(adapter(), [&lines](const Descendant& one) {
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

bool SubreaperTree::isToEnd(pid_t child) const {
  // The adapter cannot opt out: it is what the launch is about.
  return child == adapter() ? !exit_ : !childOptedOut(child);
}

bool SubreaperTree::groupHasOptedOut() const {
  bool found = false;
  walkDescendants(adapter(), [this, &found](const Descendant& one) {
    if (one.optedOut && one.pgid == adapter()) found = true;
  });
  return found;
}

void SubreaperTree::signalGroup(int signo, bool oneByOne) const {
  if (waitedFor_) return;
  if (!oneByOne) {
    signalAdapterGroup(signo);
    return;
  }
  walkDescendants(adapter(), [this, signo](const Descendant& one) {
    if (!one.optedOut && one.pgid == adapter()) one.signal(signo);
  });
}

}  // namespace

std::unique_ptr<Tree> Tree::of(pid_t adapter) {
  return std::make_unique<SubreaperTree>(adapter);
}

}  // namespace acpx
