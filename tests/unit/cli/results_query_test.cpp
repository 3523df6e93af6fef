#include "cli/results_query.h"

#include <gtest/gtest.h>

namespace pingloom::cli::results_query_test {
namespace {

ResultRow row(const std::string& destination, const std::string& json) {
  return {"udp", "10.0.0.1", destination, json};
}

TEST(ChangedRows, firstAllThenOnlyWhatChanged) {
  ChangedRows changed;
  EXPECT_EQ(changed.of({row("10.0.0.2", "a"), row("10.0.0.3", "b")}).size(), 2U);
  EXPECT_TRUE(changed.of({row("10.0.0.2", "a"), row("10.0.0.3", "b")}).empty());
  const auto now = changed.of({row("10.0.0.2", "a"), row("10.0.0.3", "c")});
  ASSERT_EQ(now.size(), 1U);
  EXPECT_EQ(now[0].destination, "10.0.0.3");
  EXPECT_EQ(now[0].json, "c");
}

TEST(ChangedRows, aRowThatCameBackIsNewAgain) {
  ChangedRows changed;
  changed.of({row("10.0.0.2", "a")});
  EXPECT_TRUE(changed.of({}).empty());
  EXPECT_EQ(changed.of({row("10.0.0.2", "a")}).size(), 1U);
}

}  // namespace
}  // namespace pingloom::cli::results_query_test
