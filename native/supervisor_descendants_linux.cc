#include "supervisor_descendants_linux.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "procfs_linux.h"
#include "supervisor.h"

namespace acpx {

namespace {

void appendNumbers(std::string_view text, std::vector<pid_t>& numbers) {
  while (!text.empty()) {
    const size_t end = text.find(' ');
    const std::optional<uint64_t> number = parseNumber(text.substr(0, end));
    if (number) numbers.push_back(static_cast<pid_t>(*number));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// Kernels built without CONFIG_PROC_CHILDREN have no such lists.
bool kernelListsChildren() {
  static const bool lists = access("/proc/thread-self/children", R_OK) == 0;
  return lists;
}

Result<std::vector<pid_t>> childrenInTable(pid_t pid) {
  std::vector<pid_t> children;
  const Result<Snapshot> table = snapshot();
  if (!table.ok()) return table.fault();
  if (pid == getpid() && !table->complete) return Fault{Reason::denied, 0, "/proc"};
  for (size_t row = 0; row < table->pid.size(); row++) {
    if (table->ppid[row] == pid) children.push_back(table->pid[row]);
  }
  return children;
}

bool hasDetachVariable(const Result<ProcessReading>& reading) {
  return reading.ok() && reading->environment.ok() && (*reading->environment)[0] == "1";
}

// One of ours, alive or a zombie. Only we can make that untrue, by waiting.
bool isOwnChild(pid_t pid) {
  siginfo_t seen;
  return waitid(P_PID, static_cast<id_t>(pid), &seen, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

// From the newest reading upwards: each link names a process that was alive, and pinned, when it
// was read.
bool descendsFromUs(const Descendant& one) {
  for (const Descendant* at = &one; at->above != nullptr; at = at->above) {
    const Result<pid_t> parent = at->handle->parent();
    if (!parent.ok()) return false;
    // Adopted since the listing.
    if (*parent == getpid()) return true;
    if (*parent != at->above->pid) return false;
  }
  return true;
}

void descend(pid_t pid, const Descendant* above, pid_t adapter,
             const std::function<void(const Descendant&)>& visit) {
  const Result<std::vector<pid_t>> children = above == nullptr ? ownChildren() : childrenOf(pid);
  if (!children.ok()) return;
  for (const pid_t child : *children) {
    const Result<Process> handle = Process::open(child);
    Descendant one{above, child, handle.ok() ? &*handle : nullptr, 0, above && above->optedOut};
    if (above != nullptr && (one.handle == nullptr || !descendsFromUs(one))) continue;
    if (one.handle != nullptr) {
      const Result<ProcessReading> reading = one.handle->read({kDetachVariable});
      if (reading.ok()) one.pgid = reading->pgid;
      if (child != adapter && hasDetachVariable(reading)) one.optedOut = true;
    }
    descend(child, &one, adapter, visit);
    visit(one);
  }
}

}  // namespace

void Descendant::signal(int signo) const {
  if (above == nullptr) {
    signalChild(pid, signo);
  } else {
    (void)handle->signal(signo).ok();
  }
}

Result<std::vector<pid_t>> childrenOf(pid_t pid) {
  if (!backend().supported) return backend().selfToken.fault();
  if (!kernelListsChildren()) return childrenInTable(pid);
  std::vector<pid_t> children;
  // Each thread has a list of its own.
  const Directory threads(opendir((procPath(pid) + "/task").c_str()));
  if (!threads) return faultOf(errno, "task");
  for (;;) {
    errno = 0;
    const dirent* thread = readdir(threads.get());
    if (thread == nullptr && errno != 0) return faultOf(errno, "task");
    if (thread == nullptr) return children;
    if (!parseNumber(thread->d_name)) continue;
    const std::string name = std::string(thread->d_name) + "/children";
    const Result<std::string> list = readAll(dirfd(threads.get()), name.c_str());
    if (list.ok()) {
      appendNumbers(*list, children);
    } else if (list.fault().reason != Reason::gone) {
      return list.fault();
    }
  }
}

Result<std::vector<pid_t>> ownChildren() {
  Result<std::vector<pid_t>> listed = childrenOf(getpid());
  if (!listed.ok()) return listed;
  for (const pid_t child : *listed) {
    if (!isOwnChild(child)) return Fault{Reason::garbled, ECHILD, "children"};
  }
  return listed;
}

bool hasChildren() {
  siginfo_t seen;
  return waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

void signalChild(pid_t pid, int signo) {
  if (isOwnChild(pid)) kill(pid, signo);
}

bool childOptedOut(pid_t pid) {
  const Result<Process> handle = Process::open(pid);
  return handle.ok() && hasDetachVariable(handle->read({kDetachVariable}));
}

void walkDescendants(pid_t adapter, const std::function<void(const Descendant&)>& visit) {
  descend(getpid(), nullptr, adapter, visit);
}

}  // namespace acpx
