#include "common/instant.h"

namespace pingloom {

Instant Instant::now() {
  Instant made;
  for (int attempt = 0; attempt < 3; ++attempt) {
    made.mono = monotonicNow();
    made.utc = utcNow();
    if (monotonicNow() - made.mono <= kApart) break;
  }
  return made;
}

}  // namespace pingloom
