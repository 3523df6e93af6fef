// The rules for a metric's names, texts and shape. The client library checks them before it asks
// the agent, and the agent and the collector check what they receive. Everything is inline, because
// the client library links nothing of pingloom's. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "common/utf8.h"
#include "pages/registration.h"
#include "pingloom/page_format.h"

namespace pingloom::pages {

// Tells whether the text is printable: valid UTF-8 without control characters.
constexpr bool isText(std::string_view text) {
  return invalidUtf8At(text) == std::string_view::npos && !hasControls(text);
}

// Tells whether the name consists of letters, digits, underscores and colons.
constexpr bool isMetricName(std::string_view name) {
  const auto begins = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  };
  return !name.empty() && name.size() <= kMaxNameBytes && begins(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return begins(c) || (c >= '0' && c <= '9'); });
}

// Tells whether the name has no colon either, and is not reserved: Prometheus keeps names that
// begin with two underscores to itself, and `le` is the label of buckets.
constexpr bool isLabelName(std::string_view name) {
  return isMetricName(name) && name.find(':') == std::string_view::npos &&
         !name.starts_with("__") && name != "le";
}

constexpr bool isHistogramShape(const pingloom_histogram_shape& shape) {
  return shape.precision <= 5 && shape.precision <= shape.lowest && shape.lowest < shape.highest &&
         shape.highest <= 63;
}

// Tells whether it can be the worth of 1 in a counter or histogram. Within these limits no two
// bounds of a histogram become equal.
constexpr bool isUnit(double unit) { return unit >= 1e-30 && unit <= 1e30; }

// Tells whether the bounds are a histogram's: at least one, finite and ascending.
inline bool areBounds(const std::vector<double>& bounds) {
  return !bounds.empty() && bounds.size() <= kMaxBounds &&
         std::all_of(bounds.begin(), bounds.end(), [](double one) { return std::isfinite(one); }) &&
         std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) == bounds.end();
}

// Tells whether the numbers are a summary's quantiles: ascending and within 0 and 1. There may be
// none.
inline bool areQuantiles(const std::vector<double>& quantiles) {
  return quantiles.size() <= kMaxQuantiles &&
         std::all_of(quantiles.begin(), quantiles.end(),
                     [](double one) { return one >= 0 && one <= 1; }) &&
         std::adjacent_find(quantiles.begin(), quantiles.end(), std::greater_equal<>()) ==
             quantiles.end();
}

}  // namespace pingloom::pages
