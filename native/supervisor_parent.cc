#include "supervisor_parent.h"

#include <unistd.h>

#include <string_view>

#include "decode.h"

namespace acpx {

namespace {

constexpr int kParentPollMilliseconds = 200;

}  // namespace

bool isSameProcess(const std::string& left, const std::string& right) {
  const TokenComparison comparison = compareTokens(left, right);
  return comparison == TokenComparison::same || comparison == TokenComparison::sameWeak;
}

std::optional<ExpectedGateway> parseExpectedGateway(const char* text) {
  const std::string_view whole(text);
  const size_t space = whole.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::optional<uint64_t> pid = parseNumber(whole.substr(0, space));
  if (!pid || *pid < 1 || *pid > INT32_MAX) return std::nullopt;
  return ExpectedGateway{static_cast<pid_t>(*pid), std::string(whole.substr(space + 1))};
}

Parent Parent::pin() {
  for (;;) {
    const pid_t pid = getppid();
    if (pid == 0) return Parent(pid, std::nullopt);
    Result<Process> handle = Process::open(pid);
    // Handed on in between: the handle may be of anybody who was given the number since.
    if (getppid() != pid) continue;
    if (!handle.ok()) return Parent(pid, std::nullopt);
    return Parent(pid, std::move(*handle));
  }
}

Relation Parent::to(const ExpectedGateway& gateway) const {
  if (pid_ == gateway.pid) {
    if (!handle_) return Relation::unknown;
    return isSameProcess(gateway.token, handle_->token()) ? Relation::parent : Relation::dead;
  }
  const Result<Process> live = Process::open(gateway.pid);
  if (!live.ok()) {
    return live.fault().reason == Reason::gone ? Relation::dead : Relation::unknown;
  }
  if (!isSameProcess(gateway.token, live->token())) return Relation::dead;
  const Result<bool> dead = live->dead();
  return dead.ok() && !*dead ? Relation::relative : Relation::dead;
}

bool Parent::died() const {
  return getppid() != pid_;
}

int Parent::exitDescriptor() const {
  return handle_ ? handle_->exitDescriptor() : -1;
}

int Parent::pollMilliseconds() const {
  return pid_ == 1 || exitDescriptor() >= 0 ? -1 : kParentPollMilliseconds;
}

}  // namespace acpx
