#include "pages/exemplar.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "pages/exemplar_rules.h"

namespace pingloom::pages {
namespace {

// A label is a string name and a string value; an empty name, or the end, follows the last one.
// They say something: not all values are empty.
std::optional<Labels> exemplarLabels(std::span<const std::uint8_t> raw) {
  Labels labels;
  bool told = false;
  Bytes bytes(raw);
  while (!bytes.empty()) {
    const std::string_view name = bytes.string();
    if (name.empty()) break;
    const std::string_view value = bytes.string();
    const bool twice = std::any_of(labels.begin(), labels.end(),
                                   [&](const auto& label) { return label.first == name; });
    if (!bytes.good() || twice || !isExemplarLabel(name, value)) return std::nullopt;
    labels.emplace_back(name, value);
    told = told || !value.empty();
  }
  if (!bytes.good() || !told) return std::nullopt;
  return labels;
}

}  // namespace

tl::expected<std::optional<Exemplar>, ExemplarFault> readExemplar(
    std::span<const std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS> place) {
  pingloom_exemplar raw;
  static_assert(sizeof raw == PINGLOOM_EXEMPLAR_SLOTS * sizeof(std::uint64_t));
  std::memcpy(&raw, place.data(), sizeof raw);
  if (raw.sequence == 0) return std::nullopt;
  if (raw.sequence % 2 != 0 || raw.checksum != checksumOf(raw)) {
    return tl::unexpected(ExemplarFault::kTorn);
  }
  auto labels = exemplarLabels(raw.labels);
  if (!labels || !std::isfinite(raw.value)) return tl::unexpected(ExemplarFault::kMalformed);
  return Exemplar{std::move(*labels), raw.value, raw.time};
}

}  // namespace pingloom::pages
