#include "pages/schema.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cmath>
#include <cstring>

#include "pages/definition_rules.h"
#include "pages/exemplar_rules.h"

namespace pingloom::pages {
namespace {

static_assert(std::endian::native == std::endian::little, "pages and messages are little endian");

// Tells whether the kind is known and the number of slots fits it.
bool hasShape(const Metric& metric) {
  switch (metric.kind) {
    case PINGLOOM_COUNTER:
    case PINGLOOM_GAUGE:
      return metric.slots == 1;
    case PINGLOOM_HISTOGRAM:
      if (metric.bounded()) return metric.slots == metric.bounds.size() + 2;
      return isHistogramShape(metric.shape) &&
             metric.slots == pingloom_histogram_slots(metric.shape);
    case PINGLOOM_INFO:
      return metric.slots == 0;
    case PINGLOOM_SUMMARY:
      return metric.slots == metric.quantiles.size() + kSummarySlots;
  }
  return false;
}

}  // namespace

std::string_view name(pingloom_metric_kind kind) {
  switch (kind) {
    case PINGLOOM_COUNTER:
      return "counter";
    case PINGLOOM_GAUGE:
      return "gauge";
    case PINGLOOM_HISTOGRAM:
      return "histogram";
    case PINGLOOM_INFO:
      return "info";
    case PINGLOOM_SUMMARY:
      return "summary";
  }
  return "unknown";
}

std::size_t Metric::allSlots() const { return slots + (exemplars ? exemplarSlots(kind) : 0); }

UnitScale::UnitScale(double unit) : unit_(unit) {
  const double parts = std::round(1 / unit);
  if (std::isfinite(parts) && parts >= 1 && 1 / parts == unit) divisor_ = parts;
}

std::span<const std::uint8_t> Bytes::take(std::size_t bytes) {
  good_ = good_ && bytes <= left_.size();
  if (!good_) return {};
  const auto taken = left_.first(bytes);
  left_ = left_.subspan(bytes);
  return taken;
}

template <typename Number>
Number Bytes::number() {
  Number made{};
  const auto bytes = take(sizeof made);
  if (good_) std::memcpy(&made, bytes.data(), sizeof made);
  return made;
}
template std::uint8_t Bytes::number<std::uint8_t>();
template std::uint16_t Bytes::number<std::uint16_t>();
template std::uint32_t Bytes::number<std::uint32_t>();
template std::uint64_t Bytes::number<std::uint64_t>();
template double Bytes::number<double>();

template <typename Length>
std::string_view Bytes::string() {
  const auto length = number<Length>();
  const auto bytes = take(length);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
template std::string_view Bytes::string<std::uint8_t>();
template std::string_view Bytes::string<std::uint16_t>();

double upperBound(const Metric& metric, const UnitScale& scale, std::size_t bucket) {
  if (metric.bounded()) return metric.bounds[bucket];
  return scale(
      static_cast<double>(pingloom_histogram_upper(metric.shape, static_cast<unsigned>(bucket))));
}

std::optional<Labels> readLabels(Bytes& bytes, std::size_t count) {
  if (count > kMaxLabels) return std::nullopt;
  Labels labels;
  labels.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = bytes.string();
    const std::string_view value = bytes.string<std::uint16_t>();
    const bool twice = std::any_of(labels.begin(), labels.end(),
                                   [&](const auto& label) { return label.first == name; });
    if (!bytes.good() || twice || !isLabelName(name) || value.size() > kMaxLabelBytes ||
        !isText(value)) {
      return std::nullopt;
    }
    labels.emplace_back(name, value);
  }
  return labels;
}

namespace {

std::optional<std::vector<double>> readNumbers(Bytes& bytes) {
  const auto count = bytes.number<std::uint16_t>();
  if (!bytes.good() || count > kMaxBounds) return std::nullopt;
  std::vector<double> numbers(count);
  for (double& number : numbers) number = bytes.number<double>();
  if (!bytes.good()) return std::nullopt;
  return numbers;
}

// Reads a histogram's bounds or a summary's quantiles. The other kinds have no such list.
bool readList(Bytes& bytes, Metric& metric) {
  auto numbers = readNumbers(bytes);
  if (!numbers) return false;
  if (metric.kind == PINGLOOM_HISTOGRAM) {
    metric.bounds = std::move(*numbers);
    return areBounds(metric.bounds);
  }
  metric.quantiles = std::move(*numbers);
  return metric.kind == PINGLOOM_SUMMARY && areQuantiles(metric.quantiles);
}

// Tells whether it has no label that its samples need for themselves.
bool hasFreeLabels(const Metric& metric) {
  return metric.kind != PINGLOOM_SUMMARY ||
         std::none_of(metric.labels.begin(), metric.labels.end(),
                      [](const auto& label) { return label.first == kQuantileLabel; });
}

}  // namespace

std::optional<Metric> readMetric(Bytes& bytes) {
  Metric metric;
  const auto kind = bytes.number<std::uint8_t>();
  if (kind < PINGLOOM_COUNTER || kind > PINGLOOM_SUMMARY) return std::nullopt;
  metric.kind = static_cast<pingloom_metric_kind>(kind);
  const auto flags = bytes.number<std::uint8_t>();
  metric.shared_writers = (flags & kSharedWriters) != 0;
  metric.fractions = kind == PINGLOOM_GAUGE && (flags & kFractions) != 0;
  if (metric.fractions) metric.kind = PINGLOOM_COUNTER;
  metric.exemplars = (flags & (metric.fractions ? kFractionsExemplars : kExemplars)) != 0;
  metric.first_slot = bytes.number<std::uint16_t>();
  metric.slots = bytes.number<std::uint16_t>();
  metric.shape.lowest = bytes.number<std::uint8_t>();
  metric.shape.highest = bytes.number<std::uint8_t>();
  metric.shape.precision = bytes.number<std::uint8_t>();
  const auto labels = bytes.number<std::uint8_t>();
  metric.unit = bytes.number<double>();
  metric.name = bytes.string();
  metric.help = bytes.string<std::uint16_t>();
  if (!bytes.good() || !isMetricName(metric.name) || metric.help.size() > kMaxHelpBytes ||
      !isText(metric.help) || !isUnit(metric.unit) || (metric.fractions && metric.unit != 1) ||
      metric.first_slot + metric.allSlots() > PINGLOOM_PAGE_SLOTS ||
      (metric.exemplars && exemplarPlaces(metric.kind) == 0)) {
    return std::nullopt;
  }
  auto read = readLabels(bytes, labels);
  if (!read) return std::nullopt;
  metric.labels = std::move(*read);
  if ((flags & kBounds) != 0 && !readList(bytes, metric)) return std::nullopt;
  return hasShape(metric) && hasFreeLabels(metric) ? std::optional(std::move(metric))
                                                   : std::nullopt;
}

std::optional<Schema> readSchema(std::span<const std::uint8_t> raw) {
  if (raw.size() > kMaxSchemaBytes) return std::nullopt;
  Schema schema;
  Bytes bytes(raw);
  std::bitset<PINGLOOM_PAGE_SLOTS> taken;
  std::size_t infos = 0;
  while (!bytes.empty()) {
    auto metric = readMetric(bytes);
    if (!metric) return std::nullopt;
    for (std::size_t i = 0; i < metric->allSlots(); ++i) {
      const std::size_t slot = metric->first_slot + i;
      if (taken[slot]) return std::nullopt;
      taken.set(slot);
    }
    infos += metric->kind == PINGLOOM_INFO ? 1 : 0;
    if (infos > kMaxInfos) return std::nullopt;
    schema.push_back(std::move(*metric));
  }
  return schema;
}

}  // namespace pingloom::pages
