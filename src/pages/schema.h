// Parses the schema of a page, which lists the metrics in its slots in the format of
// registration.h. The bytes come from an application and are hostile until they are parsed. Plain
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pingloom/page_format.h"

namespace pingloom::pages {

using Labels = std::vector<std::pair<std::string, std::string>>;

// The word for the kind in JSON and in Prometheus' formats: "counter".
std::string_view name(pingloom_metric_kind kind);

struct Metric {
  pingloom_metric_kind kind = PINGLOOM_COUNTER;
  bool shared_writers = false;
  std::uint16_t first_slot = 0;
  std::uint16_t slots = 0;
  pingloom_histogram_shape shape{};
  double unit = 1;
  std::string name;
  std::string help;
  Labels labels;
  // The upper bounds of a histogram without a shape, in the unit of its name, ascending. The last
  // bucket has none.
  std::vector<double> bounds = {};
  std::vector<double> quantiles = {};  // a summary's, ascending
  bool exemplars = false;              // whether these follow its slots
  bool fractions = false;              // whether the slot of a counter is a double

  bool bounded() const { return !bounds.empty(); }
  // The number of its slots, with those of its exemplars.
  std::size_t allSlots() const;
};

using Schema = std::vector<Metric>;

// Converts whole numbers of a histogram to the unit of its name. Most units are a fraction like
// 1e-9, which no double is exactly. Dividing by 1e9 rounds once and multiplying by 1e-9 rounds
// twice, so 1,280 ns becomes 1.28e-06 and not 1.2800000000000001e-06.
class UnitScale {
 public:
  explicit UnitScale(double unit);
  double operator()(double units) const { return divisor_ != 0 ? units / divisor_ : units * unit_; }

 private:
  double unit_;
  double divisor_ = 0;  // 0 if the unit is not one part of a whole number
};

// A reader for the body of a message. Once a read fails, all later reads fail.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : left_(bytes) {}
  bool good() const { return good_; }
  bool empty() const { return left_.empty(); }
  template <typename Number>
  Number number();
  // Reads a string whose length precedes it as a number of the given type.
  template <typename Length = std::uint8_t>
  std::string_view string();

 private:
  std::span<const std::uint8_t> take(std::size_t bytes);
  std::span<const std::uint8_t> left_;
  bool good_ = true;
};

// Returns the upper bound of a histogram's bucket in the unit of its name. The last bucket has
// none.
double upperBound(const Metric& metric, const UnitScale& scale, std::size_t bucket);

// Reads labels. Returns nullopt unless the names are valid in Prometheus and unique, and the values
// are printable UTF-8.
std::optional<Labels> readLabels(Bytes& bytes, std::size_t count);

// Reads the next metric. Returns nullopt if it is invalid by itself; overlaps with the slots of
// others are not checked.
std::optional<Metric> readMetric(Bytes& bytes);
// Reads the schema of a whole page. Returns nullopt unless its slots are within the page and do not
// overlap.
std::optional<Schema> readSchema(std::span<const std::uint8_t> bytes);

}  // namespace pingloom::pages
