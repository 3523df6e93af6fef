// Metrics that end: where their slots go, and what the agent is told.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <pingloom/pages.hpp>
#include <set>
#include <thread>

#include "client.h"
#include "pages/client/metric_table.h"
#include "pages/page_schema.h"

namespace pingloom::pages::test::removal_test {
namespace {

using namespace std::chrono_literals;
using client::Definition;
using client::Instant;
using client::MetricNumber;
using client::MetricTable;

Definition definition(const std::string& name, std::uint16_t slots = 1, bool own_line = false) {
  Definition made;
  made.name = name;
  made.slots = slots;
  made.own_line = own_line;
  made.schema_bytes = 30;
  if (slots == 0) made.form.kind = PINGLOOM_INFO;
  return made;
}

class MetricTableTest : public testing::Test {
 protected:
  std::optional<MetricNumber> add(const Definition& made) {
    table.sweep(now);
    if (!table.hasRoom(made, kMaxSchemaBytes)) return std::nullopt;
    return table.add(made);
  }
  std::size_t slotOf(MetricNumber number) const { return table.at(number).first; }
  // The names that the agent is told next, those that are removed with a minus.
  std::string tell() {
    std::string names;
    while (const auto news = table.news()) {
      names += (news->removed ? "-" : "+") + table.at(news->number).name;
      table.told();
    }
    return names;
  }

