// The figures of a row that a grid can show, by their names in the API (network_p50, loss, ...).
// Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/history/past_source.h"
#include "controller/http/decimal.h"
#include "controller/model/board.h"

namespace pingloom::controller {

// One figure of one pair, as a fraction; the denominator of nanoseconds is 1.
struct MetricValue {
  std::uint64_t part = 0;
  std::uint64_t whole = 0;  // 0: not measured

  bool measured() const { return whole != 0; }
  double number() const { return static_cast<double>(part) / static_cast<double>(whole); }
};

class Metric {
 public:
  // The error suggests the nearest name and lists all names.
  static Result<Metric> parse(std::string_view name);
  static std::vector<std::string> names();

  bool operator==(const Metric&) const = default;
  std::string_view unit() const;  // "ns" or "ratio"
  // Returns which figure of a past row the metric needs, besides the counts.
  PastFigure pastFigure() const;
  bool isRatio() const { return kind_ == Kind::kLoss || kind_ == Kind::kAnomalous; }
  MetricValue of(const PackedRow& row) const;
  // Writes the value of each destination to `out`. REQUIRES: the window was made with pastFigure().
  void of(const PastWindow& window, std::vector<MetricValue>& out) const;
  // Writes a decimal number and returns its end. REQUIRES: value.measured() and room for
  // kMaxDigits, all of which may be written.
  static constexpr std::size_t kMaxDigits = 24;
  static_assert(kMaxDigits >= kMaxDecimalBytes);
  char* write(char* out, const MetricValue& value) const {
    return isRatio() ? writeRatio(out, value) : writeDecimal(out, value.part);
  }

 private:
  std::optional<std::uint64_t> nanosecondsOf(const PackedRow& row) const;  // REQUIRES !isRatio()
  MetricValue ratioIn(const PairCounts& counts) const;
  static char* writeRatio(char* out, const MetricValue& value);

  enum class Kind { kSummary, kJitter, kLoss, kAnomalous };
  Kind kind_ = Kind::kSummary;
  Summary Row::*part_ = &Row::network;
  std::uint64_t Summary::*statistic_ = &Summary::p50;
};

}  // namespace pingloom::controller
