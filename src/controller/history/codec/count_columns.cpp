#include "controller/history/codec/count_columns.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "controller/history/codec/row_sums.h"
#include "controller/history/codec/steps.h"

namespace pingloom::controller {
namespace {

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

constexpr std::size_t kReceived = 1;
constexpr std::size_t kAckLost = 5;
static_assert(kRowCounts[kReceived] == &Row::received && kRowCounts[kAckLost] == &Row::ack_lost);
constexpr std::size_t kReasons = kRowCounts.size();  // the first column of reasons
constexpr std::size_t kJitter = kReasons + kAnomalies;

// The counts at the beginning of kRowCounts.
constexpr std::array<std::uint32_t PairCounts::*, 5> kPairCounts = {
    &PairCounts::sent, &PairCounts::received, &PairCounts::lost, &PairCounts::refused,
    &PairCounts::unreachable};
static_assert(kRowCounts[4] == &Row::unreachable);

bool isPairCount(std::size_t column) {
  return column < kPairCounts.size() || (column >= kReasons && column < kJitter);
}

}  // namespace

void appendRun(const PairCounts& counts, std::size_t pairs, std::vector<CountRun>& runs) {
  if (pairs == 0) return;
  const std::size_t end = (runs.empty() ? 0 : runs.back().end) + pairs;
  if (!runs.empty() && runs.back().counts == counts) {
    runs.back().end = end;
  } else {
    runs.push_back({counts, end});
  }
}

void encodeCounts(std::span<const Row> rows, unsigned jitter_merged, ColumnWriter& out) {
  std::vector<std::uint64_t> values(rows.size());
  const auto write = [&](auto value_of) {
    for (std::size_t i = 0; i < rows.size(); ++i) values[i] = value_of(rows[i]);
    out.column(values);
  };
  out.number(jitter_merged);
  for (const auto count : kRowCounts) write([&](const Row& row) { return row.*count; });
  for (std::size_t reason = 0; reason < kAnomalies; ++reason) {
    write([&](const Row& row) { return row.anomalous[reason]; });
  }
  // 0: there is no jitter.
  write([&](const Row& row) {
    return row.jitter_ns ? stepOf(*row.jitter_ns, jitter_merged) + std::uint64_t{1} : 0;
  });
}

bool CountReader::read(std::string_view section, std::size_t pairs) {
  ColumnReader in(section);
  const std::uint64_t merged = in.number();
  if (merged > kMaxMerged) return false;
  jitter_merged_ = static_cast<unsigned>(merged);
  differing_.clear();
  same_ = {};
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
  if (column < kReasons) {
    row.*kRowCounts[column] = narrow(value);
  } else if (column < kJitter) {
    row.anomalous[column - kReasons] = narrow(value);
  } else {
    row.jitter_ns = jitterOf(value);
  }
}

std::optional<std::uint64_t> CountReader::jitterOf(std::uint64_t value) const {
  if (value == 0) return std::nullopt;
  const auto step = std::min<std::uint64_t>(value - 1, stepsOf(jitter_merged_) - 1);
  return middlesOfSteps(jitter_merged_)[step];
}

void CountReader::fill(std::size_t pair, Row& row) const {
  for (const auto count : kRowCounts) row.*count = same_.*count;
  row.anomalous = same_.anomalous;
  row.jitter_ns = same_.jitter_ns;
  for (const std::size_t column : differing_) set(column, columns_[column][pair], row);
}

// In nearly all blocks most columns have one number for all pairs.
PairCounts CountReader::counts(std::size_t pair) const {
  PairCounts counts = countsOf(same_);
  for (const std::size_t column : differing_) {
    if (!isPairCount(column)) continue;
    const std::uint32_t number = narrow(columns_[column][pair]);
    if (column < kPairCounts.size()) {
      counts.*kPairCounts[column] = number;
    } else {
      addSaturating(counts.anomalous, number);
    }
  }
  return counts;
}

void CountReader::markChanges(std::uint8_t* marks) const {
  for (const std::size_t column : differing_) {
    if (isPairCount(column)) columns_[column].markChanges(marks);
  }
}

bool CountReader::showTimed() const {
  const auto timed = [this](std::size_t pair) {
    const std::uint64_t received = narrow(columns_[kReceived][pair]);
    std::uint64_t untimed = narrow(columns_[kAckLost][pair]);
    for (std::size_t i = kReasons; i < kJitter; ++i) untimed += narrow(columns_[i][pair]);
    return received == 0 || received > untimed;
  };
  const std::size_t pairs = columns_[kJitter].size();
  const bool alike = std::none_of(differing_.begin(), differing_.end(), [](std::size_t column) {
    return column == kReceived || column == kAckLost || (column >= kReasons && column < kJitter);
  });
  for (std::size_t pair = 0; pair < (alike ? std::min<std::size_t>(pairs, 1) : pairs); ++pair) {
    if (!timed(pair)) return false;
  }
  return true;
}

void CountReader::jitter(std::uint64_t* out) const {
  const Column& column = columns_[kJitter];
  for (std::size_t i = 0; i < column.size(); ++i) {
    out[i] = jitterOf(column[i]).value_or(PartReader::kNoSample);
  }
}

}  // namespace pingloom::controller