  MetricTable table;
  Instant now = std::chrono::steady_clock::now();
};

TEST_F(MetricTableTest, SlotsRestFromTheAgentsAnswerOn) {
  const auto old = *add(definition("old", 3));
  EXPECT_EQ(tell(), "+old");
  table.defined(old);
  table.remove(old, now);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.known(), 0u);
  EXPECT_EQ(tell(), "-old");
  now += 10 * MetricTable::kRest;  // the agent does not answer
  EXPECT_EQ(slotOf(*add(definition("a"))), 3u);
  table.forgotten(old, now);
  now += MetricTable::kRest - 1ms;
  EXPECT_EQ(slotOf(*add(definition("b"))), 4u);
  now += 1ms;
  EXPECT_EQ(slotOf(*add(definition("c", 2))), 0u) << "a part of it";
  EXPECT_EQ(slotOf(*add(definition("d"))), 2u);
  EXPECT_EQ(slotOf(*add(definition("e"))), 5u);
  EXPECT_EQ(tell(), "+a+b+c+d+e");
  EXPECT_GE(MetricTable::kRest, std::chrono::nanoseconds(PageSchema::kRest) + 10s);
}

TEST_F(MetricTableTest, TheAgentHearsOnlyOfWhatItKnows) {
  const auto never_told = *add(definition("never_told"));
  table.remove(never_told, now);
  EXPECT_EQ(tell(), "");
  const auto refused = *add(definition("refused"));
  EXPECT_EQ(tell(), "+refused");
  table.refused(refused, now);
  table.remove(refused, now);
  EXPECT_EQ(tell(), "");
  const auto asked = *add(definition("asked"));
  const auto asked_and_refused = *add(definition("other"));
  EXPECT_EQ(tell(), "+asked+other");
  table.remove(asked, now);
  table.remove(asked_and_refused, now);
  EXPECT_EQ(tell(), "") << "the answers decide";
  table.defined(asked);
  table.refused(asked_and_refused, now);
  EXPECT_EQ(tell(), "-asked");
  table.forgotten(asked, now);
  now += MetricTable::kRest;
  for (std::size_t slot = 0; slot < 4; ++slot) EXPECT_EQ(slotOf(*add(definition("n"))), slot);
}

TEST_F(MetricTableTest, ANewAgentHearsOfWhatIsLeft) {
  const auto known = *add(definition("known"));
  const auto leaves = *add(definition("leaves"));
  const auto left = *add(definition("left"));
  tell();
  for (const auto number : {known, leaves, left}) table.defined(number);
  table.remove(left, now);
  tell();
  table.forgotten(left, now);
  table.remove(leaves, now);
  EXPECT_EQ(tell(), "-leaves");
  table.startOver(now);
  EXPECT_EQ(table.known(), 0u);
  EXPECT_EQ(tell(), "+known");
  table.defined(known);
  EXPECT_EQ(table.known(), 1u);
  now += MetricTable::kRest;
  EXPECT_EQ(slotOf(*add(definition("a", 2))), 1u) << "both have rested, each once";
}

TEST_F(MetricTableTest, LinesAreNeverShared) {
  const auto alone = *add(definition("alone", 1, true));
  EXPECT_EQ(slotOf(alone), 0u);
  EXPECT_EQ(slotOf(*add(definition("next"))), 8u);
  EXPECT_EQ(slotOf(*add(definition("other", 9, true))), 16u);
  EXPECT_EQ(slotOf(*add(definition("gap", 7))), 9u);
  EXPECT_EQ(slotOf(*add(definition("behind"))), 32u);
  table.remove(alone, now);
  EXPECT_EQ(slotOf(*add(definition("early"))), 33u);
  now += MetricTable::kRest;
  EXPECT_EQ(slotOf(*add(definition("fills", 8))), 0u);
}

// A page has room for as many label sets a minute as it has slots, for ever.
TEST_F(MetricTableTest, LabelSetsThatComeAndGoNeedNoMoreRoom) {
  for (int i = 0; i < 10'000; ++i) {
    now += std::chrono::milliseconds(MetricTable::kRest) / 500;
    const auto number = add(definition("m"));
    ASSERT_TRUE(number) << i;
    ASSERT_EQ(tell(), "+m");
    table.defined(*number);
    table.remove(*number, now);
    ASSERT_EQ(tell(), "-m");
    table.forgotten(*number, now);
  }
  for (int i = 0; i < 1000; ++i) {
    const auto info = add(definition("i", 0));
    ASSERT_TRUE(info) << "infos have nothing that rests";
    table.remove(*info, now);
  }
}

TEST_F(MetricTableTest, WithoutAnAgentNothingIsKeptOfWhatIsGone) {
  for (int i = 0; i < 10'000; ++i) {
    const auto info = add(definition("build_info", 0));
    ASSERT_TRUE(info);
    table.remove(*info, now);
  }
  EXPECT_EQ(table.newsCount(), 0U);
  table.startOver(now);
  EXPECT_EQ(tell(), "");
}

TEST(Removal, AMetricThatIsMadeAgainIsANewOne) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  Client client(folder.socket());
  const auto before = client.counter("a");
  client.counter("b");
  pingloom_counter_add(before, 7);
  ASSERT_TRUE(client.settled());
  EXPECT_EQ(client.remove("a"), PINGLOOM_OK);
  EXPECT_EQ(client.remove("a"), PINGLOOM_NO_METRIC);
  EXPECT_STREQ(pingloom_error_text(), "a: there is no metric with these labels");
  EXPECT_EQ(client.remove("no name"), PINGLOOM_BAD_ARGUMENT);
  EXPECT_TRUE(eventually([&] { return agent.definitions() == 1; }));
  pingloom_counter_add(before, 1);  // by a thread that has not noticed
  const auto after = client.counter("a");
  EXPECT_NE(after.slot, before.slot);
  EXPECT_EQ(*after.slot, 0u);
  ASSERT_TRUE(client.settled());
  EXPECT_EQ(agent.definitions(), 2u);
  // Once all metrics of a name are gone, the name may be another kind's.
  EXPECT_EQ(client.remove("a"), PINGLOOM_OK);
  pingloom_metric metric{};
  metric.name = "a";
  pingloom_gauge gauge;
  EXPECT_EQ(pingloom_gauge_make(client, &metric, &gauge), PINGLOOM_OK);
  EXPECT_EQ(pingloom_metric_remove(nullptr, &metric), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(pingloom_metric_remove(client, nullptr), PINGLOOM_BAD_ARGUMENT);
}

TEST(Removal, ThreadsMayMakeUpdateAndRemoveAtOnce) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  Client client(folder.socket());
  constexpr int kThreads = 3;
  constexpr int kRounds = 300;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kRounds; ++i) {
        const std::string name = "m_" + std::to_string(thread) + "_" + std::to_string(i);
        const auto counter = client.counter(name);
        EXPECT_EQ(load(*counter.slot), 0u);
        pingloom_counter_add(counter, 1);
        EXPECT_EQ(client.remove(name), PINGLOOM_OK);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(client.status().metrics, 0u);
  EXPECT_TRUE(eventually([&] { return agent.definitions() == 0; }));
  EXPECT_LE(client.status().pages, 2u);
  EXPECT_EQ(client.status().refused, 0u);
  EXPECT_EQ(agent.connections(), 1u);
}

TEST(Removal, InCpp) {
  pingloom::Pages pages({"tested", {{"service", "shop"}}, "/nonexistent/pages.sock"});
  const pingloom::MetricOptions asked{"orders_total", "Orders.", {{"till", "7"}}};
  pages.sharedCounter(asked).add(3);
  EXPECT_EQ(pages.status().metrics, 1u);
  EXPECT_FALSE(pages.remove({"orders_total"}));
  EXPECT_TRUE(pages.lastError().empty());
  EXPECT_TRUE(pages.remove(asked));
  EXPECT_FALSE(pages.remove(asked));
  EXPECT_EQ(pages.status().metrics, 0u);
  EXPECT_FALSE(pages.remove({"no name"}));
  EXPECT_FALSE(pages.lastError().empty());
}

}  // namespace
}  // namespace pingloom::pages::test::removal_test
