// A Redis server that several controllers share, in a temporary folder of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "common/error.h"
#include "controller/redis/embedded.h"

namespace pingloom::bench {

class SharedRedis {
 public:
  static Result<std::unique_ptr<SharedRedis>> start();
  ~SharedRedis();
  SharedRedis(const SharedRedis&) = delete;
  SharedRedis& operator=(const SharedRedis&) = delete;

  std::string target() const { return "unix:" + (folder_ / "redis.sock").string(); }

 private:
  explicit SharedRedis(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path folder_;
  std::unique_ptr<controller::EmbeddedRedis> server_;
};

}  // namespace pingloom::bench
