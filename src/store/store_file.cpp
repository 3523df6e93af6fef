#include "store/store_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/file.h"

namespace pingloom::store {
namespace {

Result<std::uint64_t> sizeOfOwn(int fd, const std::string& entity) {
  struct stat about {};
  if (fstat(fd, &about) != 0) return makeErrnoError(entity, "no status", errno);
  if (!S_ISREG(about.st_mode)) return makeError(entity, "is no regular file");
  if (about.st_uid != geteuid()) return makeError(entity, "belongs to another user");
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return makeError(
        entity, errno == EWOULDBLOCK ? "another process keeps this store" : "cannot be locked");
  }
  return static_cast<std::uint64_t>(about.st_size);
}

}  // namespace

Result<std::unique_ptr<StoreFile>> StoreFile::open(const std::filesystem::path& file,
                                                   const std::vector<TableSpec>& tables,
                                                   Nanos now_utc) {
  auto wanted = layOut(tables, now_utc);
  if (!wanted) return tl::unexpected(wanted.error());
  if (auto made = makeDirectories(file.parent_path()); !made) return tl::unexpected(made.error());
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  UniqueFd fd(::open(file.c_str(), kFlags, S_IRUSR | S_IWUSR));
  if (!fd.valid()) return makeErrnoError(file.string(), "cannot be opened", errno);
  const auto bytes = sizeOfOwn(fd.get(), file.string());
  if (!bytes) return tl::unexpected(bytes.error());
  std::unique_ptr<StoreFile> made(new StoreFile(file, std::move(fd)));
  const Status status =
      made->unfinished() ? made->make(std::move(*wanted)) : made->take(*wanted, *bytes);
  if (!status) return tl::unexpected(status.error());
  return made;
}

// Whether the file is new, or its making was interrupted: the head is written last.
bool StoreFile::unfinished() const {
  HeadPage page{};
  return pread(fd_.get(), page.data(), page.size(), 0) >= 0 && page == HeadPage{};
}

Status StoreFile::make(Head wanted) {
  if (ftruncate(fd_.get(), 0) != 0) return makeErrnoError(file_.string(), "cannot be cut", errno);
  const auto bytes = static_cast<off_t>(wanted.bytes);
  // Memory that is missing is noticed here and not at the first access.
  if (const int error = posix_fallocate(fd_.get(), 0, bytes); error != 0) {
    static_cast<void>(ftruncate(fd_.get(), 0));
    return makeErrnoError(file_.string(),
                          fmt::format("there is no room for {} bytes", wanted.bytes), error);
  }
  auto mapping = Mapping::of(fd_.get(), wanted.bytes, MapFor::kWriting, file_.string());
  if (!mapping) return tl::unexpected(mapping.error());
  mapping_ = std::move(*mapping);
  head_ = std::move(wanted);
  writeHead();
  return {};
}

Status StoreFile::take(const Head& wanted, std::uint64_t bytes) {
  HeadPage page{};
  if (pread(fd_.get(), page.data(), page.size(), 0) != static_cast<ssize_t>(page.size())) {
    return makeError(file_.string(), "is too short for a store");
  }
  const auto remedy = "; move the file away to begin a new store";
  auto head = decodeHead(page);
  if (!head) return makeError(file_.string(), head.error().text() + remedy);
  if (auto same = sameTables(*head, wanted); !same) {
    return makeError(file_.string(), same.error().text() + remedy);
  }
  if (head->bytes != bytes || bytes != wanted.bytes) {
    return makeError(file_.string(),
                     fmt::format("has {} bytes, not {}{}", bytes, wanted.bytes, remedy));
  }
  auto mapping = Mapping::of(fd_.get(), bytes, MapFor::kWriting, file_.string());
  if (!mapping) return tl::unexpected(mapping.error());
  mapping_ = std::move(*mapping);
  head_ = std::move(*head);
  head_.state = StoreState::kServing;
  was_there_ = true;
  writeHead();
  return {};
}

StoreFile::~StoreFile() {
  if (mapping_.memory().empty()) return;
  head_.state = StoreState::kClosed;
  writeHead();
}

void StoreFile::nextEpoch() {
  ++head_.epoch;
  writeHead();
}

void StoreFile::writeHead() {
  const HeadPage page = encodeHead(head_);
  std::copy(page.begin(), page.end(), mapping_.memory().begin());
}

}  // namespace pingloom::store
