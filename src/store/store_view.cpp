#include "store/store_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/fd.h"
#include "store/shared_read.h"

namespace pingloom::store {
namespace {

// A page that its owner is just rewriting is complete a moment later.
constexpr int kPageAttempts = 100;

}  // namespace

Result<StoreView> StoreView::open(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return makeErrnoError(file.string(), "cannot be opened", errno);
  struct stat about {};
  if (fstat(fd.get(), &about) != 0) return makeErrnoError(file.string(), "no status", errno);
  if (!S_ISREG(about.st_mode)) return makeError(file.string(), "is no regular file");
  const auto bytes = static_cast<std::uint64_t>(about.st_size);
  if (bytes < kTablesOffset) return makeError(file.string(), "is too short for a store");
  auto mapping = Mapping::of(fd.get(), bytes, MapFor::kReading, file.string());
  if (!mapping) return tl::unexpected(mapping.error());
  StoreView made;
  made.file_ = file;
  made.mapping_ = std::move(*mapping);
  auto head = made.readHead();
  if (!head) return tl::unexpected(head.error());
  if (head->bytes != bytes) {
    return makeError(file.string(),
                     fmt::format("has {} bytes, but its head says {}", bytes, head->bytes));
  }
  made.head_ = std::move(*head);
  return made;
}

StoreView StoreView::over(std::unique_ptr<const RemoteStore> remote, Head head,
                          std::string_view name) {
  StoreView made;
  made.file_ = name;
  made.remote_ = std::move(remote);
  made.head_ = std::move(head);
  return made;
}

Result<Head> StoreView::readHead() const {
  if (remote_ != nullptr) return head_;
  Result<Head> head;
  for (int attempt = 0; attempt < kPageAttempts; ++attempt) {
    HeadPage page{};
    copyShared(mapping_.memory().first(kPageBytes), page);
    head = decodeHead(page);
    if (head) return head;
  }
  return makeError(file_.string(), head.error().text());
}

const Table* StoreView::findTable(std::string_view name) const {
  const auto found = std::find_if(head_.tables.begin(), head_.tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  return found == head_.tables.end() ? nullptr : &*found;
}

Result<WriterStatus> StoreView::status() const {
  Result<WriterStatus> status;
  for (int attempt = 0; attempt < kPageAttempts; ++attempt) {
    StatusBlock block{};
    memoryAt(kStatusOffset, kStatusBytes).read(0, block);
    status = head_.isShared() ? decodeSharedStatus(block) : decodeStatus(block);
    if (status) return status;
  }
  return makeError(file_.string(), status.error().text());
}

}  // namespace pingloom::store
