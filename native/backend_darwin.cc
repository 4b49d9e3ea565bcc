// What this kernel and sandbox can do, the scope in which unique ids mean something, and the one
// call that signals a process by more than its number.
#include <dlfcn.h>
#include <mach/mach.h>
#include <time.h>

#include <cerrno>

#include "kernel_darwin.h"

namespace acpx {
namespace {

// In the SDK since 14.2 without an availability mark, so that a plain call would keep the file from
// loading on older systems. Answers 0 or an errno.
using SignalWithToken = int (*)(audit_token_t*, int);

// Where the kernel reads the process from, bsm/audit.h.
constexpr int kTokenPid = 5;
constexpr int kTokenVersion = 7;

Result<std::string> readBootId() {
  char text[64];
  size_t size = sizeof text;
  if (sysctlbyname("kern.bootsessionuuid", text, &size, nullptr, 0) != 0) {
    return Fault{Reason::unsupported, errno, "kern.bootsessionuuid"};
  }
  std::string boot(text, size > 0 ? size - 1 : 0);
  if (!parseDarwinToken(formatToken(DarwinToken{boot, 0}))) {
    return Fault{Reason::garbled, 0, "kern.bootsessionuuid"};
  }
  return boot;
}

// Only if our own token, which the kernel makes, has the two numbers where we would put them.
SignalWithToken findSignalWithToken() {
  audit_token_t own;
  mach_msg_type_number_t count = TASK_AUDIT_TOKEN_COUNT;
  const Result<KernelIdentity> self = identify(getpid(), Zombies::excluded);
  if (!self.ok() || task_info(mach_task_self(), TASK_AUDIT_TOKEN,
                              reinterpret_cast<task_info_t>(&own), &count) != KERN_SUCCESS) {
    return nullptr;
  }
  if (own.val[kTokenPid] != static_cast<unsigned>(getpid()) ||
      own.val[kTokenVersion] != static_cast<unsigned>(self->version)) {
    return nullptr;
  }
  return reinterpret_cast<SignalWithToken>(dlsym(RTLD_DEFAULT, "proc_signal_with_audittoken"));
}

SignalWithToken signalWithToken() {
  static const SignalWithToken found = findSignalWithToken();
  return found;
}

Backend probe() {
  const Result<KernelIdentity> self = identify(getpid(), Zombies::excluded);
  Observed<std::string> token = self.ok() ? startToken(self->unique) : self.fault();
  const bool supported = token.ok();
  return Backend{"darwin", supported, supported,       supported && signalWithToken() != nullptr,
                 false,    supported, std::move(token)};
}

}  // namespace

Result<std::string> startToken(uint64_t unique) {
  static const Result<std::string> boot = readBootId();
  if (!boot.ok()) return boot.fault();
  return formatToken(DarwinToken{*boot, unique});
}

int signalVersion(pid_t pid, int32_t version, int signo) {
  const SignalWithToken send = signalWithToken();
  if (send == nullptr) return ENOSYS;
  audit_token_t token{};
  token.val[kTokenPid] = static_cast<unsigned>(pid);
  token.val[kTokenVersion] = static_cast<unsigned>(version);
  return send(&token, signo);
}

const Backend& backend() {
  static const Backend known = probe();
  return known;
}

// macOS counts no ticks; hundredths of a second, sleep included, as Linux does.
uint64_t bootTicks() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<uint64_t>(now.tv_sec) * 100 + static_cast<uint64_t>(now.tv_nsec) / 10'000'000;
}

}  // namespace acpx
