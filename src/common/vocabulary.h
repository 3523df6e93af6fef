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
  kMisfit = 8,
};
constexpr std::array<std::string_view, 9> kPairStateNames = {"ok",      "loss",       "unreachable",
                                                             "refused", "agent-down", "pending",
                                                             "stale",   "anomalous",  "misfit"};
constexpr std::string_view name(PairState state) {
  return kPairStateNames[static_cast<std::size_t>(state)];
}

// How bad the controller judges a pair to be, over several windows; docs/verdicts.md has the rules.
// The order is that of attention: a later one outweighs an earlier one.
enum class Severity : std::uint8_t {
  kNone = 0,  // not judged: no fresh window, an agent that is away, or maintenance
  kOk = 1,
  kSlow = 2,      // a time or the anomalous share is beyond its threshold `warn`
  kVerySlow = 3,  // likewise beyond `crit`
  kLossy = 4,     // the loss is beyond `warn`
  kDown = 5,      // the loss is beyond `crit`
};
constexpr std::array<std::string_view, 6> kSeverityNames = {"none",      "ok",    "slow",
                                                            "very slow", "lossy", "down"};
constexpr std::string_view name(Severity severity) {
  return kSeverityNames[static_cast<std::size_t>(severity)];
}
// Returns the severity that is stored as this number.
constexpr std::optional<Severity> severityNumbered(std::uint64_t number) {
  if (number >= kSeverityNames.size()) return std::nullopt;
  return static_cast<Severity>(number);
}
constexpr std::optional<Severity> severityNamed(std::string_view text) {
  for (std::size_t i = 0; i < kSeverityNames.size(); ++i) {
    if (kSeverityNames[i] == text) return static_cast<Severity>(i);
  }
  return std::nullopt;
}

// A figure of a row that has a threshold in the pinglist and is judged.
enum class Figure : std::uint8_t {
  kNetwork = 0,
  kRtt = 1,
  kResponder = 2,
  kProber = 3,
  kJitter = 4,
  kLoss = 5,
  kAnomalous = 6,
};
constexpr std::array<std::string_view, 7> kFigureNames = {"network", "rtt",  "responder", "prober",
                                                          "jitter",  "loss", "anomalous"};
constexpr std::string_view name(Figure figure) {
  return kFigureNames[static_cast<std::size_t>(figure)];
}
// Whether the figure is a share of the exchanges rather than a time.
constexpr bool isShare(Figure figure) { return figure >= Figure::kLoss; }

}  // namespace pingloom
