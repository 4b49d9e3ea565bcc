#include "supervisor_claim.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode.h"
#include "posix.h"
#include "supervisor.h"
#include "supervisor_kernel.h"
#include "supervisor_signals.h"

namespace acpx {

namespace {

constexpr long long kClaimMilliseconds = 30'000;
// Where the kernel has no watch left for us.
constexpr long long kUnwatchedMilliseconds = 20;
constexpr size_t kLargestClaim = 4096;

// Takes "<key> <value>\n" off the front of the text.
std::optional<std::string> takeLine(const char*& at, const char* key) {
  const size_t length = strlen(key);
  if (strncmp(at, key, length) != 0 || at[length] != ' ') return std::nullopt;
  const char* value = at + length + 1;
  const char* end = strchr(value, '\n');
  if (end == nullptr) return std::nullopt;
  at = end + 1;
  return std::string(value, end);
}

bool isId(const std::string& text) {
  return text.size() == strlen(kNilId) && text != kNilId;
}

}  // namespace

std::optional<Claim> parseClaim(const std::string& text, const std::string& ownToken) {
  const char* at = text.c_str();
  const std::optional<std::string> token = takeLine(at, "token");
  const std::optional<std::string> leaseId = token ? takeLine(at, "lease") : std::nullopt;
  const std::optional<std::string> instanceId = leaseId ? takeLine(at, "instance") : std::nullopt;
  if (!instanceId || at != text.c_str() + text.size()) return std::nullopt;
  if (!isSameProcess(*token, ownToken) || !isId(*leaseId) || !isId(*instanceId)) {
    return std::nullopt;
  }
  return Claim{*leaseId, *instanceId};
}

std::optional<ClaimFiles> ClaimFiles::open(const char* directory) {
  const Observed<std::string>& token = backend().selfToken;
  const std::optional<uint64_t> start = token.ok() ? startNumber(*token) : std::nullopt;
  if (!start) return std::nullopt;
  const int descriptor = ::open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::string name;
  appendNumber(name, static_cast<uint64_t>(getpid()));
  name += '.';
  appendNumber(name, *start);
  return ClaimFiles(directory, descriptor, std::move(name), *token);
}

// nullopt: none yet. A file that is not ours to trust reads as an empty claim, which nobody
// accepts.
std::optional<std::string> ClaimFiles::read() const {
  const Descriptor file(
      openat(directory_, name_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    return std::string();
  }
  struct stat status;
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      status.st_size > static_cast<off_t>(kLargestClaim)) {
    return std::string();
  }
  char text[kLargestClaim];
  const ssize_t length = ::read(file.get(), text, sizeof text);
  return std::string(text, length < 0 ? 0 : static_cast<size_t>(length));
}

Waiting ClaimFiles::wait(const Parent& parent, Claim& claim) const {
  const DirectoryWatch watch(path_.c_str());
  const bool watched = watch.descriptor() >= 0;
  const Descriptor signals(watchSignals(endingSignals()));
  const long long deadline = monotonicMilliseconds() + kClaimMilliseconds;
  for (;;) {
    if (parent.died()) return Waiting::parentDied;
    // Looked for only after the watch is set: a claim is either seen here or announced later.
    if (const std::optional<std::string> text = read()) {
      unlinkat(directory_, name_.c_str(), 0);
      const std::optional<Claim> parsed = parseClaim(*text, token_);
      if (parsed) claim = *parsed;
      return parsed ? Waiting::claimed : Waiting::refused;
    }
    const long long left = deadline - monotonicMilliseconds();
    if (left <= 0) return Waiting::timedOut;
    const long long interval =
        watched ? parent.pollMilliseconds() : kUnwatchedMilliseconds;  // -1: events suffice
    pollfd events[] = {{watch.descriptor(), POLLIN, 0},
                       {parent.exitDescriptor(), POLLIN, 0},
                       {signals.get(), POLLIN, 0}};
    poll(events, 3, static_cast<int>(interval >= 0 && interval < left ? interval : left));
    if (events[2].revents != 0) return Waiting::signalled;
    // Claims of other supervisors wake us too; what they are is of no interest.
    if (events[0].revents != 0) watch.drain();
  }
}

bool ClaimFiles::publish(const char* suffix, const std::string& text) const {
  const std::string name = name_ + suffix;
  const std::string temporary = "." + name;
  unlinkat(directory_, temporary.c_str(), 0);
  const Descriptor file(openat(directory_, temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return false;
  // Whatever the umask of whoever started us.
  if (fchmod(file.get(), 0600) == 0 &&
      write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      renameat(directory_, temporary.c_str(), directory_, name.c_str()) == 0) {
    return true;
  }
  unlinkat(directory_, temporary.c_str(), 0);
  return false;
}

}  // namespace acpx
