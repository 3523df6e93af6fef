// The physical limit: a loop that only moves datagrams of the sizes that the operations have, to
// and fro between two sockets, and looks at nothing. It moves them as the soft device does: sent by
// UDP GSO where there are several, received as UDP datagrams or, as the kernel got them, through a
// raw socket.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/error.h"
#include "cores.h"

namespace pingloom::bench {

// Of a loopback address each; nobody else uses them.
constexpr std::uint32_t kAskingAddress = 0x7F2B0001;     // 127.43.0.1
constexpr std::uint32_t kAnsweringAddress = 0x7F2B0002;  // 127.43.0.2

// Packets of an operation one way, in bytes of UDP payload. The first and the last of several may
// have a header that those between them have not: the kernel segments only what is of one size.
struct Packets {
  std::size_t first = 0;
  std::size_t middle = 0;
  std::size_t last = 0;
  std::size_t count = 1;  // 1: only the first

  std::size_t bytes() const { return count == 1 ? first : first + (count - 2) * middle + last; }
};
struct Traffic {
  Packets request;
  Packets answer;
};

// Nanoseconds per operation with `depth` of them under way, over `operations`. `working`: each
// datagram's bytes are copied from memory and sealed with a CRC, and checked and copied into
// memory.
Result<double> runBareLoop(const Traffic& traffic, std::size_t depth, std::uint64_t operations,
                           const Setting& setting, bool working);

}  // namespace pingloom::bench
