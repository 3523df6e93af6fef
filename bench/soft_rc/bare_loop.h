// The physical limit: a loop that only moves datagrams of the operations' sizes between two sockets
// and looks at nothing. It moves them as the soft device does: it sends several at once by UDP GSO,
// and receives them as UDP datagrams or, as the kernel got them, through a raw socket.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/error.h"
#include "cores.h"

namespace pingloom::bench {

// The two sides' loopback addresses, which nothing else uses.
constexpr std::uint32_t kAskingAddress = 0x7F2B0001;     // 127.43.0.1
constexpr std::uint32_t kAnsweringAddress = 0x7F2B0002;  // 127.43.0.2

// The packets of an operation in one direction, in bytes of UDP payload. The first and the last of
// several may have a header that those between them lack; the kernel segments only packets of one
// size.
struct Packets {
  std::size_t first = 0;
  std::size_t middle = 0;
  std::size_t last = 0;
  std::size_t count = 1;  // if it is 1, there is only the first

  std::size_t bytes() const { return count == 1 ? first : first + (count - 2) * middle + last; }
};
struct Traffic {
  Packets request;
  Packets answer;
};

// Gives nanoseconds per operation over `operations`, with `depth` of them in flight. With
// `working`, each datagram's bytes are copied from memory and sealed with a CRC on one side, and
// checked and copied into memory on the other.
Result<double> runBareLoop(const Traffic& traffic, std::size_t depth, std::uint64_t operations,
                           const Setting& setting, bool working);

}  // namespace pingloom::bench
