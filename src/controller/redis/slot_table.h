// Which master of a Redis Cluster has which slots, as one of its servers says. Pure, but for the
// question; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "common/error.h"
#include "controller/redis/connection.h"
#include "controller/redis/slots.h"
#include "controller/redis/target.h"

namespace pingloom::controller {

struct ClusterMaster {
  RedisServer server;
  SlotSet slots;
};

struct SlotTable {
  static constexpr std::size_t kMaxMasters = 64;
  static constexpr std::size_t kMaxHost = 255;  // bytes

  std::vector<ClusterMaster> masters;  // each has a slot, and no slot has two

  const ClusterMaster* of(std::size_t slot) const;  // nullptr if no master has it
  std::size_t withoutMaster() const;                // the number of slots
};

// Checks and takes the reply to CLUSTER SLOTS. A server that leaves its host out has the one of
// `asked`, which has replied.
Result<SlotTable> readSlotTable(const redisReply& reply, const RedisServer& asked);

// REQUIRES: no replies are outstanding.
Result<SlotTable> askForSlots(RedisConnection& connection, const RedisServer& asked);

}  // namespace pingloom::controller
