#include "wire/page_owner_codec.h"

#include <gtest/gtest.h>

namespace pingloom::wire::page_owner_codec_test {
namespace {

const pingloom::PageOwners kOwners{{{"queue", 41, 1000, 2, 30}, {"db", 42, 0, 1, 0}}, 7};

TEST(PageOwnerCodec, RoundTrips) {
  for (const auto& owners : {kOwners, pingloom::PageOwners{}}) {
    PageOwners message;
    encode(owners, message);
    const auto read = decode(message);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, owners);
  }
}

TEST(PageOwnerCodec, RefusesWhatIsMalformed) {
  const auto refused = [](auto change) {
    PageOwners message;
    encode(kOwners, message);
    change(message);
    return !decode(message);
  };
  EXPECT_FALSE(refused([](PageOwners& in) { in.mutable_owners(0)->set_metrics(0); }));
  EXPECT_TRUE(refused([](PageOwners& in) { in.mutable_owners(1)->set_pages(0); }));
  EXPECT_TRUE(refused([](PageOwners& in) { in.mutable_owners(0)->clear_application(); }));
  EXPECT_TRUE(
      refused([](PageOwners& in) { in.mutable_owners(0)->set_application(std::string(65, 'x')); }));
  EXPECT_TRUE(refused([](PageOwners& in) { in.mutable_owners(0)->set_application("a\x1b[2J"); }));
  EXPECT_TRUE(refused([](PageOwners& in) {
    while (in.owners_size() <= 256) *in.add_owners() = in.owners(0);
  }));
}

}  // namespace
}  // namespace pingloom::wire::page_owner_codec_test
