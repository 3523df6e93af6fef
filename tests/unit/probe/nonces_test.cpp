#include "probe/nonces.h"

#include <gtest/gtest.h>

#include <set>

namespace pingloom::probe::nonces_test {
namespace {

TEST(Nonces, DoNotRepeat) {
  Nonces nonces;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 2000; ++i) EXPECT_TRUE(seen.insert(nonces.next()).second);
}

}  // namespace
}  // namespace pingloom::probe::nonces_test
