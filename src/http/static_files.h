// A web page's files, read into memory once at the start, so that no request reaches the file
// system. Immutable; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.h"
#include "http/message.h"

namespace pingloom::http {

// Finds the folder of a page, "web" or "web-collector", next to the program: in the installation or
// in the build that the program belongs to, else in /usr. Returns an empty path if there is none.
std::filesystem::path findWebRoot(std::string_view name);

class StaticFiles {
 public:
  static constexpr std::size_t kMaxFiles = 512;
  static constexpr std::size_t kMaxBytes = 16 * 1024 * 1024;

  // Loads every regular file below `root` whose kind is known, and follows no symbolic links. An
  // empty `root` means no files.
  static Result<StaticFiles> load(const std::string& root);

  // Returns nullopt where no file has the path; "/" means index.html.
  std::optional<Response> find(const std::string& path) const;
  bool has(const std::string& path) const { return at(path) != files_.end(); }
  std::size_t size() const { return files_.size(); }

 private:
  struct File {
    std::string_view content_type;
    std::string content;
  };
  using Files = std::map<std::string, File>;  // by path, with its leading '/'
  Files::const_iterator at(const std::string& path) const;

  Files files_;
};

}  // namespace pingloom::http
