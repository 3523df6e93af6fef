// A store's file as its collector keeps it: made or opened again, mapped, and with a head page that
// only the collector writes. One thread. The file outlives the collector's process, so that the
// store's content does.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "common/error.h"
#include "common/fd.h"
#include "store/layout.h"
#include "store/mapping.h"
#include "store/table_spec.h"

namespace pingloom::store {

class StoreFile {
 public:
  // Opens the file, or makes it with mode 0600 and all its memory. An error if the file has other
  // tables than these, belongs to another user, or is kept by another process.
  static Result<std::unique_ptr<StoreFile>> open(const std::filesystem::path& file,
                                                 const std::vector<TableSpec>& tables,
                                                 Nanos now_utc);
  ~StoreFile();  // marks the store as closed; the file stays
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  const Head& head() const { return head_; }
  const std::filesystem::path& file() const { return file_; }
  bool wasThere() const { return was_there_; }  // it was opened, not made
  // All bytes that the writer may reach: everything but the head page.
  std::span<std::uint8_t> region() const { return mapping_.memory().subspan(kRegionOffset); }
  // Begins the next epoch, because a writer connects.
  void nextEpoch();

 private:
  StoreFile(std::filesystem::path file, UniqueFd fd) : file_(std::move(file)), fd_(std::move(fd)) {}
  bool unfinished() const;
  Status make(Head wanted);
  Status take(const Head& wanted, std::uint64_t bytes);
  void writeHead();

  const std::filesystem::path file_;
  const UniqueFd fd_;  // locked
  Mapping mapping_;
  Head head_;
  bool was_there_ = false;
};

}  // namespace pingloom::store
