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

constexpr std::uint8_t kLiveVersion = 5;
constexpr std::uint8_t kLiveRow = 1;  // a type of message, as kLiveSync
constexpr std::uint8_t kLiveSync = 2;
// A message begins with a header.
constexpr std::size_t kLiveHeaderBytes = 16;
// Each of its rows has a header, too, before the cells.
constexpr std::size_t kLiveRowBytes = 16;
constexpr std::size_t kLiveBytesPerCell = 2;  // a state with a severity, and a value
constexpr std::uint8_t kLiveNotAPair = 255;
static_assert(kPairStateNames.size() <= 16);
// The first byte of a cell: the state in the low 4 bits, the severity in the next 3.
constexpr std::uint8_t liveCell(PairState state, Severity severity) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(state) | static_cast<unsigned>(severity)
                                                                      << 4U);
}

// The head of a viewer's binary message.
struct LiveFrame {
  std::uint32_t generation = 0;
  std::uint32_t watch = 0;  // the number of watch messages that the viewer has sent
  // The number of the board's newest change.
  std::uint32_t sequence = 0;
};

// Encodes a value in one byte; 0 stands for not measured. Times are 1..255 for 100 ns to 10 s, each
// 1.075 times the one before. Ratios are 1 for exactly 0, and 2..255 for 0.01 % to 100 %. Values
// out of range saturate.
std::uint8_t liveValue(const Metric& metric, const MetricValue& value);
inline std::uint8_t liveValue(const Metric& metric, const PackedRow& row) {
  return liveValue(metric, metric.of(row));
}

// Encodes many values into `out`.
void liveValues(const Metric& metric, std::span<const MetricValue> values, char* out);

// Encodes the change from `then` to `now`; 0 stands for not measured. 128 is no change. Times are
// 128 + 127 log10(now / then) / 3: a factor of 1,000 either way. Ratios are 128 + 127 (now - then).
// Changes out of range saturate, and the smallest ones are no change.
std::uint8_t liveDifference(const Metric& metric, const MetricValue& now, const MetricValue& then);

// Returns the plan as JSON, to which row messages refer. `epoch` identifies the process whose
// sequence numbers follow.
std::string livePlan(const GridPlan& plan, std::uint64_t epoch);

// Returns the verdict as JSON: the members of GET /api/v1/incidents and "type":"verdict".
std::string liveVerdict(const Verdict& verdict);

// Returns a row's cells: all states, then all values. `snapshot` may be nullptr.
std::string liveCells(const ProbeGrid& grid, const Metric& metric, std::uint32_t source,
                      const SourceSnapshot* snapshot);

// A binary message of rows: liveRows() returns its head, and appendLiveRow() appends one source's
// row of one figure. `end_utc` is the end of the row's window; nullopt: the source has no window.
std::string liveRows(const LiveFrame& frame);
void appendLiveRow(std::string& out, std::uint32_t probe, std::uint32_t source,
                   std::optional<Nanos> end_utc, std::string_view cells);
void appendLiveRow(std::string& out, std::uint32_t probe, std::uint32_t source,
                   const SourceSnapshot* snapshot, std::string_view cells);

// Returns a binary message that says that all changes up to the frame's sequence have been sent.
std::string liveSync(const LiveFrame& frame);

}  // namespace pingloom::controller
