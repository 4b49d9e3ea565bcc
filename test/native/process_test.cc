// What JavaScript cannot reach: children that have not called exec, and the refusals below the
// facade's own. Run under AddressSanitizer and UndefinedBehaviorSanitizer by
// scripts/sanitizers.mjs.
#include "process.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "check.h"
#include "decode.h"

namespace {

using namespace acpx;

// A child that has not called exec and waits to be ended; ended and reaped when this goes out of
// scope.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ == 0) {
      for (;;) pause();
    }
  }
  Child(const Child&) = delete;
  ~Child() {
    if (!reaped_) end();
  }
  pid_t pid() const { return pid_; }
  // Dead and not waited for: nobody else can have the number.
  void kill() const { ::kill(pid_, SIGKILL); }
  int end() {
    kill();
    int status = 0;
    waitpid(pid_, &status, 0);
    reaped_ = true;
    return status;
  }
  void becomeZombie() const {
    kill();
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }

 private:
  const pid_t pid_;
  bool reaped_ = false;
};

template <typename T>
bool refusedWith(const Result<T>& result, Reason reason) {
  return !result.ok() && result.fault().reason == reason;
}

int openDescriptors() {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

void handles() {
  Child child;
  Result<Process> process = Process::open(child.pid());
  check::that(process.ok() && process->pid() == child.pid(), "an own child can be pinned");
  if (!process.ok()) return;
  const Result<pid_t> parent = process->parent();
  check::that(parent.ok() && *parent == getpid(), "its parent is read through the handle");
  const Result<bool> alive = process->dead();
  check::that(alive.ok() && !*alive, "a waiting child is not dead");
  const Result<ProcessReading> reading = process->read({"PATH", "NO_SUCH_VARIABLE"});
  check::that(reading.ok() && reading->ppid == getpid() && reading->uid == geteuid(),
              "a reading names parent and uid");
  check::that(reading.ok() && reading->environment.ok() && reading->environment->size() == 2 &&
                  !(*reading->environment)[1],
              "a variable that is not set is absent, not unreadable");
  check::that(reading.ok() && reading->token == process->token(), "a reading carries the token");

  child.becomeZombie();
  const Result<bool> dead = process->dead();
  check::that(dead.ok() && *dead, "a zombie is dead");
  check::that(refusedWith(process->read({}), Reason::gone), "a zombie cannot be read: gone");
  check::that(refusedWith(process->parent(), Reason::gone), "a zombie has no parent to tell: gone");
  check::that(Process::open(child.pid()).ok(), "a zombie still has its number and can be pinned");
  child.end();
  check::that(refusedWith(process->signal(SIGTERM), Reason::gone), "once reaped it is gone");
  check::that(refusedWith(Process::open(child.pid()), Reason::gone), "and its number is nobody's");
}

void moving() {
  const int before = openDescriptors();
  {
    Child child;
    Result<Process> first = Process::open(child.pid());
    Result<Process> second = Process::open(getpid());
    check::that(first.ok() && second.ok(), "two processes can be pinned");
    *second = std::move(*first);
    check::that(second->pid() == child.pid(), "a moved handle pins what the other pinned");
  }
  check::that(openDescriptors() == before, "handles close what they opened, moved or not");
}

void refusals() {
  for (const pid_t pid : {0, -1, -getpid(), INT32_MIN}) {
    check::that(refusedWith(Process::open(pid), Reason::garbled), "numbers below 1 name nobody");
  }
  const Result<Process> self = Process::open(getpid());
  check::that(self.ok() && refusedWith(self->signal(SIGKILL), Reason::denied),
              "the caller is never signalled");
  const Result<Process> first = Process::open(1);
  check::that(first.ok() && refusedWith(first->signal(0), Reason::denied),
              "pid 1 is never signalled, not even asked");
  check::that(first.ok() && refusedWith(first->signalGroup(0), Reason::denied),
              "nor is the group of pid 1");
  setpgid(0, 0);
  const Result<Process> own = Process::open(ownGroup());
  check::that(own.ok() && refusedWith(own->signalGroup(SIGKILL), Reason::denied),
              "the caller's own group is never signalled");
}

// A group of a leader and a member next to a stranger, all of them ours.
struct Group {
  Child leader;
  Child member;
  Child stranger;
  Result<Process> handle = Process::open(leader.pid());

  bool made() const {
    return handle.ok() && setProcessGroup(leader.pid(), leader.pid()).ok() &&
           setProcessGroup(member.pid(), leader.pid()).ok();
  }
};

bool endedBy(int status, int signo) {
  return WIFSIGNALED(status) && WTERMSIG(status) == signo;
}

void groups() {
  check::that(refusedWith(setProcessGroup(0, 1), Reason::garbled),
              "0 is not a process to be moved");
  check::that(refusedWith(setProcessGroup(getpid(), getpid()), Reason::denied),
              "the caller is not moved");

  Group led;
  check::that(led.made(), "own children that have not called exec can be grouped");
  led.leader.becomeZombie();
  check::that(led.handle->signalGroup(SIGTERM).ok(), "a group with a dead leader can be signalled");
  check::that(endedBy(led.member.end(), SIGTERM), "its member got the signal");
  check::that(endedBy(led.stranger.end(), SIGKILL),
              "a stranger ended only by what we sent it later");

  Group orphaned;
  check::that(orphaned.made(), "a second group can be made");
  orphaned.leader.end();
  const Result<Delivery> delivery = orphaned.handle->signalGroup(SIGTERM);
  const int ending = orphaned.member.end();
  if (backend().groupSignals) {
    check::that(delivery.ok() && endedBy(ending, SIGTERM),
                "a group whose leader was reaped is still reached through the handle");
    check::that(refusedWith(orphaned.handle->signalGroup(SIGTERM), Reason::gone),
                "an empty group is gone");
  } else {
    check::that(refusedWith(delivery, Reason::unsupported) && endedBy(ending, SIGKILL),
                "without group signals a group whose leader was reaped is left alone");
  }
}

void table() {
  Child child;
  const Result<Snapshot> seen = snapshot();
  check::that(seen.ok() && seen->complete, "the table is complete");
  if (!seen.ok()) return;
  bool found = false;
  for (size_t i = 0; i < seen->pid.size(); ++i) {
    found = found || (seen->pid[i] == child.pid() && seen->ppid[i] == getpid());
  }
  check::that(found, "a child stands in the table with its parent");
  check::that(seen->pid.size() == seen->state.size() && seen->pid.size() == seen->uid.size(),
              "all columns have the same length");
}

}  // namespace

// The argument names the suite: the same checks run in several worlds.
int main(int argc, char** argv) {
  handles();
  moving();
  refusals();
  groups();
  table();
  return check::report(argc > 1 ? argv[1] : "process");
}
