// The counters of NICs and ports that agents watch and the controller keeps: errors, and signs of
// congestion. Traffic is not among them. docs/counters.md lists them. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pingloom {

// Where a counter comes from.
enum class CounterOrigin : std::uint8_t {
  kPort,       // an RDMA port, by the name that node_exporter has after node_infiniband_
  kInterface,  // a network interface, by the name that node_exporter has after node_network_
  kEthtool,    // a network interface, by the name that its driver gives ethtool
};

// What it means when a counter moves.
enum class CounterKind : std::uint8_t {
  kError,  // something is broken, or packets were lost
  kLoad,   // congestion, which also healthy hosts have when they are busy
};
constexpr std::string_view name(CounterKind kind) {
  return kind == CounterKind::kError ? "error" : "load";
}

struct WatchedCounter {
  std::string_view name;
  CounterOrigin origin;
  CounterKind kind;
};

using CounterId = std::uint16_t;  // an index of watchedCounters(); never leaves the process
std::span<const WatchedCounter> watchedCounters();
std::optional<CounterId> counterNamed(CounterOrigin origin, std::string_view name);

struct NicCounter {
  CounterId id = 0;
  std::uint64_t value = 0;

  bool operator==(const NicCounter&) const = default;
};

// The counters of an RDMA port or of a network interface. A counter that the device lacks is
// absent.
struct NicPort {
  std::string device;                // 1 to kMaxNicDevice bytes without blanks
  std::uint32_t port = 0;            // from 1; 0 for a network interface
  std::vector<NicCounter> counters;  // ordered by id

  bool operator==(const NicPort&) const = default;
};
constexpr std::size_t kMaxNicDevice = 64;
constexpr std::uint32_t kMaxNicPort = 255;

using NicPorts = std::vector<NicPort>;  // ordered by device and port
constexpr std::size_t kMaxNicPorts = 64;
constexpr std::size_t kMaxNicCounters = 2048;  // of all ports of a host together

// Returns by how much a counter has grown. A counter of 32 bits that wrapped has gone on; any other
// that fell was reset, and counts from 0.
std::uint64_t counterIncrease(std::uint64_t before, std::uint64_t after);

// What an agent tells about its counters at a time.
struct NicUpdate {
  bool complete = false;  // replaces everything told before; otherwise only what has moved
  NicPorts ports;

  bool operator==(const NicUpdate&) const = default;
};

// Returns what has to be told after `before`; nullopt: nothing has moved. Where other ports or
// counters are there, everything is told.
std::optional<NicUpdate> updateBetween(const NicPorts& before, const NicPorts& after);

}  // namespace pingloom
