// A spool file: what the scan finds whole can be read back, and a spool opened on it hands out only
// such records, in ascending order.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "agent/spool.h"
#include "agent/spool_file.h"
#include "common/log.h"

namespace {

using namespace pingloom::agent;

const std::filesystem::path& folder() {
  static const auto& made = *new std::filesystem::path([] {
    char name[] = "/dev/shm/pingloom-spool-XXXXXX";
    if (mkdtemp(name) == nullptr) std::abort();
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return std::filesystem::path(name);
  }());
  return made;
}

void checkScan(const std::filesystem::path& file) {
  const auto scan = scanSpoolFile(file);
  if (!scan) return;
  for (const SpoolEntry& entry : scan->entries) {
    const auto payload = readSpoolRecord(file, entry);
    if (!payload || payload->size() != entry.length) std::abort();
  }
}

void checkSpool(const std::filesystem::path& directory) {
  const auto spool = Spool::open(directory, 1U << 20);
  if (!spool) return;
  pingloom::wire::BatchId last;
  while (const auto batch = (*spool)->next(last)) {
    if (!(last < batch->id)) std::abort();
    last = batch->id;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  [[maybe_unused]] static const bool quiet = [] {
    pingloom::log::setLevels(pingloom::log::Level::kError);
    return true;
  }();
  const std::filesystem::path spool = folder() / "spool";
  std::filesystem::remove_all(spool);
  std::filesystem::create_directory(spool);
  const std::filesystem::path file = spool / "0000000000000001.spool";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  checkScan(file);
  checkSpool(spool);
  return 0;
}
