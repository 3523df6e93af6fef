#include "rdma/soft/icrc_residual.h"

#include <array>

#include "rdma/soft/crc_polynomial.h"
#include "rdma/soft/packet_layout.h"

namespace pingloom::rdma::soft {
namespace {

constexpr std::uint32_t kOne = 0x80000000;  // x^0

using Lanes [[gnu::vector_size(16)]] = std::uint32_t;  // four lanes

constexpr std::uint32_t overX(std::uint32_t a) {
  return (a & kOne) != 0 ? ((a ^ kCrcPolynomial) << 1) | 1 : a << 1;
}
static_assert(overX(timesX(0x12345678)) == 0x12345678 && timesX(overX(0x87654321)) == 0x87654321);

// The bytes between the ID and the packet: the rest of the IP header and the UDP header. The CRC
// covers them and the packet without its iCRC.
constexpr std::size_t kBetween = 20 - 6 + 8;

// A table of x^-(32 + 8 * bytes after the ID) by packet size. One byte more is a factor of x^8. The
// table has 16.5 KB.
class Divisors {
 public:
  Divisors() {
    std::uint32_t power = kOne;
    const auto divide = [&power](std::size_t bits) {
      for (std::size_t i = 0; i < bits; ++i) power = overX(power);
    };
    divide(32 + 8 * (kBetween + kMinPacketBytes - kIcrcBytes - kBelow));
    for (std::uint32_t& divisor : divisors_) {
      divisor = power;
      divide(8);
    }
  }

  // Divides `dividend` by the divisor for that size. This is a multiplication in four parts of a
  // byte each, which the processor executes in parallel. REQUIRES: a valid packet size.
  std::uint32_t divide(std::uint32_t dividend, std::size_t packet_bytes) const {
    const std::uint32_t* divisor = &divisors_[packet_bytes - kMinPacketBytes + kBelow];
    Lanes factor = {divisor[-3], divisor[-2], divisor[-1], divisor[0]};
    const Lanes bytes = {dividend, dividend >> 8, dividend >> 16, dividend >> 24};
    Lanes product = {};
    for (std::uint32_t bit = 8; bit-- > 0;) {
      product ^= factor & -(bytes >> bit & 1);
      factor = timesX(factor);
    }
    return product[0] ^ product[1] ^ product[2] ^ product[3];
  }

 private:
  static constexpr std::size_t kBelow = 3;  // smaller sizes, which the lower bytes use
  std::array<std::uint32_t, kBelow + kMaxPacketBytes - kMinPacketBytes + 1> divisors_{};
};

}  // namespace

std::optional<std::uint16_t> explainingId(std::uint32_t difference, std::size_t packet_bytes) {
  static const Divisors divisors;
  if (packet_bytes < kMinPacketBytes || packet_bytes > kMaxPacketBytes) return std::nullopt;
  const std::uint32_t quotient = divisors.divide(difference, packet_bytes);
  // A polynomial below degree 16 lies in the upper half; its first byte is the ID's first.
  if ((quotient & 0xFFFF) != 0) return std::nullopt;
  const std::uint32_t first = quotient >> 16 & 0xFF;
  const std::uint32_t second = quotient >> 24;
  return static_cast<std::uint16_t>(first << 8 | second);
}

}  // namespace pingloom::rdma::soft
