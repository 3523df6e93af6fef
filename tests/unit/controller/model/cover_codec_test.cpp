#include "controller/model/cover_codec.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::cover_codec_test {
namespace {

using test::ip;

TEST(CoverCodec, LeavesOutWhatIsMalformed) {
  wire::Relays told;
  EXPECT_FALSE(coverOf(told));
  wire::RelayedCover& cover = *told.mutable_cover();
  cover.set_probe("m");
  EXPECT_FALSE(coverOf(told)) << "it says not for which sample";
  cover.set_inputs("1 1 3 rack");
  const std::string good = ip("10.0.0.1").wire();
  for (const std::string& odd : {std::string("abc"), std::string(), ip("fd00::1").wire()}) {
    cover.add_addresses(good);
    cover.add_addresses(odd);
  }
  cover.add_addresses(good);  // without a destination
  EXPECT_TRUE(coverOf(told)->pairs.empty());
  cover.clear_addresses();
  for (std::size_t i = 0; i < 2 * plan::kMaxExtraPairs + 10; ++i) cover.add_addresses(good);
  EXPECT_EQ(coverOf(told)->pairs.size(), plan::kMaxExtraPairs);
}

}  // namespace
}  // namespace pingloom::controller::cover_codec_test
