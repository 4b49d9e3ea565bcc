// What a process is at this moment, all of it from one life between two execs.
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <string_view>

#include "procfs_linux.h"

namespace acpx {
namespace {

// An exec closes the old descriptors before it has filled the new memory, so whoever waits for that
// closing, as every spawn does, arrives in between: no argv yet and no environment. Together some
// 20 ms.
constexpr int kAttempts = 24;
// An exec fills the memory of its image in microseconds; what is torn for longer stays so.
constexpr int kTornAttempts = 6;
constexpr int kBriefAttempts = 4;

constexpr std::string_view kDeleted = " (deleted)";

// The image that a process runs and the memory that the kernel gave it.
struct Image {
  MemoryLayout layout;
  Observed<Executable> executable;
  Result<std::string> argv;
  Result<std::string> environment;
};

void waitForExec(int attempt) {
  if (attempt < kBriefAttempts) {
    sched_yield();
    return;
  }
  const timespec moment{0, 1'000'000};
  nanosleep(&moment, nullptr);
}

bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

Observed<Executable> readExecutable(int directory) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(directory, "exe", target, sizeof target);
  // Kernel threads run no file.
  if (length < 0 && errno == ENOENT) return Fault{Reason::unsupported, ENOENT, "exe"};
  if (length < 0) return faultOf(errno, "exe");
  if (length == sizeof target) return Fault{Reason::garbled, 0, "exe"};
  struct stat image;
  if (fstatat(directory, "exe", &image, 0) != 0) return faultOf(errno, "exe");

  Executable executable{std::string(target, static_cast<size_t>(length)), false, image.st_dev,
                        image.st_ino};
  if (endsWith(executable.path, kDeleted)) {
    // A file may really be called so.
    struct stat named;
    executable.deleted = stat(executable.path.c_str(), &named) != 0 ||
                         named.st_dev != image.st_dev || named.st_ino != image.st_ino;
    if (executable.deleted) executable.path.resize(executable.path.size() - kDeleted.size());
  }
  return executable;
}

bool sameExecutable(const Observed<Executable>& left, const Observed<Executable>& right) {
  if (!left.ok() || !right.ok()) return left.ok() == right.ok();
  return left->device == right->device && left->inode == right->inode && left->path == right->path;
}

// nullopt when the image changed meanwhile, or is not complete yet.
std::optional<Image> readImage(int directory, bool lastly) {
  const Result<StatLine> before = readStat(directory, "stat");
  Image image{
      {}, readExecutable(directory), readAll(directory, "cmdline"), readAll(directory, "environ")};
  const Observed<Executable> executableAfter = readExecutable(directory);
  const Result<StatLine> after = readStat(directory, "stat");
  if (!before.ok() || !after.ok() || before->layout != after->layout) return std::nullopt;
  if (!sameExecutable(image.executable, executableAfter)) return std::nullopt;

  image.layout = before->layout;
  // Whoever may read the environment may see where it lies, so its length is known: a shorter one
  // is that of a memory that went away while it was read.
  const uint64_t expected = image.layout.environmentEnd - image.layout.environmentStart;
  const bool torn = image.environment.ok() && image.environment->size() != expected;
  if (torn && !lastly) return std::nullopt;
  // A process may have unmapped a part of it for good: that hides its environment, not the process.
  if (torn) image.environment = Fault{Reason::garbled, 0, "environ"};
  const bool unfilled = image.environment.ok() && image.layout.environmentEnd == 0;
  if (unfilled && !before->kernelThread) return std::nullopt;
  return image;
}

Observed<std::vector<std::string>> argvOf(const Image& image) {
  if (!image.argv.ok()) return image.argv.fault();
  // Kernel threads have none, everybody else at least argv[0], unless it was wiped or is not filled
  // yet.
  if (image.argv->empty()) return Fault{Reason::unsupported, 0, "cmdline"};
  return splitNul(*image.argv);
}

Observed<std::vector<std::optional<std::string>>> environmentOf(
    const Image& image, const std::vector<std::string>& names) {
  if (!image.environment.ok()) return image.environment.fault();
  // Nothing was there to be read; a cleared environment lies somewhere all the same.
  if (image.layout.environmentEnd == 0) return Fault{Reason::unsupported, 0, "environ"};
  std::vector<std::optional<std::string>> values;
  values.reserve(names.size());
  for (const std::string& name : names) values.push_back(findVariable(*image.environment, name));
  return values;
}

}  // namespace

Result<ProcessReading> Process::read(const std::vector<std::string>& names) const {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) waitForExec(attempt);
    std::optional<Result<ProcessReading>> reading = readOnce(names, attempt >= kTornAttempts);
    if (reading) return std::move(*reading);
  }
  return Fault{Reason::garbled, 0, "exec"};
}

std::optional<Result<ProcessReading>> Process::readOnce(const std::vector<std::string>& names,
                                                        bool lastly) const {
  const Result<StatLine> first = living();
  if (!first.ok()) return first.fault();

  // Once the main thread has exited its entry has no memory any more; that of a living thread has.
  const bool mainThreadEnded = first->state == 'Z' || first->state == 'X';
  std::string memory = ".";
  if (mainThreadEnded) {
    const Result<pid_t> thread = livingThread(directory_);
    if (!thread.ok()) return thread.fault();
    if (*thread == 0) return std::nullopt;
    memory = "task/";
    appendNumber(memory, static_cast<uint64_t>(*thread));
  }
  const Descriptor directory(
      openat(directory_, memory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // The thread ended, unless we are out of descriptors.
  if (!directory && errno != ENOENT && errno != ESRCH) return faultOf(errno, "task");
  if (!directory) return std::nullopt;
  const std::optional<Image> image = readImage(directory.get(), lastly);
  const Result<StatLine> thread = readStat(directory.get(), "stat");
  struct stat owner;
  const bool owned = fstat(directory_, &owner) == 0;

  const uint64_t readAtTicks = bootTicks();
  const Result<StatLine> last = living();
  if (!last.ok()) return last.fault();
  if (!image || !thread.ok()) return std::nullopt;
  if (!owned) return Fault{Reason::denied, 0, "fstat"};
  if (last->pid != pid_ || last->startTicks != first->startTicks) {
    return Fault{Reason::garbled, 0, "stat"};
  }
  return ProcessReading{pid_,
                        last->ppid,
                        last->pgid,
                        last->sid,
                        owner.st_uid,
                        mainThreadEnded ? thread->state : last->state,
                        token_,
                        readAtTicks,
                        image->executable,
                        argvOf(*image),
                        environmentOf(*image, names)};
}

}  // namespace acpx
