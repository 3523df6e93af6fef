// What a page's slots mean: the metrics of its schema, as registration.h lays them out. Everything
// read here comes from an application and is hostile until it has been parsed. Plain values.
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
};

using Schema = std::vector<Metric>;

// The inside of a message: bytes that are taken from the front. Once something is missing, all that
// follows is.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : left_(bytes) {}
  bool good() const { return good_; }
  bool empty() const { return left_.empty(); }
  template <typename Number>
  Number number();
  // Its length is the number before it, of the type given.
  template <typename Length = std::uint8_t>
  std::string_view string();

 private:
  std::span<const std::uint8_t> take(std::size_t bytes);
  std::span<const std::uint8_t> left_;
  bool good_ = true;
};

// Labels as they stand in a message: names that Prometheus takes, each once, values of printable
// UTF-8. nullopt: they are not.
std::optional<Labels> readLabels(Bytes& bytes, std::size_t count);

// The next metric. nullopt: it is none, by itself (its slots may still overlap with another's).
std::optional<Metric> readMetric(Bytes& bytes);
// Of a whole page, slots in order, none twice, within the page. nullopt: it is not one.
std::optional<Schema> readSchema(std::span<const std::uint8_t> bytes);

// Of letters, digits and underscores, and not one that Prometheus keeps for itself.
bool isLabelName(std::string_view name);
// Printable: valid UTF-8 without control characters.
bool isText(std::string_view text);

}  // namespace pingloom::pages
