// The syndrome of an acknowledge (InfiniBand Architecture, volume 1, 9.7.5.2). Plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/time.h"

namespace pingloom::rdma::soft {

constexpr std::uint8_t kAckWithoutCredits = 0x1F;  // flow control by credits is not in use
constexpr std::uint8_t kNakSequence = 0x60;
constexpr std::uint8_t kNakInvalidRequest = 0x61;
constexpr std::uint8_t kNakRemoteAccess = 0x62;
constexpr std::uint8_t kNakRemoteOperation = 0x63;
constexpr std::uint8_t kReceiverNotReady = 0x2C;  // asks for a retry after 0.64 ms

enum class SyndromeKind : std::uint8_t { kAck, kNotReady, kReserved, kNak };
constexpr SyndromeKind kindOf(std::uint8_t syndrome) {
  constexpr std::array<SyndromeKind, 4> kKinds = {SyndromeKind::kAck, SyndromeKind::kNotReady,
                                                  SyndromeKind::kReserved, SyndromeKind::kNak};
  return kKinds[syndrome >> 5 & 3];
}

// Returns how long a requester has to wait after "receiver not ready".
constexpr Nanos notReadyWait(std::uint8_t syndrome) {
  constexpr std::array<int, 32> kHundredths = {
      65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
      48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
      2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return kHundredths[syndrome & 0x1F] * (kMillisecond / 100);
}
static_assert(notReadyWait(kReceiverNotReady) == 640 * kMicrosecond);

}  // namespace pingloom::rdma::soft
