// Reading /proc and naming processes, shared by the Linux files of this folder.
#pragma once

#include <string>

#include "decode.h"
#include "posix.h"
#include "process.h"

namespace acpx {

// "/proc/<pid>", without printf: the supervisor must stay small.
std::string procPath(pid_t pid);

// The whole of a file that may be longer than it says, or the fault of whichever call failed.
Result<std::string> readAll(int directory, const char* name);

// A stat line in the /proc directory of a process or thread. That of the dead says ESRCH; ENOENT is
// what hidepid=2 answers for one that lives, so it is `denied`.
Result<StatLine> readStat(int directory, const char* name);

// The id of a living thread of the process whose /proc directory this is, 0 if there is none. The
// answer may be old as soon as it is given.
Result<pid_t> livingThread(int directory);

// `pidfd` -1: none. `unsupported` when the scope of this process's numbers cannot be told.
Result<std::string> startToken(const StatLine& stat, int pidfd);

int openPidfd(pid_t pid);
int sendThroughPidfd(int pidfd, int signo, unsigned flags);
// Signal every member of the pinned group; since Linux 6.9, absent from older headers.
constexpr unsigned kSignalProcessGroup = 1u << 2;

}  // namespace acpx
