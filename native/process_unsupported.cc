// A platform without a way to pin a process: loads anywhere, answers "unsupported" and touches
// nobody.
#include "lock.h"
#include "process.h"

namespace acpx {
namespace {

constexpr Fault kUnsupported{Reason::unsupported, 0, "platform"};

}  // namespace

Process::Process(pid_t pid, int, int) : pid_(pid) {}
Process::Process(Process&& other) noexcept = default;
Process& Process::operator=(Process&& other) noexcept = default;
Process::~Process() = default;

Result<Process> Process::open(pid_t) {
  return kUnsupported;
}
Result<pid_t> Process::parent() const {
  return kUnsupported;
}
Result<ProcessReading> Process::read(const std::vector<std::string>&) const {
  return kUnsupported;
}
Result<Delivery> Process::signal(int) const {
  return kUnsupported;
}
Result<Delivery> Process::signalGroup(int) const {
  return kUnsupported;
}
Result<bool> Process::dead() const {
  return kUnsupported;
}
int Process::exitDescriptor() const {
  return -1;
}

Result<Snapshot> snapshot() {
  return kUnsupported;
}
Result<pid_t> setProcessGroup(pid_t, pid_t) {
  return kUnsupported;
}
pid_t ownGroup() {
  return 0;
}
uint64_t bootTicks() {
  return 0;
}

HeldLock::~HeldLock() = default;
Result<LockAttempt> takeLock(const std::string&, LockMode) {
  return kUnsupported;
}

const Backend& backend() {
  static const Backend none{"unsupported", false, false, false, false, false, kUnsupported};
  return none;
}

}  // namespace acpx
