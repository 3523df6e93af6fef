// The fields of a Row (control.proto) as plain values, and its lists as views of numbers that lie
// elsewhere. Every reader of rows uses this form, however the row's bytes were read. Any thread; no
// state.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "control.pb.h"

namespace pingloom::wire {

struct SampleSetView {
  bool present = false;
  std::span<const std::uint32_t> sample_deltas = {};
  std::span<const std::uint32_t> bucket_deltas = {};
  std::span<const std::uint32_t> bucket_counts = {};
  std::uint64_t sum = 0;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
};

// Nothing has been checked but the encoding: every number is as its sender wrote it.
struct RowView {
  std::string_view destination = {};
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::uint32_t lost = 0;
  std::uint32_t refused = 0;
  std::uint32_t unreachable = 0;
  std::uint32_t ack_lost = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t late = 0;
  std::uint32_t skipped = 0;
  std::uint32_t misfit = 0;
  std::span<const std::uint32_t> anomalous = {};
  std::optional<std::uint64_t> jitter_ns = {};
  std::optional<std::uint32_t> inbound = {};
  SampleSetView network = {};
  SampleSetView responder = {};
  SampleSetView prober = {};
  SampleSetView rtt = {};
};

// The parts of a row that have samples, in the order of their fields.
constexpr std::array<SampleSetView RowView::*, 4> kRowViewParts = {
    &RowView::network, &RowView::responder, &RowView::prober, &RowView::rtt};

// The views are valid as long as the message is neither changed nor destroyed.
SampleSetView viewOf(const SampleSet& set);
RowView viewOf(const Row& row);

}  // namespace pingloom::wire
