// The slots of a Redis Cluster. Pure; any thread.
#pragma once

#include <bitset>
#include <cstddef>
#include <string_view>

namespace pingloom::controller {

constexpr std::size_t kRedisSlots = 16'384;
using SlotSet = std::bitset<kRedisSlots>;

// REQUIRES: the key has no hash tag ({...}), as no key of docs/redis-keys.md has one.
std::size_t slotOf(std::string_view key);

}  // namespace pingloom::controller
