// What a departed datagram was: its tag's id is the exchange's, or the responder's number of it.
#pragma once

#include <cstdint>

namespace pingloom::probe::udp {

constexpr std::uint8_t kPingTag = 1;
constexpr std::uint8_t kPongTag = 2;

}  // namespace pingloom::probe::udp
