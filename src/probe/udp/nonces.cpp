#include "probe/udp/nonces.h"

#include <sys/random.h>

#include "common/random.h"

namespace pingloom::probe::udp {

void Nonces::refill() {
  // Up to 256 bytes come whole; a longer answer may be cut short by a signal.
  constexpr std::size_t kWhole = 256;
  auto* bytes = reinterpret_cast<std::uint8_t*>(pool_.data());
  for (std::size_t at = 0; at < sizeof pool_; at += kWhole) {
    if (getrandom(bytes + at, kWhole, 0) != static_cast<ssize_t>(kWhole)) {
      for (std::uint64_t& nonce : pool_) nonce = randomU64();
      break;
    }
  }
  used_ = 0;
}

}  // namespace pingloom::probe::udp
