#include "controller/redis/slot_table.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <string_view>

namespace pingloom::controller {
namespace {

bool isRedisHost(std::string_view text) {
  return !text.empty() && text.size() <= SlotTable::kMaxHost &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::optional<RedisServer> masterAddress(const redisReply& node, const RedisServer& asked) {
  if (node.type != REDIS_REPLY_ARRAY || node.elements < 2) return std::nullopt;
  const redisReply& host = *node.element[0];
  const redisReply& port = *node.element[1];
  if (port.type != REDIS_REPLY_INTEGER || port.integer < 1 || port.integer > 65535) {
    return std::nullopt;
  }
  RedisServer server{asked.host, static_cast<std::uint16_t>(port.integer)};
  if (host.type == REDIS_REPLY_NIL) return server;
  if (host.type != REDIS_REPLY_STRING) return std::nullopt;
  const std::string_view text(host.str, host.len);
  if (text.empty()) return server;
  if (!isRedisHost(text) || text == "?") return std::nullopt;  // "?": it has no name yet
  server.host = text;
  return server;
}

// Returns the slots of the master; nullptr if there are too many masters.
SlotSet* slotsOfMaster(SlotTable& table, const RedisServer& server) {
  const auto found = std::find_if(table.masters.begin(), table.masters.end(),
                                  [&](const auto& master) { return master.server == server; });
  if (found != table.masters.end()) return &found->slots;
  if (table.masters.size() == SlotTable::kMaxMasters) return nullptr;
  return &table.masters.emplace_back(ClusterMaster{server, {}}).slots;
}

}  // namespace

const ClusterMaster* SlotTable::of(std::size_t slot) const {
  for (const ClusterMaster& master : masters) {
    if (master.slots.test(slot)) return &master;
  }
  return nullptr;
}

std::size_t SlotTable::withoutMaster() const {
  std::size_t served = 0;
  for (const ClusterMaster& master : masters) served += master.slots.count();
  return kRedisSlots - served;
}

Result<SlotTable> readSlotTable(const redisReply& reply, const RedisServer& asked) {
  const auto refused = [&](std::string_view why) {
    return makeError("redis tcp:" + asked.text(), "CLUSTER SLOTS: " + std::string(why));
  };
  if (reply.type != REDIS_REPLY_ARRAY) return refused("does not answer with a list");
  if (reply.elements == 0) return refused("knows no master");
  SlotTable table;
  SlotSet taken;
  for (std::size_t i = 0; i < reply.elements; ++i) {
    const redisReply& range = *reply.element[i];
    if (range.type != REDIS_REPLY_ARRAY || range.elements < 3 ||
        range.element[0]->type != REDIS_REPLY_INTEGER ||
        range.element[1]->type != REDIS_REPLY_INTEGER) {
      return refused("a range of slots is malformed");
    }
    const long long first = range.element[0]->integer;
    const long long last = range.element[1]->integer;
    if (first < 0 || last < first || last >= static_cast<long long>(kRedisSlots)) {
      return refused(fmt::format("{} to {} is no range of slots", first, last));
    }
    const auto server = masterAddress(*range.element[2], asked);
    if (!server) return refused("a master has no address");
    SlotSet* slots = slotsOfMaster(table, *server);
    if (slots == nullptr) {
      return refused(fmt::format("has more than {} masters", SlotTable::kMaxMasters));
    }
    for (auto slot = static_cast<std::size_t>(first); slot <= static_cast<std::size_t>(last);
         ++slot) {
      if (taken.test(slot)) return refused(fmt::format("slot {} has two masters", slot));
      taken.set(slot);
      slots->set(slot);
    }
  }
  return table;
}

Result<SlotTable> askForSlots(RedisConnection& connection, const RedisServer& asked) {
  Commands question;
  question.add(std::string_view("CLUSTER"), std::string_view("SLOTS"));
  const auto reply = connection.ask(question.bytes());
  if (!reply) return tl::unexpected(reply.error());
  if (auto status = connection.check(**reply); !status) return tl::unexpected(status.error());
  return readSlotTable(**reply, asked);
}

}  // namespace pingloom::controller
