// Reads the latest rows from Redis the way a person would with redis-cli: the index sets and one
// hash per probe and source (docs/redis-keys.md); never KEYS or SCAN. One thread; owns its
// connection. Every call is bounded by the timeout given to connect(). After an error of the
// connection the reader is of no more use: connect again.
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
  std::string socket;  // of a unix: target; otherwise ""
  std::string host;    // a name or an address
  std::uint16_t port = 0;

  std::string text() const;
};

// "unix:/var/lib/pingloom/controller/redis.sock", "tcp:localhost:6379", "tcp:[fd00::1]:6379".
Result<RedisTarget> parseRedisTarget(std::string_view text);

struct RedisCredentials {
  std::string user;      // "" = the default user
  std::string password;  // "" = no AUTH
};

class RedisReader {
 public:
  // Destination, or destination#path; the row as JSON.
  using Field = std::pair<std::string, std::string>;

  static Result<RedisReader> connect(const RedisTarget& target, const RedisCredentials& credentials,
                                     Nanos timeout);

  Result<std::vector<std::string>> probes();  // ascending
  Result<std::vector<std::string>> sources(std::string_view probe);
  Result<std::vector<Field>> rows(std::string_view probe, std::string_view source);
  // The destination's row and those of its paths.
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
