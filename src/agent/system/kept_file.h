// A file of /proc that is read again and again: it stays open, and its memory is kept. One thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "common/fd.h"

namespace pingloom::agent::system {

class KeptFile {
 public:
  static constexpr std::size_t kMaxBytes = 4U << 20;  // the rest of a larger file is not read

  explicit KeptFile(std::filesystem::path path) : path_(std::move(path)) {}

  // Returns the whole text, which is valid until the next call. If the file cannot be read, it
  // returns nullopt and tries to open the file again at the next call; the first time, it logs the
  // reason.
  std::optional<std::string_view> read();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::optional<std::string_view> fail();

  std::filesystem::path path_;
  UniqueFd file_;
  std::vector<char> memory_;
  bool logged_ = false;
};

}  // namespace pingloom::agent::system
