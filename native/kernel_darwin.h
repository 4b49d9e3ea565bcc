// What XNU says about a process, one typed function for each question; shared by the macOS files of
// this folder. None of these looks is pinned by itself: whoever wants that asks for the unique id
// before and after.
#pragma once

#include <sys/sysctl.h>

#include <optional>
#include <string>
#include <vector>

#include "decode.h"
#include "posix.h"

namespace acpx {

// `unique` counts the forks of this boot, survives exec and is never reused. `version` changes with
// each exec, so two equal ones mean that there was none in between.
struct KernelIdentity {
  uint64_t unique;
  uint64_t parentUnique;  // of the parent at fork; since macOS 13 of the one at the last exec
  int32_t version;
  int32_t parentVersion;  // of the parent at fork, for good; 0 before macOS 15.4
};

enum class Zombies : bool { excluded, included };

// Any uid. `gone` for a process that is dying, though its table entry may still say that it runs.
Result<KernelIdentity> identify(pid_t pid, Zombies zombies);

struct Membership {
  pid_t ppid;
  pid_t pgid;
  uid_t uid;   // effective
  char state;  // the letters of ps(1)
};
Result<Membership> membershipOf(pid_t pid);

char stateLetter(int status);

// KERN_PROC with a selector: KERN_PROC_ALL, or a group. Zombies included; the kernel says so
// (ENOMEM) when a row did not fit, and then it is asked again with more room.
Result<std::vector<kinfo_proc>> listProcesses(int selector, int argument);

// The answer to KERN_PROCARGS2; see parseArgumentArea. `denied` for another uid's process.
struct ArgumentAnswer {
  std::string bytes;
  size_t offered;
};
Result<ArgumentAnswer> readArgumentArea(pid_t pid);

Result<std::string> startToken(uint64_t unique);

// To the process with this pid and version or to nobody. 0 or the errno; ENOSYS before macOS 14.2.
int signalVersion(pid_t pid, int32_t version, int signo);

}  // namespace acpx
