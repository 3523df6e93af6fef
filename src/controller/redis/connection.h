// One connection to Redis: commands go out in chunks, of which at most kChunksInFlight wait for
// their replies. Every call gives up after kTimeout. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/redis/resp.h"
#include "controller/redis/target.h"

struct redisContext;
struct redisReply;

namespace pingloom::controller {

struct RedisLogin {
  std::string user;                     // "": the default user
  std::filesystem::path password_file;  // "": no authentication; read at each connect
};

class RedisConnection {
 public:
  static constexpr std::size_t kChunksInFlight = 2;
  static constexpr Nanos kTimeout = 2 * kSecond;

  static Result<std::unique_ptr<RedisConnection>> connect(const RedisTarget& target,
                                                          const RedisLogin& login);

  // Sends the commands and clears them; takes replies as far as too many are waited for.
  Status submit(Commands& commands);
  // Commands that are serialized already, and how many replies they will have.
  Status submit(std::string_view commands, std::size_t replies);
  // Takes all replies that are waited for.
  Status drain();
  // SMEMBERS; an error where the key is not a set. REQUIRES: nothing is waited for.
  Result<std::vector<std::string>> members(std::string_view key);
  // HGET; "" where there is no such field. REQUIRES: nothing is waited for.
  Result<std::string> hashField(std::string_view key, std::string_view field);
  Status ping();

  // Commands refused because a key is of another type: somebody else's. The others went through.
  std::uint64_t wrongTypes() const { return wrong_types_; }

 private:
  RedisConnection() = default;
  Status authenticate(const RedisLogin& login);
  Status write(std::string_view bytes);
  Status takeChunk();
  Status check(const redisReply& reply);

  struct FreeContext {
    void operator()(redisContext* context) const;
  };
  struct FreeReply {
    void operator()(redisReply* reply) const;
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;
  Result<Reply> readReply();

  std::string entity_;
  std::unique_ptr<redisContext, FreeContext> context_;
  std::deque<std::size_t> in_flight_;  // replies that belong to each chunk
  std::uint64_t wrong_types_ = 0;
};

}  // namespace pingloom::controller
