#include "controller/redis/nodes.h"

#include <iterator>

namespace pingloom::controller {
namespace {

constexpr int kMaxHops = 5;

}  // namespace

Result<RedisConnection*> RedisNodes::to(const RedisServer& server) {
  auto& connection = connections_[server.text()];
  if (connection != nullptr) return connection.get();
  if (connections_.size() > kMaxConnections) clear();
  auto made = RedisConnection::connect(target_.at(server), login_);
  if (!made) return tl::unexpected(made.error());
  (*made)->keepRedirects();
  return (connections_[server.text()] = std::move(*made)).get();
}

Status follow(RedisNodes& nodes, std::vector<Redirected> redirected) {
  Commands asking;
  asking.add(std::string_view("ASKING"));
  for (int hop = 0; !redirected.empty(); ++hop) {
    if (hop == kMaxHops) {
      return makeError("redis " + redirected.front().to.server.text(),
                       "the cluster's servers send a command to each other");
    }
    std::vector<Redirected> again;
    for (const Redirected& one : redirected) {
      const auto node = nodes.to(one.to.server);
      if (!node) return tl::unexpected(node.error());
      const std::string commands = one.to.ask ? asking.bytes() + one.commands : one.commands;
      auto status = (*node)->submit(commands, one.replies + (one.to.ask ? 1 : 0));
      if (status) status = (*node)->drain();
      if (!status) return status;
      auto more = (*node)->takeRedirected();
      again.insert(again.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
    }
    redirected = std::move(again);
  }
  return {};
}

}  // namespace pingloom::controller
