// The web page's files, read into memory once at the start, so that no request reaches the file
// system. Immutable; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.h"
#include "http/message.h"

namespace pingloom::controller {

class StaticFiles {
 public:
  static constexpr std::size_t kMaxFiles = 512;
  static constexpr std::size_t kMaxBytes = 16 * 1024 * 1024;

  // Loads every regular file below `root` whose kind is known, and follows no symbolic links. An
  // empty `root` means no files.
  static Result<StaticFiles> load(const std::string& root);

  // Returns nullopt where no file has the path; "/" means index.html.
  std::optional<http::Response> find(const std::string& path) const;
  std::size_t size() const { return files_.size(); }

 private:
  struct File {
    std::string_view content_type;
    std::string content;
  };
  std::map<std::string, File> files_;  // by path, with its leading '/'
};

}  // namespace pingloom::controller
