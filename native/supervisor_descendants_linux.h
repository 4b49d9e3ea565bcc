// Who is below us right now, and in which of two ways each of them can be signalled without
// reaching a stranger.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
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

enum class OptOut : uint8_t { no, yes, unreadable };

// Who has opted out, by its own environment or by that of somebody above it, as far as anybody
// looked. Remembered by start token, so that it still holds when whoever it was inherited from has
// died and the process is adopted. Only a process that was born and orphaned between two looks,
// below one that had opted out, and that dropped the variable, is not recognised.
class OptOuts {
 public:
  bool any() const { return !tokens_.empty(); }
  // Was seen to; nothing is read but who it is.
  bool has(const Process& process) const;
  bool has(pid_t child) const;
  // `no` is never remembered: an exec may change it.
  OptOut of(const Process& process);
  // Of an own child.
  OptOut of(pid_t child);
  void add(const Process& process) { tokens_[process.pid()] = process.token(); }

 private:
  std::map<pid_t, std::string> tokens_;
};

// Children before their parents, until so many milliseconds have passed: environments can be slow
// to read, and as many as somebody likes. False: it was cut short there, or at its depth. Holds
// handles for one path down only, so that a wide tree needs no more descriptors than a narrow one,
// and goes no deeper than those suffice for: whoever is further down is met when those above have
// died and we have adopted it. The adapter itself cannot opt out: it is what the launch is about.
bool walkDescendants(pid_t adapter, OptOuts& optOuts, long long milliseconds,
                     const std::function<void(const Descendant&)>& visit);

}  // namespace acpx
