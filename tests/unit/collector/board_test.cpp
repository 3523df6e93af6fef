#include "collector/board.h"

#include <gtest/gtest.h>

namespace pingloom::collector::board_test {
namespace {

TEST(Board, AnEntryThatWasReplacedDoesNotTakeItsSuccessorAway) {
  Board board;
  const auto first = board.add("10.0.0.1:20714");
  const auto second = board.add("10.0.0.1:20714");
  board.remove(first);
  ASSERT_EQ(board.entries().size(), 1U);
  EXPECT_EQ(board.entries().front(), second);
  board.remove(second);
  EXPECT_TRUE(board.entries().empty());
  board.remove(second);
}

pages::Metric counter(const std::string& name, std::uint16_t slot, pages::Labels labels = {}) {
  return {PINGLOOM_COUNTER, false, slot, 1, {}, 1, name, "", std::move(labels)};
}

std::shared_ptr<const PageInfo> infoOf(pages::Schema schema) {
  auto info = std::make_shared<PageInfo>();
  info->schema = std::move(schema);
  return info;
}

// Which metrics of a page's schema its values have.
std::vector<bool> has(const PageView& page) {
  std::vector<bool> which;
  for (std::size_t i = 0; i < page.info->schema.size(); ++i) which.push_back(page.has(i));
  return which;
}

TEST(Board, ValuesStayThoseOfTheMetricsThatTheyWereReadFor) {
  FamilyNames names;
  const AgentView agent;
  PageView page;
  const auto show = [&](pages::Schema schema) {
    setInfo(agent, page, infoOf(std::move(schema)), names);
  };
  using Which = std::vector<bool>;
  show({counter("a", 0), counter("b", 1, {{"till", "1"}}), counter("c", 2)});
  EXPECT_EQ(has(page), Which(3, false)) << "nothing has been read";
  page.read = kSecond;
  page.slots = 3;
  page.values = {1, 2, 3};
  EXPECT_EQ(has(page), Which(3, true));
  // A metric goes, one comes behind the slots that were read, one in a slot of another label set.
  show({counter("c", 2), counter("d", 3), counter("b", 1, {{"till", "2"}})});
  EXPECT_EQ(has(page), Which({true, false, false}));
  page.slots = 4;  // what the page says is not enough
  EXPECT_EQ(has(page), Which({true, false, false}));
  show({counter("c", 2), counter("d", 3), counter("b", 1, {{"till", "2"}}), counter("e", 0)});
  EXPECT_EQ(has(page), Which({true, false, false, false})) << "there was no reading in between";
}

}  // namespace
}  // namespace pingloom::collector::board_test
