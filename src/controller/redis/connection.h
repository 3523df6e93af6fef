// One connection to Redis. Commands are sent in chunks, at most kChunksInFlight of which wait for
// replies. Every call gives up after kTimeout. One thread.
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
#include "controller/redis/tls_stream.h"

struct redisContext;
struct redisReply;

namespace pingloom::controller {

struct RedisLogin {
  std::string user;                     // "" stands for the default user
  std::filesystem::path password_file;  // "" stands for no authentication; read at each connect
};

class RedisConnection {
 public:
  static constexpr std::size_t kChunksInFlight = 2;
  static constexpr Nanos kTimeout = 2 * kSecond;

  static Result<std::unique_ptr<RedisConnection>> connect(const RedisTarget& target,
                                                          const RedisLogin& login);

  // Sends the commands and clears them. Reads replies while too many chunks are in flight.
  Status submit(Commands& commands);
  // Sends serialized commands with the given number of replies.
  Status submit(std::string_view commands, std::size_t replies);
  // Reads all outstanding replies.
  Status drain();
  // Executes one command, and returns the texts of the list that is the reply; none if the reply is
  // nil. REQUIRES: no replies are outstanding.
  Result<std::vector<std::string>> list(const Commands& command);
  // Executes SMEMBERS; returns an error if the key is not a set. REQUIRES: as for list().
  Result<std::vector<std::string>> members(std::string_view key);
  Status ping();
  // Returns an error if the server is no master. REQUIRES: as for list().
  Status checkMaster();

  // Counts commands that were refused because a key of another program has another type. The other
  // commands were executed.
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
  Result<Reply> readEncryptedReply();

  std::string entity_;
  std::unique_ptr<redisContext, FreeContext> context_;
  std::unique_ptr<RedisTlsStream> tls_;  // nullptr without TLS
  std::deque<std::size_t> in_flight_;    // the number of replies of each chunk
  std::uint64_t wrong_types_ = 0;
};

}  // namespace pingloom::controller
