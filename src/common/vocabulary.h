// The terms that agents, controller, Redis, HTTP and command line share, each with one spelling.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pingloom {

enum class Protocol : std::uint8_t { kUdp = 1, kTcp = 2, kRdma = 3 };
constexpr std::array<std::string_view, 3> kProtocolNames = {"udp", "tcp", "rdma"};
constexpr std::string_view name(Protocol protocol) {
  return kProtocolNames[static_cast<std::size_t>(protocol) - 1];
}
constexpr std::optional<Protocol> protocolNamed(std::string_view text) {
  for (std::size_t i = 0; i < kProtocolNames.size(); ++i) {
    if (kProtocolNames[i] == text) return static_cast<Protocol>(i + 1);
  }
  return std::nullopt;
}

// The origin of a row's timestamps.
enum class ClockSource : std::uint8_t { kSoftware = 1, kKernel = 2, kHardware = 3 };
constexpr std::array<std::string_view, 3> kClockSourceNames = {"software", "kernel", "hardware"};
constexpr std::string_view name(ClockSource clock) {
  return kClockSourceNames[static_cast<std::size_t>(clock) - 1];
}

// The reason why an answered exchange is kept out of the percentiles.
enum class Anomaly : std::uint8_t {
  kStalled = 0,      // this host or the responder stalled during the exchange
  kNoTimestamp = 1,  // the kernel did not deliver one of its timestamps
  kNegative = 2,     // network or prober time below zero: the parts contradict each other
  kClockStep = 3,    // the timestamp clock was stepped during the exchange
};
constexpr std::size_t kAnomalies = 4;
constexpr std::array<std::string_view, kAnomalies> kAnomalyNames = {"stalled", "no_timestamp",
                                                                    "negative", "clock_step"};

// The state of a pair, which the controller derives; src/controller/model/state.h has the
// precedence.
enum class PairState : std::uint8_t {
  kOk = 0,
  kLoss = 1,
  kUnreachable = 2,
  kRefused = 3,
  kAgentDown = 4,
  kPending = 5,
  kStale = 6,
  kAnomalous = 7,
};
constexpr std::array<std::string_view, 8> kPairStateNames = {
    "ok", "loss", "unreachable", "refused", "agent-down", "pending", "stale", "anomalous"};
constexpr std::string_view name(PairState state) {
  return kPairStateNames[static_cast<std::size_t>(state)];
}

}  // namespace pingloom
