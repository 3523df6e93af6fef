// States what agents and collectors agree on besides their messages (wire/pages.proto).
#pragma once

#include <cstddef>
#include <cstdint>

namespace pingloom::pages {

constexpr std::uint32_t kPageControlVersion = 1;
constexpr std::uint16_t kDefaultPagesPort = 20714;
constexpr std::size_t kMaxCollectorName = 253;  // bytes

}  // namespace pingloom::pages
