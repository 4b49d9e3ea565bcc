#include "supervisor_adapter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode.h"
#include "posix.h"
#include "supervisor.h"
#include "supervisor_kernel.h"
#include "supervisor_signals.h"

// POSIX has it, and no header.
extern char** environ;

namespace acpx {

namespace {

bool assigns(const char* variable, const char* name) {
  const size_t length = strlen(name);
  return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

void overwrite(const char* name, const std::string& value) {
  char* held = getenv(name);
  if (held != nullptr && strlen(held) == value.size()) memcpy(held, value.data(), value.size());
}

bool isForTheAdapter(const char* variable, bool claimed) {
  for (const char* name : {kClaimsVariable, kGatewayVariable, kGraceVariable, kDetachVariable}) {
    if (assigns(variable, name)) return false;
  }
  for (const char* name : {kLeaseIdVariable, kInstanceIdVariable}) {
    // Without a claim the ids of an outer lease stay: we are part of its tree.
    if (assigns(variable, name))
      return !claimed && strcmp(variable + strlen(name) + 1, kNilId) != 0;
  }
  return true;
}

[[noreturn]] void becomeAdapter(char* const* command, char* const* environment,
                                const Terminal& terminal, pid_t supervisor, int report) {
  terminal.enter();
  dieWithSupervisor();
  // It may have died before the line above.
  if (getppid() != supervisor) _exit(kExitNotStarted);
  unblockSignals();
  environ = const_cast<char**>(environment);
  execvp(command[0], command);
  const int error = errno;
  (void)!write(report, &error, sizeof error);
  _exit(kExitNotFound);
}

}  // namespace

void showClaim(const Claim& claim) {
  overwrite(kLeaseIdVariable, claim.leaseId);
  overwrite(kInstanceIdVariable, claim.instanceId);
}

AdapterEnvironment::AdapterEnvironment(const std::optional<Claim>& claim) {
  if (claim) {
    ids_.push_back(std::string(kLeaseIdVariable) + "=" + claim->leaseId);
    ids_.push_back(std::string(kInstanceIdVariable) + "=" + claim->instanceId);
  }
  for (char** variable = environ; *variable != nullptr; variable++) {
    if (isForTheAdapter(*variable, claim.has_value())) variables_.push_back(*variable);
  }
  for (std::string& id : ids_) variables_.push_back(id.data());
  variables_.push_back(nullptr);
}

Terminal::Terminal(bool foreground) : foreground_(foreground) {
  if (!foreground) return;
  const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal >= 0 && tcgetpgrp(terminal) == getpgrp()) {
    terminal_ = terminal;
  } else if (terminal >= 0) {
    close(terminal);
  }
}

void Terminal::enter() const {
  if (!foreground_) {
    setsid();
    return;
  }
  setpgid(0, 0);
  // Nobody is there who would continue a stopped tree.
  signal(SIGTSTP, SIG_IGN);
  if (terminal_ >= 0) tcsetpgrp(terminal_, getpid());
}

void Terminal::takeBack() const {
  // From the background, which would stop us if SIGTTOU were not blocked.
  if (terminal_ >= 0) tcsetpgrp(terminal_, getpgrp());
}

Start startAdapter(char* const* command, const AdapterEnvironment& environment,
                   const Terminal& terminal) {
  int report[2];
  if (pipe(report) != 0) return {-1, errno};
  const Descriptor reading(report[0]);
  Descriptor writing(report[1]);
  // There is no other thread that could start something in between.
  for (const int end : report) fcntl(end, F_SETFD, FD_CLOEXEC);
  const pid_t supervisor = getpid();
  const pid_t pid = fork();
  if (pid < 0) return {-1, errno};
  if (pid == 0) becomeAdapter(command, environment.get(), terminal, supervisor, writing.get());
  close(writing.release());
  // End of file means that exec closed it: from here on the adapter leads its group.
  int error = 0;
  const ssize_t length = read(reading.get(), &error, sizeof error);
  return {pid, length == sizeof error ? error : 0};
}

void closeInherited() {
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  const Directory listing(opendir(kDescriptorDirectory));
  if (!listing) return;
  while (const dirent* entry = readdir(listing.get())) {
    const std::optional<uint64_t> number = parseNumber(entry->d_name);
    if (!number || *number == STDERR_FILENO) continue;
    // What we opened ourselves closes on exec; what came through our own exec does not.
    const int descriptor = static_cast<int>(*number);
    const int flags = fcntl(descriptor, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) close(descriptor);
  }
}

}  // namespace acpx
