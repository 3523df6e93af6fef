// The web page's files, read into memory once, at the start: no request ever reaches the file
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

  // Every regular file below `root` whose kind is known; symbolic links are not followed. An empty
  // `root` gives no files.
  static Result<StaticFiles> load(const std::string& root);

  // "/" is index.html.
  std::optional<http::Response> find(const std::string& path) const;
  std::size_t size() const { return files_.size(); }

 private:
  struct File {
    std::string_view content_type;
    std::string content;
  };
  std::map<std::string, File> files_;  // by path, with its first '/'
};

}  // namespace pingloom::controller
