// The process that started the supervisor, pinned so that its death is an event and never a guess.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "process.h"

namespace acpx {

// What the gateway says about itself in OPENCLAW_GATEWAY_PID: "<pid> <start token>".
struct ExpectedGateway {
  pid_t pid;
  std::string token;
};
std::optional<ExpectedGateway> parseExpectedGateway(const char* text);

// Nothing differs between the two start tokens.
bool isSameProcess(const std::string& left, const std::string& right);

enum class Relation {
  parent,    // the expected gateway started us
  relative,  // it lives, but somebody else started us: its variables were inherited
  dead,      // it is gone, or its number belongs to another process by now
  unknown,   // it could not be looked at, which is no licence to start anything
};

class Parent {
 public:
  static Parent pin();

  Relation to(const ExpectedGateway& gateway) const;
  // A child is handed on before its dead parent's exit becomes readable, and to an ancestor that
  // lived all along, so the number cannot stay the same by reuse. A parent that is pid 1 from the
  // start never dies.
  bool died() const;
  // Readable once the parent is dead; -1: ask `died` every `pollMilliseconds`.
  int exitDescriptor() const;
  // -1 where the descriptor does the work, or the parent outlives us by definition.
  int pollMilliseconds() const;

 private:
  Parent(pid_t pid, std::optional<Process> handle) : pid_(pid), handle_(std::move(handle)) {}

  pid_t pid_;  // 0: outside our PID namespace
  std::optional<Process> handle_;
};

}  // namespace acpx
