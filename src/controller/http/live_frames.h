// The messages of the live WebSocket; docs/http-api.md has their layout. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "controller/http/metric.h"
#include "controller/model/board.h"

namespace pingloom::controller {

constexpr std::uint8_t kLiveVersion = 3;
constexpr std::uint8_t kLiveRow = 1;  // types of message
constexpr std::uint8_t kLiveSync = 2;
constexpr std::size_t kLiveHeaderBytes = 16;  // of a message
constexpr std::size_t kLiveRowBytes = 16;     // of each of its rows, before the cells
constexpr std::size_t kLiveBytesPerCell = 2;  // a state and a value
constexpr std::uint8_t kLiveNotAPair = 255;

// What the frames of one viewer are about, beside the plan.
struct LiveFrame {
  std::uint32_t generation = 0;
  std::uint32_t watch = 0;     // the viewer's how manieth
  std::uint32_t sequence = 0;  // of the newest change that the board had
};

// One byte for a value: 0 = not measured. Times: 1..255 are 100 ns to 10 s, each 1.075 times the
// one before. Ratios: 1 is none at all, 2..255 are 0.01 % to all. What is beyond an end is that
// end.
std::uint8_t liveValue(const Metric& metric, const MetricValue& value);
inline std::uint8_t liveValue(const Metric& metric, const Row* row) {
  return liveValue(metric, metric.of(row));
}

// Of many, into `out`.
void liveValues(const Metric& metric, std::span<const MetricValue> values, char* out);

// JSON: the shape that row messages refer to. `epoch`: which controller's sequence numbers follow.
std::string livePlan(const GridPlan& plan, std::uint64_t epoch);

// What a row message carries of its cells: all states, then all values. `snapshot` may be nullptr.
std::string liveCells(const ProbeGrid& grid, const Metric& metric, std::uint32_t source,
                      const SourceSnapshot* snapshot);

// Binary: the beginning of a message of rows, and one more row of it: one figure of one source of
// one probe, whose window ended then (nullopt: there is none).
std::string liveRows(const LiveFrame& frame);
void appendLiveRow(std::string& out, std::uint32_t probe, std::uint32_t source,
                   std::optional<Nanos> end_utc, std::string_view cells);
void appendLiveRow(std::string& out, std::uint32_t probe, std::uint32_t source,
                   const SourceSnapshot* snapshot, std::string_view cells);

// Binary: all that changed up to the frame's sequence has been sent.
std::string liveSync(const LiveFrame& frame);

}  // namespace pingloom::controller
