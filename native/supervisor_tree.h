// How the tree under the supervisor ends, without a signal ever going to a number that could be
// somebody else's by now. Each platform has a way of its own to know who is in it.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <memory>
#include <optional>
#include <string>

namespace acpx {

class Tree {
 public:
  static std::unique_ptr<Tree> of(pid_t adapter);
  virtual ~Tree() = default;
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // Waits for everybody who has exited; the adapter is looked at and left a zombie.
  virtual void reap() = 0;
  bool adapterExited() const { return exit_.has_value(); }
  // Readable when `reap` has more to see than exits; -1: never.
  virtual int growthDescriptor() const { return -1; }

  // To the adapter's group.
  virtual void forward(int signo) = 0;
  // `signo` to the adapter's group, TERM to everybody else, then CONT: what is stopped cannot end.
  virtual void askToEnd(int signo) = 0;
  // To everybody who can be reached. What that leaves orphaned is next.
  virtual void kill() = 0;

  // The adapter has exited, and nobody is left but those who opted out. Waits for the adapter then.
  virtual bool settled() = 0;

  // Once `adapterExited`: CLD_EXITED and the code, or CLD_KILLED or CLD_DUMPED and the signal.
  const siginfo_t& adapterExit() const { return *exit_; }
  bool adapterWasKilled() const;
  // A line "<pid> <start token>" for each descendant that opted out, as many as a file of ours may
  // hold.
  virtual std::string optedOut() = 0;
  // Who is still to end, for people to read.
  virtual std::string survivors() = 0;

 protected:
  explicit Tree(pid_t adapter) : adapter_(adapter) {}

  // waitid without waiting; false: nobody has exited.
  static bool look(idtype_t which, pid_t pid, int options, siginfo_t& seen);
  // By number, while the adapter leads the group and is not waited for yet.
  void signalAdapterGroup(int signo) const;
  // Lets its number go: from then on `adapter` is nobody.
  void waitForAdapter();
  pid_t adapter() const { return waitedFor_ ? 0 : adapter_; }

  std::optional<siginfo_t> exit_;
  bool waitedFor_ = false;
  bool killSent_ = false;

 private:
  const pid_t adapter_;
};

}  // namespace acpx
