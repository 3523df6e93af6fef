// Reads the latest rows from Redis the way a person would with redis-cli: the index sets and one
// hash per probe and source (docs/redis-keys.md); never KEYS or SCAN. One thread; owns its
// connections. RedisConnection::kTimeout bounds every step of a call. After a connection error the
// reader cannot be used any more; connect again.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "controller/redis/cluster_client.h"
#include "controller/redis/connection.h"
#include "controller/redis/target.h"

namespace pingloom::cli {

class RedisReader {
 public:
  // The key is a destination or destination#path; the value is the row as JSON.
  using Field = std::pair<std::string, std::string>;

  static Result<RedisReader> connect(const controller::RedisTarget& target,
                                     const controller::RedisLogin& login);

  Result<std::vector<std::string>> probes();  // in ascending order
  Result<std::vector<std::string>> sources(std::string_view probe);
  Result<std::vector<Field>> rows(std::string_view probe, std::string_view source);
  // Returns the destination's row and the rows of its paths.
  Result<std::vector<Field>> rowsOf(std::string_view probe, std::string_view source,
                                    std::string_view destination);

 private:
  using Texts = std::vector<std::optional<std::string>>;

  RedisReader() = default;
  // Executes a command with the key as its first argument. nullopt stands for nil.
  Result<Texts> ask(std::string_view command, const std::string& key,
                    const std::vector<std::string>& arguments = {});
  Result<std::vector<std::string>> members(const std::string& key);

  // One of the two.
  std::unique_ptr<controller::RedisConnection> connection_;
  std::unique_ptr<controller::RedisClusterClient> cluster_;
};

}  // namespace pingloom::cli
