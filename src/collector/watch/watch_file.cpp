#include "collector/watch/watch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "collector/analytics/state_archive.h"
#include "common/crc32c.h"
#include "common/fd.h"

namespace pingloom::collector {
namespace {

using analytics::StateArchive;

// The number is the version of all that is in records.
constexpr std::string_view kMagic = "pingloom analytics 3\n";
// Its records are the same without a season.
constexpr std::string_view kMagicBefore = "pingloom analytics 2\n";
static_assert(kMagic.size() == kMagicBefore.size());
constexpr std::size_t kMaxName = 1024;  // bytes
constexpr std::size_t kFrame = 2 * sizeof(std::uint32_t);

void headState(StateArchive& archive, ShelfKey& key, Shelved& shelved) {
  auto& [host, application, number] = key;
  archive.text(host, kMaxName);
  archive.text(application, kMaxName);
  archive(number, shelved.features, shelved.history_features, shelved.since, shelved.owner);
}

// Reads up to `size` bytes: fewer at the end of the file, or if it cannot be read.
bool readBytes(int file, std::string& bytes, std::size_t size) {
  bytes.resize(size);
  std::size_t got = 0;
  while (got < size) {
    const ssize_t more = ::read(file, bytes.data() + got, size - got);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return got == size;
}

// Returns false if the record is damaged.
bool takeRecord(std::string_view record, const std::function<void(ShelfKey, Shelved)>& take) {
  StateArchive archive(record);
  ShelfKey key;
  Shelved shelved;
  headState(archive, key, shelved);
  if (!archive.ok()) return false;
  shelved.memory = std::make_shared<std::string>(record.substr(record.size() - archive.left()));
  take(std::move(key), std::move(shelved));
  return true;
}

}  // namespace

Result<WatchFileWriter> WatchFileWriter::begin(const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  if (auto status = file->write(kMagic); !status) return tl::unexpected(status.error());
  return WatchFileWriter(std::move(*file));
}

Status WatchFileWriter::add(const ShelfKey& key, const Shelved& shelved) {
  record_.clear();
  StateArchive archive(record_);
  ShelfKey key_copy = key;
  Shelved shelved_copy = shelved;
  headState(archive, key_copy, shelved_copy);
  record_ += *shelved.memory;
  std::array<std::uint32_t, 2> frame = {static_cast<std::uint32_t>(record_.size()),
                                        crc32c(record_)};
  std::string framed;
  StateArchive frame_archive{framed};
  frame_archive(frame);
  if (auto status = file_.write(framed); !status) return status;
  return file_.write(record_);
}

Result<bool> readWatchFile(const std::filesystem::path& path,
                           const std::function<void(ShelfKey, Shelved)>& take) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return makeErrnoError(path.string(), "cannot open", errno);
  std::string bytes;
  const bool known =
      readBytes(file.get(), bytes, kMagic.size()) && (bytes == kMagic || bytes == kMagicBefore);
  if (!known) {
    return makeError(path.string(), "was not written by this version of the collector");
  }
  bool whole = true;
  std::size_t total = 0;
  while (readBytes(file.get(), bytes, kFrame)) {
    std::array<std::uint32_t, 2> frame{};
    StateArchive archive(std::string_view{bytes});
    archive(frame);
    const auto [size, checksum] = frame;
    total += size;
    if (size > kMaxWatchRecord || total > kMaxWatchFile) return false;
    if (!readBytes(file.get(), bytes, size)) return false;
    whole = crc32c(bytes) == checksum && takeRecord(bytes, take) && whole;
  }
  return whole && bytes.empty();
}

}  // namespace pingloom::collector
