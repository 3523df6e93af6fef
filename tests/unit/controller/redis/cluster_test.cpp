// What a Redis Cluster's servers say, and what is sent to which of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include "controller/model/grid_plan.h"
#include "controller/redis/key_updates.h"
#include "controller/redis/redirects.h"
#include "controller/redis/slot_table.h"
#include "unit/controller/support.h"

namespace pingloom::controller::cluster_test {
namespace {

using std::string_view;
using testing::ElementsAre;
using testing::HasSubstr;

// The error's text, or the table of a reply to CLUSTER SLOTS as it comes from the network.
std::string textOf(const std::string& reply, SlotTable* out = nullptr) {
  std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader(redisReaderCreate(),
                                                                  redisReaderFree);
  redisReaderFeed(reader.get(), reply.data(), reply.size());
  void* raw = nullptr;
  if (redisReaderGetReply(reader.get(), &raw) != REDIS_OK || raw == nullptr) return "incomplete";
  const RedisConnection::Reply held(static_cast<redisReply*>(raw));
  auto table = readSlotTable(*held, {"10.0.0.1", 7000});
  if (!table) return table.error().text();
  std::string text;
  for (const ClusterMaster& master : table->masters) {
    text += master.server.text() + "=" + std::to_string(master.slots.count()) + " ";
  }
  if (out != nullptr) *out = std::move(*table);
  return text;
}

std::string range(int first, int last, const std::string& host, int port) {
  return "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) + "\r\n*2\r\n" + host +
         ":" + std::to_string(port) + "\r\n";
}

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

TEST(RedisSlots, AreThoseOfTheSpecification) {
  EXPECT_EQ(slotOf("123456789"), 0x31C3U);
  EXPECT_EQ(slotOf("foo"), 12'182U);
  EXPECT_EQ(slotOf(""), 0U);
}

TEST(RedisSlots, TheTableSaysWhoHasWhat) {
  SlotTable table;
  EXPECT_EQ(textOf("*3\r\n" + range(0, 99, bulk("10.0.0.2"), 7001) +
                       range(200, 16'383, bulk("fd00::3"), 7002) +
                       range(100, 149, bulk("10.0.0.2"), 7001),
                   &table),
            "10.0.0.2:7001=150 [fd00::3]:7002=16184 ");
  EXPECT_EQ(table.withoutMaster(), 50U);
  EXPECT_EQ(table.of(149)->server.port, 7001);
  EXPECT_EQ(table.of(150), nullptr);
  EXPECT_EQ(table.of(200)->server.host, "fd00::3");
  // A server that does not say its host has the one that was asked.
  EXPECT_EQ(textOf("*1\r\n" + range(0, 0, "$-1\r\n", 7001)), "10.0.0.1:7001=1 ");
  EXPECT_EQ(textOf("*1\r\n" + range(0, 0, bulk(""), 7001)), "10.0.0.1:7001=1 ");
}

TEST(RedisSlots, AnswersThatAreNoTable) {
  const std::string host = bulk("10.0.0.2");
  const struct {
    std::string reply;
    const char* reason;
  } cases[] = {
      {"+OK\r\n", "does not answer with a list"},
      {"*0\r\n", "knows no master"},
      {"*1\r\n:7\r\n", "malformed"},
      {"*1\r\n*2\r\n:0\r\n:1\r\n", "malformed"},
      {"*1\r\n*3\r\n$1\r\n0\r\n:1\r\n*2\r\n" + host + ":1\r\n", "malformed"},
      {"*1\r\n" + range(-1, 5, host, 1), "no range"},
      {"*1\r\n" + range(6, 5, host, 1), "no range"},
      {"*1\r\n" + range(0, 16'384, host, 1), "no range"},
      {"*1\r\n" + range(0, 5, host, 0), "no address"},
      {"*1\r\n" + range(0, 5, host, 65'536), "no address"},
      {"*1\r\n" + range(0, 5, bulk("?"), 1), "no address"},
      {"*1\r\n" + range(0, 5, bulk("a b"), 1), "no address"},
      {"*1\r\n" + range(0, 5, bulk(std::string(256, 'a')), 1), "no address"},
      {"*1\r\n" + range(0, 5, ":7\r\n", 1), "no address"},
      {"*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n" + host, "no address"},
      {"*2\r\n" + range(0, 5, host, 1) + range(5, 9, host, 2), "slot 5 has two masters"},
  };
  for (const auto& [reply, reason] : cases) {
    EXPECT_THAT(textOf(reply), HasSubstr(reason)) << reply;
  }
  std::string many;
  for (int i = 0; i < 65; ++i) many += range(i, i, host, 1 + i);
  EXPECT_THAT(textOf("*65\r\n" + many), HasSubstr("more than 64 masters"));
}

TEST(RedisRedirects, SayWhereTo) {
  const auto text = [](string_view error) -> std::string {
    const auto redirect = parseRedirect(error, "10.0.0.1");
    return redirect ? (redirect->ask ? "ask " : "moved ") + redirect->server.text() : "";
  };
  EXPECT_EQ(text("MOVED 3999 10.0.0.2:6381"), "moved 10.0.0.2:6381");
  EXPECT_EQ(text("ASK 16383 fd00::1:6381"), "ask [fd00::1]:6381");
  EXPECT_EQ(text("MOVED 0 :6381"), "moved 10.0.0.1:6381");
  for (const char* none :
       {"ERR no", "MOVED", "MOVED ", "MOVED 1", "MOVED x 10.0.0.2:1", "MOVED 16384 10.0.0.2:1",
        "MOVED 1 10.0.0.2", "MOVED 1 10.0.0.2:0", "MOVED 1 10.0.0.2:65536", "ASKING 1 a:1"}) {
    EXPECT_EQ(text(none), "") << none;
  }
  EXPECT_EQ(text("MOVED 1 " + std::string(300, 'a') + ":1"), "");
}

TEST(RedisRedirects, CommandsFromMultiToExecAreOneUnit) {
  Commands commands;
  commands.add(string_view("SADD"), string_view("set"), string_view("MULTI"));
  commands.add(string_view("MULTI"));
  commands.add(string_view("DEL"), string_view("hash"));
  commands.add(string_view("HSET"), string_view("hash"), string_view("a\r\n*1"), string_view(""));
  commands.add(string_view("EXEC"));
  commands.add(string_view("DEL"), string_view("last"));
  const auto units = unitsOf(commands.bytes());
  ASSERT_EQ(units.size(), 3U);
  EXPECT_EQ(units[0].key, "set");
  EXPECT_EQ(units[1].key, "hash");
  EXPECT_EQ(units[1].first, 1U);
  EXPECT_EQ(units[1].count, 4U);
  EXPECT_EQ(units[2].first, 5U);
  EXPECT_EQ(std::string(units[0].bytes) + std::string(units[1].bytes) + std::string(units[2].bytes),
            commands.bytes());
}

TEST(RedisCommands, LeaveOutKeysInOtherSlots) {
  SlotSet slots;
  slots.set(slotOf("mine"));
  Commands commands;
  commands.keepOnly(&slots);
  commands.add(string_view("HSET"), string_view("theirs"), string_view("a"), string_view("b"));
  commands.add(string_view("MULTI"));
  commands.add(string_view("HSET"), string_view("mine"), string_view("theirs"), std::uint64_t{7});
  commands.add(string_view("DEL"), string_view("theirs"));
  commands.add(string_view("EXEC"));
  Commands wanted;
  wanted.add(string_view("MULTI"));
  wanted.add(string_view("HSET"), string_view("mine"), string_view("theirs"), std::uint64_t{7});
  wanted.add(string_view("EXEC"));
  EXPECT_EQ(commands.bytes(), wanted.bytes());
  EXPECT_EQ(commands.count(), 3U);
  EXPECT_TRUE(commands.takes("mine"));
  EXPECT_FALSE(commands.takes("theirs"));
}

// The key of a source's rows and the index are at different masters. The one with the index has to
// learn as well that a controller has taken a source over.
TEST(RedisCommands, AMasterWithTheIndexGetsItWhereverTheRowsAre) {
  const auto plan = makeGridPlan(
      test::pinglistOf("  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-2]'] }\n"), 1);
  auto rows = std::make_shared<SourceRows>();
  rows->window = 10 * kSecond;
  rows->reported_utc = 1'000 * kHour;
  rows->rows.resize(2);
  Row row;
  row.sent = row.received = 10;
  rows->rows.set(1, row);
  auto snapshot = std::make_shared<SourceSnapshot>();
  snapshot->rows = rows;
  snapshot->states = {std::nullopt, PairState::kOk};
  snapshot->here = true;
  SlotSet index;
  index.set(slotOf(RedisKeys::kProbesKey));
  index.set(slotOf(RedisKeys::sourcesKey("udp")));
  ASSERT_FALSE(index.test(slotOf(RedisKeys::latestKey("udp", "10.0.0.1"))));

  RedisKeys keys(true);
  keys.forget(plan);
  Commands out;
  out.keepOnly(&index);
  EXPECT_EQ(keys.writeSource(0, 0, snapshot, rows->reported_utc, out), 0U);
  std::vector<std::string> written;
  for (const CommandUnit& unit : unitsOf(out.bytes())) written.emplace_back(unit.key);
  EXPECT_THAT(written, ElementsAre("pingloom:probes", "pingloom:sources:udp"));
  out.clear();
  EXPECT_EQ(keys.writeSource(0, 0, snapshot, rows->reported_utc, out), 0U);
  EXPECT_EQ(out.count(), 0U) << "once";
}

}  // namespace
}  // namespace pingloom::controller::cluster_test
