#include "shared_redis.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace pingloom::bench {

Result<std::unique_ptr<SharedRedis>> SharedRedis::start() {
  std::string pattern = (std::filesystem::temp_directory_path() / "pingloom-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return makeErrnoError(pattern, "mkdtemp", errno);
  std::unique_ptr<SharedRedis> made(new SharedRedis(pattern));
  auto started = controller::EmbeddedRedis::start(
      {.socket = made->folder_ / "redis.sock", .folder = made->folder_});
  if (!started) return tl::unexpected(started.error());
  made->server_ = std::move(*started);
  return made;
}

SharedRedis::~SharedRedis() {
  server_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace pingloom::bench
