#include "cli/redis_reader.h"

#include <hiredis/hiredis.h>

#include <algorithm>

#include "common/text.h"
#include "plan/plan.h"

namespace pingloom::cli {
namespace {

constexpr std::string_view kTargetForm = "write unix:/path/to/redis.sock or tcp:HOST:PORT";

std::string whenUnreachable(const RedisTarget& target) {
  return target.socket.empty()
             ? "is Redis listening there? Try: redis-cli -h " + target.host + " -p " +
                   std::to_string(target.port) + " ping"
             : "is the controller running, and is this its Redis socket? Give another one with "
               "--redis unix:/path or the environment variable PINGLOOM_REDIS";
}

std::string_view view(const redisReply& reply) { return {reply.str, reply.len}; }

}  // namespace

std::string RedisTarget::text() const {
  if (!socket.empty()) return "unix:" + socket;
  const bool bracketed = host.find(':') != std::string::npos;
  return "tcp:" + (bracketed ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<RedisTarget> parseRedisTarget(std::string_view text) {
  const std::string entity = "Redis address '" + std::string(text) + "'";
  if (text.starts_with("unix:")) {
    if (text.size() < 7 || text[5] != '/') return makeError(entity, kTargetForm);
    return RedisTarget{std::string(text.substr(5)), "", 0};
  }
  if (!text.starts_with("tcp:")) return makeError(entity, kTargetForm);
  text.remove_prefix(4);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return makeError(entity, kTargetForm);
  std::string_view host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  const auto port = parseUnsigned(text.substr(colon + 1), 65535);
  if (host.empty() || !port || *port == 0) return makeError(entity, kTargetForm);
  return RedisTarget{"", std::string(host), static_cast<std::uint16_t>(*port)};
}

class RedisReader::Reply {
 public:
  explicit Reply(void* reply) : reply_(static_cast<redisReply*>(reply)) {}
  explicit operator bool() const { return reply_ != nullptr; }
  const redisReply* operator->() const { return reply_.get(); }
  const redisReply& operator*() const { return *reply_; }

 private:
  struct Free {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  std::unique_ptr<redisReply, Free> reply_;
};

void RedisReader::Close::operator()(redisContext* context) const { redisFree(context); }

Result<RedisReader> RedisReader::connect(const RedisTarget& target,
                                         const RedisCredentials& credentials, Nanos timeout) {
  const timeval limit{timeout / kSecond, (timeout % kSecond) / kMicrosecond};
  redisContext* context = target.socket.empty()
                              ? redisConnectWithTimeout(target.host.c_str(), target.port, limit)
                              : redisConnectUnixWithTimeout(target.socket.c_str(), limit);
  const std::string entity = "Redis at " + target.text();
  if (context == nullptr) return makeError(entity, "out of memory");
  RedisReader reader(entity, context);
  if (context->err != 0) {
    return makeError(entity, std::string(context->errstr) + "; " + whenUnreachable(target));
  }
  redisSetTimeout(context, limit);
  if (const Status done = reader.authenticate(credentials); !done) {
    return tl::unexpected(done.error());
  }
  return reader;
}

Status RedisReader::authenticate(const RedisCredentials& credentials) {
  if (credentials.password.empty()) return {};
  std::vector<std::string_view> words = {"AUTH"};
  if (!credentials.user.empty()) words.emplace_back(credentials.user);
  words.emplace_back(credentials.password);
  const auto reply = command(words);
  if (!reply) return tl::unexpected(reply.error());
  return {};
}

Result<RedisReader::Reply> RedisReader::command(const std::vector<std::string_view>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  Reply reply(
      redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data()));
  if (!reply) {
    return makeError(entity_, std::string(words[0]) + ": " + context_->errstr);
  }
  if (reply->type == REDIS_REPLY_ERROR) {
    std::string reason(view(*reply));
    if (reason.starts_with("NOAUTH") || reason.starts_with("WRONGPASS")) {
      reason += "; give --redis-password-file FILE, and --redis-user USER if it has ACL users";
    }
    return makeError(entity_, std::string(words[0]) + ": " + reason);
  }
  return reply;
}

Result<std::vector<std::string>> RedisReader::members(const std::string& key) {
  const auto reply = command({"SMEMBERS", key});
  if (!reply) return tl::unexpected(reply.error());
  std::vector<std::string> names;
  for (std::size_t i = 0; (*reply)->type == REDIS_REPLY_ARRAY && i < (*reply)->elements; ++i) {
    names.emplace_back(view(*(*reply)->element[i]));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<std::string>> RedisReader::probes() { return members("pingloom:probes"); }

Result<std::vector<std::string>> RedisReader::sources(std::string_view probe) {
  return members("pingloom:sources:" + std::string(probe));
}

Result<std::vector<RedisReader::Field>> RedisReader::rows(std::string_view probe,
                                                          std::string_view source) {
  const std::string key = "pingloom:latest:" + std::string(probe) + ":" + std::string(source);
  const auto reply = command({"HGETALL", key});
  if (!reply) return tl::unexpected(reply.error());
  std::vector<Field> fields;
  if ((*reply)->type != REDIS_REPLY_ARRAY) return fields;
  for (std::size_t i = 0; i + 1 < (*reply)->elements; i += 2) {
    fields.emplace_back(view(*(*reply)->element[i]), view(*(*reply)->element[i + 1]));
  }
  return fields;
}

Result<std::vector<RedisReader::Field>> RedisReader::rowsOf(std::string_view probe,
                                                            std::string_view source,
                                                            std::string_view destination) {
  const std::string key = "pingloom:latest:" + std::string(probe) + ":" + std::string(source);
  std::vector<std::string> names = {std::string(destination)};
  for (std::uint32_t path = 1; path <= plan::kMaxPaths; ++path) {
    names.push_back(names.front() + "#" + std::to_string(path));
  }
  std::vector<std::string_view> words = {"HMGET", key};
  words.insert(words.end(), names.begin(), names.end());
  const auto reply = command(words);
  if (!reply) return tl::unexpected(reply.error());
  std::vector<Field> fields;
  if ((*reply)->type != REDIS_REPLY_ARRAY) return fields;
  for (std::size_t i = 0; i < std::min((*reply)->elements, names.size()); ++i) {
    const redisReply& value = *(*reply)->element[i];
    if (value.type == REDIS_REPLY_STRING) fields.emplace_back(names[i], view(value));
  }
  return fields;
}

}  // namespace pingloom::cli
