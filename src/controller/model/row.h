// The latest window of one pair. Values; as thread-safe as an integer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/distribution.h"
#include "common/vocabulary.h"

namespace pingloom::controller {

struct RowCounts {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::uint32_t lost = 0;
  std::uint32_t refused = 0;
  std::uint32_t unreachable = 0;
  std::uint32_t ack_lost = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t late = 0;
  std::uint32_t misfit = 0;   // part of unreachable; the history does not keep it
  std::uint32_t skipped = 0;  // not part of sent; the history does not keep it
  // PINGs of the destination's own flow to the source that arrived, of those that left in the same
  // window; nullopt if it is not known. The history does not keep it.
  std::optional<std::uint32_t> inbound;
  std::array<std::uint32_t, kAnomalies> anomalous{};
};

// A part with count 0 was not measured.
struct Row : RowCounts {
  Summary network;
  Summary responder;
  Summary prober;
  Summary rtt;
  std::optional<std::uint64_t> jitter_ns;
};

constexpr std::array<std::uint32_t Row::*, 8> kRowCounts = {
    &Row::sent,        &Row::received, &Row::lost,      &Row::refused,
    &Row::unreachable, &Row::ack_lost, &Row::duplicate, &Row::late};
// The parts of a row that have samples.
constexpr std::array<Summary Row::*, 4> kRowParts = {&Row::network, &Row::responder, &Row::prober,
                                                     &Row::rtt};
// Numbers of parts, as in kRowParts.
enum class RowPart : std::uint8_t { kNetwork = 0, kResponder = 1, kProber = 2, kRtt = 3 };

// The counts of a row from which its state is derived.
struct PairCounts {
  std::uint32_t sent = 0;  // 0 if the pair has no window
  std::uint32_t received = 0;
  std::uint32_t lost = 0;
  std::uint32_t refused = 0;
  std::uint32_t unreachable = 0;
  std::uint32_t anomalous = 0;  // for any reason; saturates
  std::uint32_t misfit = 0;     // part of unreachable
  // 1: some exchange has a network time. It is as wide as the others so that the struct has no
  // padding, around which compilers copy in slow pieces.
  std::uint32_t timed = 0;

  bool operator==(const PairCounts&) const = default;
};
PairCounts countsOf(const RowCounts& counts, bool timed);
PairCounts countsOf(const Row& row);

// What of a row is judged.
struct RowFigures {
  PairCounts counts;
  std::uint32_t measured = 0;  // bit i: kRowParts[i] has samples
  bool has_jitter = false;
  std::array<std::uint64_t, kRowParts.size()> p50{};  // those that were measured
  std::uint64_t jitter_ns = 0;

  bool has(RowPart part) const { return (measured >> static_cast<unsigned>(part) & 1U) != 0; }
};
RowFigures figuresOf(const Row& row);

}  // namespace pingloom::controller
