#include "common/file_route.h"

#include <deque>
#include <system_error>

namespace pingloom {
namespace fs = std::filesystem;

namespace {

void pushFront(const fs::path& path, std::deque<fs::path>& parts) {
  const fs::path relative = path.relative_path();
  parts.insert(parts.begin(), relative.begin(), relative.end());
}

}  // namespace

std::map<fs::path, std::set<std::string>> routeTo(const fs::path& file, int max_links) {
  std::map<fs::path, std::set<std::string>> route;
  std::deque<fs::path> parts;
  pushFront(file, parts);
  fs::path directory = "/";
  while (!parts.empty()) {
    const fs::path part = parts.front();
    parts.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      directory = directory.parent_path();  // exact: the links on the way are resolved
      continue;
    }
    std::error_code ignored;
    const fs::path here = directory / part;
    const fs::file_status status = fs::symlink_status(here, ignored);
    const bool link = fs::is_symlink(status);
    if (link || parts.empty() || !fs::is_directory(status)) route[directory].insert(part.string());
    if (link) {
      if (max_links-- == 0) return route;
      const fs::path target = fs::read_symlink(here, ignored);
      if (target.is_absolute()) directory = "/";
      pushFront(target, parts);
    } else if (fs::is_directory(status)) {
      directory = here;
    } else {
      return route;
    }
  }
  return route;
}

}  // namespace pingloom
