#include "io/file_system.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/statfs.h>

#include <array>
#include <cstdint>

namespace wa {
namespace {

struct Magic {
    std::uint64_t number;
    const char* name;
};

// The kernel's header does not define the numbers of parallel file systems.
constexpr std::array magics{Magic{TMPFS_MAGIC, "tmpfs"},   Magic{EXT4_SUPER_MAGIC, "ext4"},
                            Magic{XFS_SUPER_MAGIC, "xfs"}, Magic{BTRFS_SUPER_MAGIC, "btrfs"},
                            Magic{NFS_SUPER_MAGIC, "nfs"}, Magic{OVERLAYFS_SUPER_MAGIC, "overlay"},
                            Magic{0x0BD00BD0, "lustre"},   Magic{0x47504653, "gpfs"},
                            Magic{0x19830326, "beegfs"},   Magic{0x65735546, "fuse"},
                            Magic{0x00C36400, "ceph"},     Magic{0x2FC12FC1, "zfs"},
                            Magic{0xAAD7AAEA, "panfs"},    Magic{0x7461636F, "ocfs2"},
                            Magic{0x01161970, "gfs2"},     Magic{0x20030528, "orangefs"},
                            Magic{0x858458F6, "ramfs"}};

}  // namespace

std::string file_system_of(const std::string& path) {
    struct statfs status {};
    if (path.empty() || ::statfs(path.c_str(), &status) != 0) return "unknown";
    const auto number = static_cast<std::uint64_t>(status.f_type) & 0xFFFFFFFFU;
    for (const Magic& magic : magics) {
        if (magic.number == number) return magic.name;
    }
    return fmt::format("{:#x}", number);
}

}  // namespace wa
