#include <sys/vfs.h>

#include <cerrno>

#include "lock.h"
#include "posix.h"

namespace acpx {

// statfs(2) and linux/magic.h.
Result<bool> locksReachTheOthers(int file) {
  struct statfs filesystem;
  if (fstatfs(file, &filesystem) != 0) return faultOf(errno, "fstatfs");
  switch (static_cast<uint32_t>(filesystem.f_type)) {
    case 0x6969:      // NFS
    case 0x517b:      // SMB
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB2
    case 0x65735546:  // FUSE, virtiofs
    case 0x01021997:  // 9P
    case 0x00c36400:  // Ceph
    case 0x5346414f:  // AFS
    case 0x6b414653:  // AFS of the kernel
    case 0x73757245:  // Coda
    case 0x564c:      // NCP
    case 0x7461636f:  // OCFS2
    case 0x01161970:  // GFS2
    case 0x0bd00bd0:  // Lustre
    case 0x786f4256:  // VirtualBox shared folders
      return false;
    default:
      return true;
  }
}

}  // namespace acpx
