// How the tree under the supervisor ends, without a signal ever going to a number that could be
// somebody else's by now.
//
//   own children, not yet waited for   the kernel cannot give their numbers away: signalled by
//   number the adapter's group                the adapter is waited for last, so its number stays
//   taken as well deeper descendants                 through a handle opened first, whose parent
//   chain is read up to us after
//
// As a child subreaper we are given every orphan below us, double-forked and in sessions of their
// own as they may be. So waitid answering ECHILD proves that nothing is left.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace acpx {

class Tree {
 public:
  explicit Tree(pid_t adapter) : adapter_(adapter) {}

  // Waits for everybody who has exited; the adapter is looked at and left a zombie.
  void reap();
  bool adapterExited() const { return exit_.has_value(); }

  // To the adapter's group.
  void forward(int signo) const;
  // `signo` to the adapter's group, TERM to everybody else, then CONT: what is stopped cannot end.
  void askToEnd(int signo) const;
  // Own children and the adapter's group. Their orphans come to us and are next.
  void kill();

  // The adapter has exited, and nobody is left but those who opted out. Waits for the adapter then.
  bool settled();

  // Once `adapterExited`: CLD_EXITED and the code, or CLD_KILLED or CLD_DUMPED and the signal.
  const siginfo_t& adapterExit() const { return *exit_; }
  bool adapterWasKilled() const;
  // A line "<pid> <start token>" for each descendant that opted out, as many as a file of ours may
  // hold.
  std::string optedOut() const;
  // Own children that have not exited, for people to read.
  std::string survivors() const;

 private:
  // Of an own child that has not been waited for.
  bool isToEnd(pid_t child) const;
  bool groupHasOptedOut() const;
  void signalGroup(int signo, bool oneByOne) const;

  const pid_t adapter_;
  std::optional<siginfo_t> exit_;
  bool waitedFor_ = false;
  bool killSent_ = false;
};

}  // namespace acpx
