// What a process is at this moment, all of it from one life between two execs.
#include <libproc.h>
#include <sys/proc_info.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>

#include "kernel_darwin.h"

namespace acpx {
namespace {

// An exec in progress answers EINVAL or EIO. Together some 20 ms.
constexpr int kAttempts = 24;

void waitForExec() {
  const timespec moment{0, 1'000'000};
  nanosleep(&moment, nullptr);
}

// The file whose pages are mapped first, which is the image; own uid only.
std::optional<vinfo_stat> mappedImage(pid_t pid) {
  proc_regionwithpathinfo region{};
  const int size = proc_pidinfo(pid, PROC_PIDREGIONPATHINFO, 0, &region, sizeof region);
  if (size != sizeof region || region.prp_vip.vip_vi.vi_stat.vst_ino == 0) return std::nullopt;
  return region.prp_vip.vip_vi.vi_stat;
}

Observed<Executable> readExecutable(pid_t pid) {
  char path[PROC_PIDPATHINFO_MAXSIZE];
  errno = 0;
  const int length = proc_pidpath(pid, path, sizeof path);
  // Unlinked: the kernel has no name for it any more, and never says " (deleted)".
  if (length <= 0 && errno == ENOENT) return Fault{Reason::unsupported, ENOENT, "proc_pidpath"};
  if (length <= 0) return faultOf(errno, "proc_pidpath");

  Executable executable{std::string(path, static_cast<size_t>(length)), false, 0, 0};
  struct stat named{};
  const bool found = stat(executable.path.c_str(), &named) == 0;
  if (const std::optional<vinfo_stat> image = mappedImage(pid)) {
    executable.device = image->vst_dev;
    executable.inode = image->vst_ino;
    // A file that was renamed over it has its name now.
    executable.deleted = !found || named.st_ino != image->vst_ino ||
                         static_cast<uint32_t>(named.st_dev) != image->vst_dev;
    return executable;
  }
  if (!found) return faultOf(errno, "stat");
  executable.device = static_cast<uint32_t>(named.st_dev);
  executable.inode = named.st_ino;
  return executable;
}

// EINVAL means one of many things: another uid, an exec in progress, a process that is going.
Fault whyNoArguments(const Fault& fault, uid_t uid) {
  if (geteuid() != 0 && uid != geteuid()) return {Reason::denied, fault.error, fault.call};
  return {Reason::garbled, fault.error, fault.call};
}

struct Arguments {
  Observed<std::vector<std::string>> argv;
  Observed<std::vector<std::optional<std::string>>> environment;
};

Arguments readArguments(pid_t pid, uid_t uid, const std::vector<std::string>& names) {
  const Result<ArgumentAnswer> answer = readArgumentArea(pid);
  if (!answer.ok()) {
    const Fault why = whyNoArguments(answer.fault(), uid);
    return {why, why};
  }
  std::optional<ArgumentArea> area = parseArgumentArea(answer->bytes, answer->offered);
  if (!area) {
    constexpr Fault kGarbled{Reason::garbled, 0, "KERN_PROCARGS2"};
    return {kGarbled, kGarbled};
  }
  // Since macOS 11 the environment of what System Integrity Protection protects: Apple's shells,
  // env, sleep.
  if (!area->environment) {
    return {std::move(area->argv), Fault{Reason::denied, 0, "KERN_PROCARGS2"}};
  }
  std::vector<std::optional<std::string>> values;
  for (const std::string& name : names) values.push_back(findVariable(*area->environment, name));
  return {std::move(area->argv), std::move(values)};
}

}  // namespace

Result<ProcessReading> Process::read(const std::vector<std::string>& names) const {
  std::optional<Result<ProcessReading>> reading;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) waitForExec();
    std::optional<Result<ProcessReading>> next = readOnce(names, attempt + 1 == kAttempts);
    if (!next) continue;
    reading.emplace(std::move(*next));
    // A stack that makes no sense may be one that exec has not filled yet.
    if (!reading->ok() || (*reading)->argv.ok()) break;
    if ((*reading)->argv.fault().reason != Reason::garbled) break;
  }
  if (!reading) return Fault{Reason::garbled, 0, "exec"};
  return std::move(*reading);
}

std::optional<Result<ProcessReading>> Process::readOnce(const std::vector<std::string>& names,
                                                        bool) const {
  constexpr Fault kGone{Reason::gone, ESRCH, "proc_pidinfo"};
  const Result<KernelIdentity> before = identify(pid_, Zombies::excluded);
  if (!before.ok()) return before.fault();
  if (before->unique != unique_) return kGone;

  const Result<Membership> membership = membershipOf(pid_);
  const pid_t sid = getsid(pid_);
  Observed<Executable> executable = readExecutable(pid_);
  Arguments arguments = readArguments(pid_, membership.ok() ? membership->uid : geteuid(), names);

  const uint64_t readAtTicks = bootTicks();
  const Result<KernelIdentity> after = identify(pid_, Zombies::excluded);
  if (!after.ok()) return after.fault();
  if (after->unique != unique_) return kGone;
  if (after->version != before->version) return std::nullopt;
  if (!membership.ok()) return membership.fault();
  if (sid < 0) return Fault{Reason::garbled, ESRCH, "getsid"};
  return ProcessReading{pid_,
                        membership->ppid,
                        membership->pgid,
                        sid,
                        membership->uid,
                        membership->state,
                        token_,
                        readAtTicks,
                        std::move(executable),
                        std::move(arguments.argv),
                        std::move(arguments.environment)};
}

}  // namespace acpx
