// The first page of a range, which gives its readers the state of the range without a request.
// Little endian, 64 bytes in use; see docs/page-control.md.
#pragma once

#include <cstdint>

#include "pingloom/page_format.h"

namespace pingloom::pages {

constexpr std::uint32_t kRangeMagic = 0x48524c50;  // the bytes "PLRH"
constexpr std::uint16_t kRangeVersion = 1;

enum class RangeState : std::uint16_t {
  kServing = 1,
  kMoved = 2,  // another range has the pages; this one soon becomes unreadable
};

struct RangeHead {
  std::uint32_t magic = kRangeMagic;
  std::uint16_t version = kRangeVersion;
  std::uint16_t state = 0;        // RangeState
  std::uint64_t incarnation = 0;  // the agent's incarnation
  std::uint64_t epoch = 0;        // the number of the range; each range has the next one
  std::uint64_t directory = 0;    // the directory's version; when it grows, request the changes
  std::uint32_t pages = 0;        // number of pages in the range, including this one
  std::uint8_t reserved[28] = {};
};
static_assert(sizeof(RangeHead) == sizeof(pingloom_page_header));

}  // namespace pingloom::pages
