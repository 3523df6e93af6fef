#include "http/static_files.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/file.h"

namespace pingloom::http {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kContentTypes = {{
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".json", "application/json"},
    {".txt", "text/plain; charset=utf-8"},
}};

std::string_view contentTypeOf(const fs::path& path) {
  const std::string extension = path.extension().string();
  for (const auto& [known, type] : kContentTypes) {
    if (known == extension) return type;
  }
  return {};
}

}  // namespace

fs::path findWebRoot(std::string_view name) {
  std::error_code error;
  const fs::path programs = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& candidate : {programs / "../share/pingloom" / name, programs / ".." / name,
                                    fs::path("/usr/share/pingloom") / name}) {
    fs::path folder = candidate.lexically_normal();
    if (fs::exists(folder / "index.html", error)) return folder;
  }
  return {};
}

Result<StaticFiles> StaticFiles::load(const std::string& root) {
  StaticFiles files;
  if (root.empty()) return files;
  std::error_code error;
  std::size_t bytes = 0;
  for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string_view type = contentTypeOf(entry->path());
    std::error_code ignored;
    if (type.empty() || entry->symlink_status(ignored).type() != fs::file_type::regular) continue;
    auto content = readFile(entry->path(), kMaxBytes - bytes);
    if (!content) return tl::unexpected(content.error());
    bytes += content->size();
    if (files.files_.size() == kMaxFiles) return makeError(root, "too many files");
    const std::string path = "/" + entry->path().lexically_relative(root).generic_string();
    files.files_[path] = File{type, std::move(*content)};
  }
  if (error) return makeError(root, "cannot read: " + error.message());
  if (files.files_.count("/index.html") == 0) return makeError(root, "has no index.html");
  return files;
}

StaticFiles::Files::const_iterator StaticFiles::at(const std::string& path) const {
  return files_.find(path == "/" ? "/index.html" : path);
}

std::optional<Response> StaticFiles::find(const std::string& path) const {
  const auto found = at(path);
  if (found == files_.end()) return std::nullopt;
  Response response;
  response.content_type = found->second.content_type;
  response.body = found->second.content;
  response.headers.emplace_back("Cache-Control", "no-cache");
  return response;
}

}  // namespace pingloom::http
