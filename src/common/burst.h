// A burst: a few immediate pings of one pair at a user's request, outside of its probe's schedule.
// Agents, controller and HTTP share these types. Plain values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/time.h"
#include "common/vocabulary.h"

namespace pingloom {

constexpr std::uint32_t kMaxBurstPings = 100;
constexpr Nanos kMinBurstInterval = kMillisecond;
constexpr Nanos kMaxBurstInterval = kSecond;

// The verdict on one ping of a burst.
enum class PingFate : std::uint8_t {
  kReceived = 1,
  kLost = 2,
  kRefused = 3,
  kUnreachable = 4,
  kNotSent = 5,  // a limit was reached, or the socket or queue pair closed before the ping left
};
constexpr std::array<std::string_view, 5> kPingFateNames = {"received", "lost", "refused",
                                                            "unreachable", "not_sent"};
constexpr std::string_view name(PingFate fate) {
  return kPingFateNames[static_cast<std::size_t>(fate) - 1];
}

struct BurstPing {
  std::uint32_t sequence = 0;  // counts from 1 in the order in which pings were due
  PingFate fate = PingFate::kNotSent;
  std::optional<Anomaly> anomaly = {};
  bool ack_lost = false;
  bool late = false;  // lost, but its answer came after the timeout
  // In nanoseconds; nullopt if not measured.
  std::optional<std::uint64_t> network = {};
  std::optional<std::uint64_t> responder = {};
  std::optional<std::uint64_t> prober = {};
  std::optional<std::uint64_t> rtt = {};

  bool operator==(const BurstPing&) const = default;
};

}  // namespace pingloom
