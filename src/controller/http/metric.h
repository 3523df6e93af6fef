// The figures of a row that a grid can show, by their names in the API: network_p50, loss, ...
// Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/board.h"

namespace pingloom::controller {

class Metric {
 public:
  // The error says what was meant and lists all names.
  static Result<Metric> parse(std::string_view name);
  static std::vector<std::string> names();

  bool operator==(const Metric&) const = default;
  std::string_view unit() const;  // "ns" or "ratio"
  // Whose summary it is of; nullptr: it is of none.
  Summary Row::*part() const { return kind_ == Kind::kSummary ? part_ : nullptr; }
  // Which figure of it; nullptr: it is of none.
  std::uint64_t Summary::*statistic() const {
    return kind_ == Kind::kSummary ? statistic_ : nullptr;
  }
  bool isRatio() const { return kind_ == Kind::kLoss || kind_ == Kind::kAnomalous; }
  // nullopt: the row has no such measurement.
  std::optional<double> ratioOf(const Row& row) const;               // REQUIRES isRatio()
  std::optional<std::uint64_t> nanosecondsOf(const Row& row) const;  // REQUIRES !isRatio()
  std::optional<double> valueOf(const Row* row) const;               // either; `row` may be nullptr
  // Appends it as a decimal number. False where there is no such measurement.
  bool append(std::string& out, const Row* row) const;

 private:
  enum class Kind { kSummary, kJitter, kLoss, kAnomalous };
  Kind kind_ = Kind::kSummary;
  Summary Row::*part_ = &Row::network;
  std::uint64_t Summary::*statistic_ = &Summary::p50;
};

}  // namespace pingloom::controller
