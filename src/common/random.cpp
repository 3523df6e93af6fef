#include "common/random.h"

#include <sys/random.h>

#include <cstdlib>

namespace pingloom {

std::uint64_t randomU64() {
  std::uint64_t value = 0;
  // getrandom of 8 bytes is never short once the kernel's pool is seeded; without it there is no
  // safe way on.
  if (getrandom(&value, sizeof value, 0) != sizeof value) std::abort();
  return value;
}

}  // namespace pingloom
