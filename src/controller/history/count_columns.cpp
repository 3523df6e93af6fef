#include "controller/history/count_columns.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "controller/history/steps.h"

namespace pingloom::controller {
namespace {

constexpr std::array<std::uint32_t Row::*, 8> kCountFields = {
    &Row::sent,        &Row::received, &Row::lost,      &Row::refused,
    &Row::unreachable, &Row::ack_lost, &Row::duplicate, &Row::late};

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

void encodeCounts(std::span<const Row> rows, unsigned jitter_merged, ColumnWriter& out) {
  std::vector<std::uint64_t> values(rows.size());
  const auto write = [&](auto value_of) {
    for (std::size_t i = 0; i < rows.size(); ++i) values[i] = value_of(rows[i]);
    out.column(values);
  };
  out.number(jitter_merged);
  for (const auto count : kCountFields) write([&](const Row& row) { return row.*count; });
  for (std::size_t reason = 0; reason < kAnomalies; ++reason) {
    write([&](const Row& row) { return row.anomalous[reason]; });
  }
  // 0: there is none.
  write([&](const Row& row) {
    return row.jitter_ns ? stepOf(*row.jitter_ns, jitter_merged) + std::uint64_t{1} : 0;
  });
}

bool CountReader::read(std::string_view section, std::size_t pairs) {
  ColumnReader in(section);
  const std::uint64_t merged = in.number();
  if (merged > kMostMerged) return false;
  jitter_merged_ = static_cast<unsigned>(merged);
  differing_.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    in.column(pairs, columns_[i]);
    if (!columns_[i].same()) {
      differing_.push_back(i);
    } else if (pairs > 0) {
      set(i, columns_[i][0], same_);
    }
  }
  return in.ok() && in.ended();
}

void CountReader::set(std::size_t column, std::uint64_t value, Row& row) const {
  if (column < kCounts) {
    row.*kCountFields[column] = narrow(value);
  } else if (column < kCounts + kAnomalies) {
    row.anomalous[column - kCounts] = narrow(value);
  } else if (value == 0) {
    row.jitter_ns.reset();
  } else {
    const auto step = std::min<std::uint64_t>(value - 1, stepsOf(jitter_merged_) - 1);
    row.jitter_ns = middlesOfSteps(jitter_merged_)[step];
  }
}

void CountReader::fill(std::size_t pair, Row& row) const {
  for (const auto count : kCountFields) row.*count = same_.*count;
  row.anomalous = same_.anomalous;
  row.jitter_ns = same_.jitter_ns;
  for (const std::size_t column : differing_) set(column, columns_[column][pair], row);
}

}  // namespace pingloom::controller
