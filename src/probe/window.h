// What a pair gathers over one window. Written by its transport's thread, then handed over whole.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/distribution.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "plan/plan.h"

namespace pingloom::probe {

// sent = received + lost + refused + unreachable once the window is closed; the rest is counted
// beside.
struct PairWindow {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::uint32_t lost = 0;
  std::uint32_t refused = 0;
  std::uint32_t unreachable = 0;
  std::uint32_t ack_lost = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t late = 0;
  std::array<std::uint32_t, kAnomalies> anomalous{};
  Distribution network;
  Distribution responder;  // empty where the protocol does not measure it
  Distribution prober;     // likewise
  Distribution rtt;
  // Jitter: the mean difference of consecutive network times.
  std::uint64_t jitter_sum = 0;
  std::uint32_t jitter_count = 0;
  std::uint64_t last_network = 0;  // only meaningful once network.count() > 0

  void addNetwork(Nanos network_ns);  // network and jitter
  // Those of another window beside this one, of the same pair: another path's.
  void addCounts(const PairWindow& other);
  void addTimes(const PairWindow& other);  // jitter stays that within each
  void clear();                            // keeps the memory
};

// What all windows of a task share beside their assignment.
struct WindowOrigin {
  WindowOrigin(ClockSource clock_source, std::string device_name = "",
               std::uint32_t path_number = 0)
      : clock(clock_source), device(std::move(device_name)), path(path_number) {}
  ClockSource clock;
  std::string device;  // "" where there is none to name
  std::uint32_t path;  // 0: the probe has one path; from 1: which of several

  bool operator==(const WindowOrigin&) const = default;
};

// One assignment's pairs over one window, closed: every exchange sent in it has its verdict.
struct ClosedWindow {
  std::shared_ptr<const plan::Assignment> assignment;
  std::uint64_t index = 0;  // window start / window length, by the controller's clock
  // 0: the probe has one path. Of N: 1..N; all N windows of an index close together.
  std::uint32_t path = 0;
  ClockSource clock = ClockSource::kKernel;
  std::string device;             // "" where there is none to name
  std::vector<PairWindow> pairs;  // [i] belongs to assignment->destinations[i]
};

}  // namespace pingloom::probe
