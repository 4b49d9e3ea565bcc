// Who is below us right now, and in which of two ways each of them can be signalled without
// reaching a stranger.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "process.h"

namespace acpx {

// What a walk knows of one descendant. Proven: our own child, not yet waited for, or a process
// whose parent chain was read up to us after it had been pinned.
struct Descendant {
  const Descendant* above;  // nullptr: our own child
  pid_t pid;
  const Process* handle;  // nullptr: could not be opened; own children only
  pid_t pgid;
  bool optedOut;  // by its own environment or by that of somebody above it

  void signal(int signo) const;
};

// As the kernel lists them: exact for our own, where nobody is missing and waitid has vouched for
// each; of others those that are there. A fault where the list cannot be had, or is not about us:
// another /proc may have been mounted since we started, and its numbers are strangers'.
Result<std::vector<pid_t>> ownChildren();
Result<std::vector<pid_t>> childrenOf(pid_t pid);

// Anybody at all; the kernel's own word, without /proc.
bool hasChildren();

// By number, which nobody else can have before we wait for it; others than own children get
// nothing.
void signalChild(pid_t pid, int signo);

// Our own child has the variable that opts out.
bool childOptedOut(pid_t pid);

// Children before their parents. Holds handles for one path down only, so that a wide tree needs no
// more descriptors than a narrow one. The adapter itself cannot opt out: it is what the launch is
// about.
void walkDescendants(pid_t adapter, const std::function<void(const Descendant&)>& visit);

}  // namespace acpx
