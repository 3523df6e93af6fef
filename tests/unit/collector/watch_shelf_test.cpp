#include "collector/watch/watch_shelf.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace pingloom::collector::watch_shelf_test {
namespace {

TEST(WatchShelf, replicasGetTheirOwnBack) {
  const ShelfKey key{"h1", "queue", 0};
  WatchShelf shelf;
  const auto put = [&](std::uint64_t owner) {
    shelf.put(key, {std::make_shared<std::string>(std::to_string(owner)), 3, 2, kSecond, owner});
  };
  for (const std::uint64_t owner : {10, 11, 12}) put(owner);
  EXPECT_EQ(shelf.features(), 9U);
  EXPECT_EQ(*shelf.take(key, 11), "11");
  EXPECT_EQ(*shelf.take(key, 99), "12") << "the newest, for one that is new";
  EXPECT_EQ(*shelf.take(key, 10), "10");
  EXPECT_EQ(shelf.take(key, 10), nullptr);
  EXPECT_EQ(shelf.features(), 0U);
  EXPECT_EQ(shelf.historyFeatures(), 0U);
}

}  // namespace
}  // namespace pingloom::collector::watch_shelf_test
