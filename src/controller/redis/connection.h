// One connection to Redis. Commands are sent in chunks, at most kChunksInFlight of which wait for
// replies. Every call gives up after kTimeout. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/redis/redirects.h"
#include "controller/redis/resp.h"
#include "controller/redis/target.h"
#include "controller/redis/tls_stream.h"

struct redisContext;
struct redisReply;

namespace pingloom::controller {

// Returns the texts of the list that a reply is: nullopt for what is nil. Others are left out.
std::vector<std::optional<std::string>> textsIn(const redisReply& reply);

class RedisConnection {
 public:
  struct FreeReply {
    void operator()(redisReply* reply) const;
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;

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
  // Executes one serialized command, and returns the reply, which may be an error. REQUIRES: no
  // replies are outstanding.
  Result<Reply> ask(std::string_view command);
  // Returns the error that a reply is, or counts it in wrongTypes().
  Status check(const redisReply& reply);
  // Returns nullopt if a reply is no redirect to another server of a cluster.
  std::optional<Redirect> redirectOf(const redisReply& reply) const;
  // Executes one command, and returns the texts of the list that is the reply; none if the reply is
  // nil. REQUIRES: as for ask().
  Result<std::vector<std::string>> list(const Commands& command);
  // Executes SMEMBERS; returns an error if the key is not a set. REQUIRES: as for ask().
  Result<std::vector<std::string>> members(std::string_view key);
  Status ping();
  // Returns an error if the server is no master. REQUIRES: as for ask().
  Status checkMaster();

  // Counts commands that were refused because a key of another program has another type. The other
  // commands were executed.
  std::uint64_t wrongTypes() const { return wrong_types_; }

  // From now on redirects of submitted commands are kept for takeRedirected() instead of being
  // errors. The commands of the chunks in flight are kept for that.
  void keepRedirects() { keeps_redirects_ = true; }
  // Returns what was redirected, in the order in which it was submitted.
  std::vector<Redirected> takeRedirected() { return std::exchange(redirected_, {}); }

 private:
  struct Chunk {
    std::size_t replies = 0;
    std::string commands;  // "" unless redirects are kept
  };
  using Redirects = std::map<std::size_t, Redirect>;  // by the number of the command in its chunk

  RedisConnection() = default;
  Status authenticate(const RedisLogin& login);
  Status write(std::string_view bytes);
  Status takeChunk();
  bool noteRedirect(std::size_t number, const redisReply& reply, Redirects& redirects) const;

  struct FreeContext {
    void operator()(redisContext* context) const;
  };
  Result<Reply> readReply();
  Result<Reply> readEncryptedReply();

  std::string entity_;
  std::unique_ptr<redisContext, FreeContext> context_;
  std::unique_ptr<RedisTlsStream> tls_;  // nullptr without TLS
  std::deque<Chunk> in_flight_;
  std::string host_;  // "" with a Unix socket
  bool keeps_redirects_ = false;
  std::vector<Redirected> redirected_;
  std::uint64_t wrong_types_ = 0;
};

}  // namespace pingloom::controller
