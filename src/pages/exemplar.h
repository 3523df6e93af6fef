// Takes exemplars from a page's slots. The bytes come from an application and are hostile until
// they are read here. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/error.h"
#include "pages/schema.h"
#include "pingloom/page_format.h"

namespace pingloom::pages {

// An observation, with the labels that say which trace it belongs to.
struct Exemplar {
  Labels labels;           // at least one
  double value = 0;        // finite; in units, and for a bounded histogram in the name's unit
  std::uint64_t time = 0;  // nanoseconds since 1970, by the application's clock
};

enum class ExemplarFault : std::uint8_t {
  kTorn,       // it was being written
  kMalformed,  // its value is not finite, or its labels are not labels
};

// Reads one place. Returns nullopt if nothing was ever written there.
tl::expected<std::optional<Exemplar>, ExemplarFault> readExemplar(
    std::span<const std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS> place);

}  // namespace pingloom::pages
