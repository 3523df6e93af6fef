// The first page of a range: what the agent tells everyone who reads pages of it, without being
// asked. Little endian, 64 bytes in use; docs/page-control.md.
#pragma once

#include <cstdint>

#include "pingloom/page_format.h"

namespace pingloom::pages {

constexpr std::uint32_t kRangeMagic = 0x48524c50;  // the bytes "PLRH"
constexpr std::uint16_t kRangeVersion = 1;

enum class RangeState : std::uint16_t {
  kServing = 1,
  kMoved = 2,  // another range has its pages; this one can soon not be read any more
};

struct RangeHead {
  std::uint32_t magic = kRangeMagic;
  std::uint16_t version = kRangeVersion;
  std::uint16_t state = 0;        // RangeState
  std::uint64_t incarnation = 0;  // of the agent
  std::uint64_t epoch = 0;        // of the range; one more with each
  std::uint64_t directory = 0;    // the directory's version: where it grows, ask for what is new
  std::uint32_t pages = 0;        // of the range, this one included
  std::uint8_t reserved[28] = {};
};
static_assert(sizeof(RangeHead) == sizeof(pingloom_page_header));

}  // namespace pingloom::pages
