// The counts and times of a pair in one window. The transport's thread writes them, and then hands
// them over as a whole.
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

// The count of PINGs that arrived is not known.
constexpr std::uint32_t kInboundUnknown = 0xffffffff;

// Once the window is closed, sent = received + lost + refused + unreachable. The other counts are
// independent of this sum.
struct PairWindow {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::uint32_t lost = 0;
  std::uint32_t refused = 0;
  std::uint32_t unreachable = 0;
  std::uint32_t ack_lost = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t late = 0;
  std::uint32_t misfit = 0;   // part of unreachable: longer than the path MTU, so it never left
  std::uint32_t skipped = 0;  // was due and never sent, so it is not in `sent`
  // PINGs of the destination's own flow to this source on the same path that arrived. They left in
  // the window of the same index. Unknown while the window is open, and in the merge of paths.
  std::uint32_t inbound = kInboundUnknown;
  std::array<std::uint32_t, kAnomalies> anomalous{};
  Distribution network;
  Distribution responder;  // empty if the protocol does not measure it
  Distribution prober;     // empty if the protocol does not measure it
  Distribution rtt;
  // Jitter is the mean difference of consecutive network times.
  std::uint64_t jitter_sum = 0;
  std::uint32_t jitter_count = 0;
  std::uint64_t last_network = 0;  // valid once network.count() > 0

  // Adds a value to network and to the jitter.
  void addNetwork(Nanos network_ns);
  // These add another path's values of the same pair and window. The jitter takes no difference
  // between values of two paths.
  void addCounts(const PairWindow& other);
  void addTimes(const PairWindow& other);
  // Resets all values and keeps the memory.
  void clear();
};

// Shared by all windows of a task, in addition to their assignment.
struct WindowOrigin {
  WindowOrigin(ClockSource clock_source, std::string device_name = "",
               std::uint32_t path_number = 0)
      : clock(clock_source), device(std::move(device_name)), path(path_number) {}
  ClockSource clock;
  std::string device;  // "" without a device
  std::uint32_t path;  // 0 if the probe has one path, otherwise the path's number from 1

  bool operator==(const WindowOrigin&) const = default;
};

// The pairs of one assignment in one closed window: every exchange sent in it has its verdict.
struct ClosedWindow {
  std::shared_ptr<const plan::Assignment> assignment;
  std::uint64_t index = 0;  // window start / window length, on the controller's clock
  // 0 if the probe has one path. With N paths it is 1..N, and all N windows of an index close
  // together.
  std::uint32_t path = 0;
  ClockSource clock = ClockSource::kKernel;
  std::string device;             // "" without a device
  std::vector<PairWindow> pairs;  // [i] belongs to assignment->destinations[i]
};

}  // namespace pingloom::probe
