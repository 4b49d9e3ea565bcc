#include <sys/mount.h>
#include <sys/param.h>

#include <cerrno>
#include <string_view>

#include "lock.h"
#include "posix.h"

namespace acpx {

// The kernel marks what lies on this machine's disks. macFUSE and its successors say so of
// themselves as well, whatever they talk to.
Result<bool> locksReachTheOthers(int file) {
  struct statfs filesystem;
  if (fstatfs(file, &filesystem) != 0) return faultOf(errno, "fstatfs");
  const bool fuse =
      std::string_view(filesystem.f_fstypename).find("fuse") != std::string_view::npos;
  return (filesystem.f_flags & MNT_LOCAL) != 0 && !fuse;
}

}  // namespace acpx
