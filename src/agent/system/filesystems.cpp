#include "agent/system/filesystems.h"

#include <sys/statvfs.h>

namespace pingloom::agent::system {
namespace {

constexpr Family filesystemGauge(const char* name, const char* help) {
  return {name, help, Kind::kGauge, {"device", "mountpoint", "fstype"}};
}
constexpr Family kSize = filesystemGauge("node_filesystem_size_bytes", "Size of the file system.");
constexpr Family kFree = filesystemGauge("node_filesystem_free_bytes", "Space that is free.");
constexpr Family kAvailable =
    filesystemGauge("node_filesystem_avail_bytes", "Space that users other than root may fill.");
constexpr Family kFiles = filesystemGauge("node_filesystem_files", "Files that it can have.");
constexpr Family kFilesFree = filesystemGauge("node_filesystem_files_free", "Files to be had.");

}  // namespace

void Filesystems::read(Readings& readings) {
  const auto text = file_.read();
  if (!text) return;
  if (*text != text_) {
    text_ = *text;
    mounts_ = parseMounts(text_);
    readings.malformed += mounts_.malformed;
  }
  readings.left_out += mounts_.left_out;
  for (const Mount& mount : mounts_.all) {
    struct statvfs found {};
    if (::statvfs(mount.point.c_str(), &found) != 0) continue;
    const Readings::Values labels = {mount.device, mount.point, mount.type};
    const auto block = static_cast<double>(found.f_frsize);
    readings.gauge(kSize, static_cast<double>(found.f_blocks) * block, labels);
    readings.gauge(kFree, static_cast<double>(found.f_bfree) * block, labels);
    readings.gauge(kAvailable, static_cast<double>(found.f_bavail) * block, labels);
    readings.gauge(kFiles, static_cast<double>(found.f_files), labels);
    readings.gauge(kFilesFree, static_cast<double>(found.f_ffree), labels);
  }
}

}  // namespace pingloom::agent::system
