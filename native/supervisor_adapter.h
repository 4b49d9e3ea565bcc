// The adapter: the one command that the supervisor starts, as if whoever started us had started it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "supervisor_claim.h"

namespace acpx {

// Writes the ids over the placeholders in our own memory, where /proc/<pid>/environ shows them from
// now on: the gateway, and every later one, can read whose launch this is.
void showClaim(const Claim& claim);

// The environment as the adapter should see it: the supervisor's own variables and placeholders are
// gone, the lease's ids are there.
class AdapterEnvironment {
 public:
  explicit AdapterEnvironment(const std::optional<Claim>& claim);
  char* const* get() const { return variables_.data(); }

 private:
  std::vector<std::string> ids_;
  std::vector<char*> variables_;
};

// The terminal, lent to the adapter in `--foreground` if it is ours to lend.
class Terminal {
 public:
  explicit Terminal(bool foreground);

  // In the child: leads a session of its own, or a group in ours that has the terminal.
  void enter() const;
  void takeBack() const;

 private:
  bool foreground_;
  int terminal_ = -1;  // -1: none, or somebody else is in the foreground
};

struct Start {
  pid_t pid;  // -1: no process could be made, see `error`
  int error;  // 0: running; else why exec failed, and the child is still to be waited for
};
Start startAdapter(char* const* command, const AdapterEnvironment& environment,
                   const Terminal& terminal);

// Whatever we inherited and the adapter now has, stderr excepted: end of file and EPIPE must come
// when the adapter closes its end, not when we do.
void closeInherited();

}  // namespace acpx
