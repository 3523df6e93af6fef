// A metric's definition as it stands in a message and in a schema, every field free to be wrong.
#pragma once

#include <pingloom/page_format.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "pages/registration.h"

namespace pingloom::pages::test {

using Raw = std::vector<std::uint8_t>;

template <typename Number>
void append(Raw& out, Number value) {
  const auto at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}
inline void appendText(Raw& out, const std::string& text) {
  out.insert(out.end(), text.begin(), text.end());
}
inline void appendShort(Raw& out, const std::string& text) {
  append(out, static_cast<std::uint8_t>(text.size()));
  appendText(out, text);
}
inline void appendLong(Raw& out, const std::string& text) {
  append(out, static_cast<std::uint16_t>(text.size()));
  appendText(out, text);
}

using RawLabels = std::vector<std::pair<std::string, std::string>>;
inline void appendLabels(Raw& out, const RawLabels& labels) {
  for (const auto& [name, value] : labels) {
    appendShort(out, name);
    appendLong(out, value);
  }
}

struct RawMetric {
  std::uint8_t kind = PINGLOOM_COUNTER;
  std::uint16_t first = 0;
  std::uint16_t slots = 1;
  std::uint8_t lowest = 0;
  std::uint8_t highest = 0;
  std::uint8_t precision = 0;
  double unit = 1;
  std::string name = "requests_total";
  std::string help = {};
  RawLabels labels = {};
  std::uint8_t flags = 0;
  std::vector<double> bounds = {};  // written if the flags say so

  Raw bytes() const {
    Raw out = {kind, flags};
    append(out, first);
    append(out, slots);
    out.insert(out.end(), {lowest, highest, precision, static_cast<std::uint8_t>(labels.size())});
    append(out, unit);
    appendShort(out, name);
    appendLong(out, help);
    appendLabels(out, labels);
    if ((flags & kBounds) != 0) {
      append(out, static_cast<std::uint16_t>(bounds.size()));
      for (const double bound : bounds) append(out, bound);
    }
    return out;
  }
};

inline RawMetric rawHistogram(const std::string& name, std::uint16_t first = 0) {
  RawMetric made;
  made.kind = PINGLOOM_HISTOGRAM;
  made.first = first;
  made.lowest = 2;
  made.highest = 4;
  made.precision = 1;
  made.slots = 7;  // the sum, one below, two octaves of two, one above
  made.name = name;
  return made;
}

inline RawMetric rawBounded(const std::string& name, std::vector<double> bounds) {
  RawMetric made;
  made.kind = PINGLOOM_HISTOGRAM;
  made.flags = kBounds;
  made.slots = static_cast<std::uint16_t>(bounds.size() + 2);
  made.name = name;
  made.bounds = std::move(bounds);
  return made;
}

inline RawMetric rawSummary(const std::string& name, std::vector<double> quantiles) {
  RawMetric made = rawBounded(name, std::move(quantiles));
  made.kind = PINGLOOM_SUMMARY;
  return made;
}

inline Raw together(const std::vector<RawMetric>& metrics) {
  Raw out;
  for (const RawMetric& metric : metrics) {
    const Raw bytes = metric.bytes();
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

}  // namespace pingloom::pages::test
