// What the macOS files take for granted about the kernel, found in its source and asserted on real
// machines: built and run there by scripts/sanitizers.mjs, elsewhere only compiled by
// scripts/check-darwin.mjs.
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "check.h"
#include "kernel_darwin.h"
#include "table_darwin.h"

namespace {

using namespace acpx;

// A pipe on which a child says that it has come so far, or waits until it may go on.
class Gate {
 public:
  Gate() {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) abort();
    reading_ = ends[0];
    writing_ = ends[1];
  }
  Gate(const Gate&) = delete;
  ~Gate() {
    close(reading_);
    close(writing_);
  }
  void pass(pid_t number) const { (void)!write(writing_, &number, sizeof number); }
  pid_t wait() const {
    pid_t number = 0;
    (void)!read(reading_, &number, sizeof number);
    return number;
  }

 private:
  int reading_;
  int writing_;
};

// Ends and reaps an own child when it goes out of scope.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) : pid_(fork()) {
    if (pid_ != 0) return;
    body();
    for (;;) pause();
  }
  Child(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  void becomeZombie() const {
    kill(pid_, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }

 private:
  const pid_t pid_;
};

void becomeSleep() {
  execl("/bin/sleep", "sleep", "600", nullptr);
  _exit(1);
}

KernelIdentity sure(pid_t pid, Zombies zombies = Zombies::excluded) {
  const Result<KernelIdentity> identity = identify(pid, zombies);
  check::that(identity.ok(), "a process of ours has an identity");
  return identity.ok() ? *identity : KernelIdentity{};
}

// The exec has been seen when the version has changed; a deadline ends a kernel that behaves
// otherwise.
KernelIdentity afterExec(pid_t pid, int32_t before) {
  for (int attempt = 0; attempt < 5000; ++attempt) {
    const KernelIdentity now = sure(pid);
    if (now.version != before) return now;
    usleep(1000);
  }
  check::that(false, "exec changes the version");
  return {};
}

void identities() {
  const Backend& can = backend();
  check::that(can.supported && can.pinnedHandles && can.uniqueIdentity, "handles are pinned here");
  const KernelIdentity self = sure(getpid());
  check::that(self.unique > 1, "this process has a unique id");
  check::that(sure(1).unique == 1, "launchd has the first");

  const Gate gate;
  const Child child([&] {
    gate.wait();
    becomeSleep();
  });
  const KernelIdentity before = sure(child.pid());
  check::that(before.parentUnique == self.unique, "a fork is noted with the parent's unique id");
  check::that(before.parentVersion == 0 || before.parentVersion == self.version,
              "and, since macOS 15.4, with its version");
  gate.pass(1);
  const KernelIdentity after = afterExec(child.pid(), before.version);
  check::that(after.unique == before.unique, "exec keeps the unique id");
  check::that(after.parentUnique == self.unique, "and the parent's, while that lives");

  if (can.pinnedSignals) {
    check::that(signalVersion(child.pid(), before.version, SIGCONT) == ESRCH,
                "a signal to the version before an exec reaches nobody");
    check::that(signalVersion(child.pid(), after.version, SIGCONT) == 0,
                "a signal to the version of now is delivered");
  }
  child.becomeZombie();
  const Result<KernelIdentity> dead = identify(child.pid(), Zombies::excluded);
  check::that(!dead.ok() && dead.fault().reason == Reason::gone, "a zombie is gone");
  check::that(sure(child.pid(), Zombies::included).unique == before.unique,
              "unless zombies are asked for");
}

void handles() {
  const Child child([] {});
  const Result<Process> handle = Process::open(child.pid());
  check::that(handle.ok(), "a child can be opened");
  if (!handle.ok()) return;
  const Result<ProcessReading> reading = handle->read({"PATH"});
  check::that(reading.ok() && reading->ppid == getpid() && reading->pid == child.pid(), "and read");
  const Result<Delivery> delivery = handle->signal(SIGTERM);
  check::that(delivery.ok() && delivery->pinned == backend().pinnedSignals,
              "and signalled, pinned since macOS 14.2");
  child.becomeZombie();
  check::that(handle->dead().ok() && *handle->dead(), "a zombie is dead");
  check::that(!handle->signal(SIGTERM).ok(), "and is not signalled");
}

// kill(2) on macOS answers EPERM for a group of zombies, so its errno says nothing about who is
// left.
void zombieGroups() {
  const Gate gate;
  const Child leader([&] {
    setpgid(0, 0);
    gate.pass(getpid());
  });
  gate.wait();
  leader.becomeZombie();
  check::that(kill(-leader.pid(), SIGCONT) != 0 && errno == EPERM,
              "a group of zombies answers EPERM");
  const Result<std::vector<kinfo_proc>> members = listProcesses(KERN_PROC_PGRP, leader.pid());
  check::that(members.ok() && members->size() == 1, "and is still listed");
}

void orphans() {
  const Gate born;
  const Gate mayExec;
  pid_t orphan = 0;
  uint64_t middle = 0;
  {
    const Child parent([&] {
      if (fork() == 0) {
        setsid();
        born.pass(getpid());
        mayExec.wait();
        becomeSleep();
      }
    });
    orphan = born.wait();
    middle = sure(parent.pid()).unique;
  }
  const KernelIdentity before = sure(orphan);
  check::that(before.parentUnique == middle, "an orphan keeps its parent's unique id");
  mayExec.pass(1);
  const KernelIdentity after = afterExec(orphan, before.version);
  check::that(after.parentUnique == middle || after.parentUnique == 1,
              "after an exec it has that still (macOS 12) or launchd's (13)");
  check::that(after.parentVersion == before.parentVersion, "its parent's version stays for good");

  const Result<Process> handle = Process::open(orphan);
  check::that(handle.ok() && handle->signal(SIGKILL).ok(), "it can be ended through a handle");
}

void tables() {
  const Child child([] {});
  const Result<std::vector<TableRow>> table = readTable();
  bool found = false;
  for (const TableRow& row : *table) {
    if (row.pid == child.pid()) found = row.ppid == getpid() && row.sid == getsid(0);
  }
  check::that(found, "the table has a child with its parent and session");
  const std::vector<TableRow> children = readChildren(getpid());
  check::that(children.size() == 1 && children.front().pid == child.pid(),
              "and the list of children has nobody else");
}

}  // namespace

int main() {
  identities();
  handles();
  zombieGroups();
  orphans();
  tables();
  return check::report("darwin");
}
