#include "cli/redis_reader.h"

#include <hiredis/hiredis.h>

#include <algorithm>

#include "controller/redis/key_updates.h"
#include "controller/redis/sentinels.h"
#include "plan/plan.h"

namespace pingloom::cli {
namespace {

using controller::RedisConnection;
using controller::RedisTarget;

// Says what to try when Redis refuses or does not answer.
Error explained(const Error& error, const RedisTarget& target) {
  const auto says = [&error](std::string_view what) {
    return error.reason.find(what) != std::string::npos;
  };
  if (says("NOAUTH") || says("WRONGPASS")) {
    return {error.entity, error.reason +
                              "; give --redis-password-file FILE, and --redis-user USER if it has "
                              "ACL users"};
  }
  if (target.kind == RedisTarget::Kind::kUnix) {
    return {error.entity,
            error.reason +
                "; is the controller running, and is this its Redis socket? Give another one with "
                "--redis unix:/path or the environment variable PINGLOOM_REDIS"};
  }
  return {error.entity,
          error.reason + "; is Redis listening there, and does it want TLS (--redis-tls)?"};
}

// Asks one sentinel after the other.
Result<RedisTarget> masterOf(const RedisTarget& target) {
  controller::Sentinels sentinels(target);
  auto master = sentinels.askForMaster();
  for (std::size_t i = 1; !master && i < target.servers.size(); ++i) {
    sentinels.turn();
    master = sentinels.askForMaster();
  }
  return master;
}

}  // namespace

Result<RedisReader> RedisReader::connect(const RedisTarget& target,
                                         const controller::RedisLogin& login) {
  RedisReader reader;
  if (target.kind == RedisTarget::Kind::kCluster) {
    reader.cluster_ = std::make_unique<controller::RedisClusterClient>(target, login);
    const auto status = reader.cluster_->connect();
    if (!status) return tl::unexpected(explained(status.error(), target));
    return reader;
  }
  const auto server =
      target.kind == RedisTarget::Kind::kSentinel ? masterOf(target) : Result<RedisTarget>(target);
  if (!server) return tl::unexpected(explained(server.error(), target));
  auto connected = RedisConnection::connect(*server, login);
  if (!connected) return tl::unexpected(explained(connected.error(), target));
  reader.connection_ = std::move(*connected);
  return reader;
}

Result<RedisReader::Texts> RedisReader::ask(std::string_view command, const std::string& key,
                                            const std::vector<std::string>& arguments) {
  controller::Commands commands;
  commands.begin(2 + arguments.size());
  commands.argument(command);
  commands.argument(key);
  for (const std::string& argument : arguments) commands.argument(argument);
  const auto reply = cluster_ != nullptr ? cluster_->ask(key, commands.bytes())
                                         : connection_->ask(commands.bytes());
  if (!reply) return tl::unexpected(reply.error());
  if ((*reply)->type == REDIS_REPLY_ERROR) {
    return makeError("Redis",
                     std::string(command) + ": " + std::string((*reply)->str, (*reply)->len));
  }
  return controller::textsIn(**reply);
}

Result<std::vector<std::string>> RedisReader::members(const std::string& key) {
  auto texts = ask("SMEMBERS", key);
  if (!texts) return tl::unexpected(texts.error());
  std::vector<std::string> names;
  for (auto& text : *texts) {
    if (text) names.push_back(std::move(*text));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<std::string>> RedisReader::probes() {
  return members(std::string(controller::RedisKeys::kProbesKey));
}

Result<std::vector<std::string>> RedisReader::sources(std::string_view probe) {
  return members(controller::RedisKeys::sourcesKey(probe));
}

Result<std::vector<RedisReader::Field>> RedisReader::rows(std::string_view probe,
                                                          std::string_view source) {
  const std::string key = controller::RedisKeys::latestKey(probe, source);
  auto texts = ask("HGETALL", key);
  if (!texts) return tl::unexpected(texts.error());
  std::vector<Field> fields;
  for (std::size_t i = 0; i + 1 < texts->size(); i += 2) {
    auto& name = (*texts)[i];
    auto& value = (*texts)[i + 1];
    if (name && value) fields.emplace_back(std::move(*name), std::move(*value));
  }
  return fields;
}

Result<std::vector<RedisReader::Field>> RedisReader::rowsOf(std::string_view probe,
                                                            std::string_view source,
                                                            std::string_view destination) {
  const std::string key = controller::RedisKeys::latestKey(probe, source);
  std::vector<std::string> names = {std::string(destination)};
  for (std::uint32_t path = 1; path <= plan::kMaxPaths; ++path) {
    names.push_back(names.front() + "#" + std::to_string(path));
  }
  auto texts = ask("HMGET", key, names);
  if (!texts) return tl::unexpected(texts.error());
  std::vector<Field> fields;
  for (std::size_t i = 0; i < std::min(texts->size(), names.size()); ++i) {
    if (auto& value = (*texts)[i]) fields.emplace_back(names[i], std::move(*value));
  }
  return fields;
}

}  // namespace pingloom::cli
