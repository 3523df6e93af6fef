#include "probe/nonces.h"

#include <sys/random.h>

#include <cstdlib>

namespace pingloom::probe {

void Nonces::refill() {
  auto* bytes = reinterpret_cast<std::uint8_t*>(pool_.data());
  for (std::size_t at = 0; at < sizeof pool_;) {
    const ssize_t got = getrandom(bytes + at, sizeof pool_ - at, 0);
    if (got <= 0) std::abort();  // no safe way to continue, as in randomU64()
    at += static_cast<std::size_t>(got);
  }
  used_ = 0;
}

}  // namespace pingloom::probe
