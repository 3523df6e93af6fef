// Reads the latest rows from Redis the way a person would with redis-cli: the index sets and one
// hash per probe and source (docs/redis-keys.md); never KEYS or SCAN. One thread; owns its
// connection. The timeout given to connect() bounds every call. After a connection error the reader
// cannot be used any more; connect again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/time.h"

struct redisContext;

namespace pingloom::cli {

struct RedisTarget {
  std::string socket;  // path of a unix: target; otherwise ""
  std::string host;    // name or address of a tcp: target
  std::uint16_t port = 0;

  std::string text() const;
};

// Parses "unix:/var/lib/pingloom/controller/redis.sock", "tcp:redis.example:6379" or
// "tcp:[fd00::1]:6379".
Result<RedisTarget> parseRedisTarget(std::string_view text);

struct RedisCredentials {
  std::string user;      // "" stands for the default user
  std::string password;  // "" stands for no AUTH
};

class RedisReader {
 public:
  // The key is a destination or destination#path; the value is the row as JSON.
  using Field = std::pair<std::string, std::string>;

  static Result<RedisReader> connect(const RedisTarget& target, const RedisCredentials& credentials,
                                     Nanos timeout);

  Result<std::vector<std::string>> probes();  // in ascending order
  Result<std::vector<std::string>> sources(std::string_view probe);
  Result<std::vector<Field>> rows(std::string_view probe, std::string_view source);
  // Returns the destination's row and the rows of its paths.
  Result<std::vector<Field>> rowsOf(std::string_view probe, std::string_view source,
                                    std::string_view destination);

 private:
  struct Close {
    void operator()(redisContext* context) const;
  };
  class Reply;

  RedisReader(std::string entity, redisContext* context)
      : entity_(std::move(entity)), context_(context) {}
  Status authenticate(const RedisCredentials& credentials);
  Result<Reply> command(const std::vector<std::string_view>& words);
  Result<std::vector<std::string>> members(const std::string& key);

  std::string entity_;
  std::unique_ptr<redisContext, Close> context_;
};

}  // namespace pingloom::cli
