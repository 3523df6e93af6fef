#include "controller/redis/cluster_client.h"

namespace pingloom::controller {
namespace {

constexpr int kMaxTurns = 5;

}  // namespace

Status RedisClusterClient::connect() {
  if (!table_.masters.empty()) return {};
  Status failed;
  for (const RedisServer& server : target_.servers) {
    const auto node = nodes_.to(server);
    auto table = node ? askForSlots(**node, server) : tl::unexpected(node.error());
    if (table) {
      table_ = std::move(*table);
      return {};
    }
    failed = tl::unexpected(table.error());
  }
  return failed;
}

Result<RedisConnection*> RedisClusterClient::masterOf(std::string_view key) {
  const ClusterMaster* master = table_.of(slotOf(key));
  if (master != nullptr) return nodes_.to(master->server);
  return makeError("redis " + target_.text(), "no master has the slot of " + std::string(key));
}

Result<RedisConnection::Reply> RedisClusterClient::askOnce(std::string_view key,
                                                           std::string_view command) {
  if (auto status = connect(); !status) return tl::unexpected(status.error());
  auto node = masterOf(key);
  for (int turn = 0; turn < kMaxTurns; ++turn) {
    if (!node) return tl::unexpected(node.error());
    auto reply = (*node)->ask(command);
    if (!reply) return reply;
    const auto to = (*node)->redirectOf(**reply);
    if (!to) {
      if (auto status = (*node)->check(**reply); !status) return tl::unexpected(status.error());
      return reply;
    }
    node = nodes_.to(to->server);
    if (!to->ask) table_ = {};  // it is asked for again with the next command
    if (!to->ask || !node) continue;
    Commands asking;
    asking.add(std::string_view("ASKING"));
    if (auto status = (*node)->submit(asking); !status) return tl::unexpected(status.error());
    if (auto status = (*node)->drain(); !status) return tl::unexpected(status.error());
  }
  return makeError("redis " + target_.text(), "its servers send a command to each other");
}

Result<RedisConnection::Reply> RedisClusterClient::ask(std::string_view key,
                                                       std::string_view command) {
  auto reply = askOnce(key, command);
  if (!reply) {
    table_ = {};
    nodes_.clear();
  }
  return reply;
}

Result<std::vector<std::string>> RedisClusterClient::members(std::string_view key) {
  Commands command;
  command.add(std::string_view("SMEMBERS"), key);
  const auto reply = ask(key, command.bytes());
  if (!reply) return tl::unexpected(reply.error());
  std::vector<std::string> made;
  for (auto& text : textsIn(**reply)) {
    if (text) made.push_back(std::move(*text));
  }
  return made;
}

Status RedisClusterClient::run(Commands& commands) {
  for (const CommandUnit& unit : unitsOf(commands.bytes())) {
    const auto reply = ask(unit.key, unit.bytes);
    if (!reply) return tl::unexpected(reply.error());
  }
  commands.clear();
  return {};
}

}  // namespace pingloom::controller
