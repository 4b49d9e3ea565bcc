#include "kernel_darwin.h"

#include <libproc.h>
#include <sys/proc.h>
#include <sys/proc_info.h>

#include <cerrno>

namespace acpx {
namespace {

// PROC_PIDUNIQIDENTIFIERINFO of XNU's bsd/sys/proc_info_private.h, which no SDK ships; the kernel's
// own source calls the structure API. Named differently, so that a later SDK cannot clash.
constexpr int kUniqueIdentifierFlavor = 17;
struct UniqueIdentifier {
  uint8_t imageId[16];
  uint64_t unique;
  uint64_t parentUnique;
  int32_t version;
  int32_t originalParentVersion;
  uint64_t reserved[2];
};
static_assert(sizeof(UniqueIdentifier) == 56);
static_assert(sizeof(proc_bsdshortinfo) == 64);

constexpr int kAttempts = 5;
// ARG_MAX and the count; the kernel refuses to be offered more.
constexpr size_t kLargestAnswer = 1024 * 1024 + 4;

// proc_pidinfo answers the size of the structure, or 0 and an errno.
template <typename Information>
Result<Information> inform(pid_t pid, int flavor, uint64_t argument) {
  Information information{};
  errno = 0;
  const int size = proc_pidinfo(pid, flavor, argument, &information, sizeof information);
  if (size == sizeof information) return information;
  if (size > 0 || errno == 0) return Fault{Reason::garbled, 0, "proc_pidinfo"};
  return faultOf(errno, "proc_pidinfo");
}

}  // namespace

Result<KernelIdentity> identify(pid_t pid, Zombies zombies) {
  const auto seen =
      inform<UniqueIdentifier>(pid, kUniqueIdentifierFlavor, zombies == Zombies::included ? 1 : 0);
  if (!seen.ok()) return seen.fault();
  return KernelIdentity{seen->unique, seen->parentUnique, seen->version,
                        seen->originalParentVersion};
}

Result<Membership> membershipOf(pid_t pid) {
  const auto seen = inform<proc_bsdshortinfo>(pid, PROC_PIDT_SHORTBSDINFO, 0);
  if (!seen.ok()) return seen.fault();
  return Membership{static_cast<pid_t>(seen->pbsi_ppid), static_cast<pid_t>(seen->pbsi_pgid),
                    seen->pbsi_uid, stateLetter(static_cast<int>(seen->pbsi_status))};
}

char stateLetter(int status) {
  switch (status) {
    case SIDL:
      return 'I';
    case SSLEEP:
      return 'S';
    case SSTOP:
      return 'T';
    case SZOMB:
      return 'Z';
    default:
      return 'R';  // the kernel says so of sleepers too
  }
}

Result<std::vector<kinfo_proc>> listProcesses(int selector, int argument) {
  int name[] = {CTL_KERN, KERN_PROC, selector, argument};
  std::vector<kinfo_proc> rows;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    size_t bytes = 0;
    if (sysctl(name, 4, nullptr, &bytes, nullptr, 0) != 0) return faultOf(errno, "KERN_PROC");
    rows.resize(bytes / sizeof(kinfo_proc) * 5 / 4 + 8);
    bytes = rows.size() * sizeof(kinfo_proc);
    if (sysctl(name, 4, rows.data(), &bytes, nullptr, 0) == 0) {
      rows.resize(bytes / sizeof(kinfo_proc));
      return rows;
    }
    if (errno != ENOMEM) return faultOf(errno, "KERN_PROC");
  }
  return Fault{Reason::denied, ENOMEM, "KERN_PROC"};
}

Result<ArgumentAnswer> readArgumentArea(pid_t pid) {
  int name[] = {CTL_KERN, KERN_PROCARGS2, pid};
  size_t bytes = 0;
  if (sysctl(name, 3, nullptr, &bytes, nullptr, 0) != 0) return faultOf(errno, "KERN_PROCARGS2");
  // Filled to the last byte means that something may be missing.
  ArgumentAnswer answer{{}, bytes + 4096 < kLargestAnswer ? bytes + 4096 : kLargestAnswer};
  answer.bytes.resize(answer.offered);
  bytes = answer.offered;
  if (sysctl(name, 3, answer.bytes.data(), &bytes, nullptr, 0) != 0) {
    return faultOf(errno, "KERN_PROCARGS2");
  }
  answer.bytes.resize(bytes);
  return answer;
}

}  // namespace acpx
