#include <gtest/gtest.h>

#include "taken.h"

namespace pingloom::translator::published_intake_test {
namespace {

using test::kRemote;
using test::Taken;
using wire::ReportRefusal;

using Packet = std::vector<std::uint8_t>;

PublishedSpec spec() {
  PublishedSpec made;
  made.tables[0] = "latest";
  return made;
}

// A key-write of `words` words, with a sequence or without one.
Packet keyWrite(std::size_t words, int sequence = -1) {
  Packet packet = {1};
  if (sequence >= 0) packet.push_back(static_cast<std::uint8_t>(sequence));
  packet.insert(packet.end(), {0, 2, 'k', 'e', 'y', 's'});
  for (std::size_t i = 0; i < words; ++i) packet.insert(packet.end(), {'w', 'o', 'r', 'd'});
  return packet;
}

TEST(PublishedIntake, TakesKeyWritesOfAllLengths) {
  PublishedSources sources(spec());
  for (const std::size_t words : {1, 3, 7}) {
    for (const int sequence : {-1, 5}) {
      Taken taken;
      taken.takePublished(keyWrite(words, sequence), sources);
      EXPECT_EQ(taken.newlyAccepted(), 1U) << words;
      EXPECT_EQ(taken.valueOf("keys").substr(0, 4), "word");
    }
  }
  Taken taken;
  taken.takePublished(keyWrite(2), sources);
  taken.takePublished({}, sources);
  EXPECT_EQ(taken.refused(ReportRefusal::kLength), 2U);
  EXPECT_EQ(taken.counters().published, 2U);
}

TEST(PublishedIntake, RefusesOperationsWithoutATable) {
  PublishedSources sources(spec());
  Taken taken;
  const std::vector<Packet> others = {Packet(10, 2), Packet(11, 2), Packet(11, 4), Packet(12, 4)};
  for (const Packet& packet : others) taken.takePublished(packet, sources);
  for (const std::size_t bytes : {15, 16}) {  // increments of 0
    Packet packet(bytes, 0);
    packet[0] = 3;
    taken.takePublished(packet, sources);
  }
  EXPECT_EQ(taken.refused(ReportRefusal::kUnknownTable), 6U);
  taken.takePublished(Packet(11, 9), sources);
  EXPECT_EQ(taken.refused(ReportRefusal::kOperation), 1U);
}

TEST(PublishedIntake, TablesAreFoundByNumberToo) {
  auto numbered = spec();
  numbered.tables = {"7", "latest", "none", ""};
  PublishedSources sources(numbered);
  Taken taken;
  taken.takePublished(keyWrite(1), sources);
  EXPECT_EQ(taken.newlyAccepted(), 1U);
  taken.takePublished(Packet(10, 2), sources);  // an append for a table of another kind
  EXPECT_EQ(taken.refused(ReportRefusal::kWrongTable), 1U);
}

TEST(PublishedIntake, ServesOnlyItsSources) {
  auto open = spec();
  PublishedSources closed(open);
  Taken taken;
  taken.takePublished(keyWrite(1), closed, kRemote);
  EXPECT_EQ(taken.refused(ReportRefusal::kUnknownReporter), 1U);
  EXPECT_TRUE(open.addresses.add("10.0.0.0/8"));
  PublishedSources sources(open);
  taken.takePublished(keyWrite(1), sources, kRemote);
  EXPECT_EQ(taken.newlyAccepted(), 1U);
}

TEST(PublishedIntake, CountsWhatIsLost) {
  PublishedSources sources(spec());
  Taken taken;
  const auto lostAfter = [&](int sequence, const SocketAddress& source = test::kLoopback) {
    const std::uint64_t before = taken.counters().published_lost;
    taken.takePublished(keyWrite(1, sequence), sources, source);
    return taken.counters().published_lost - before;
  };
  EXPECT_EQ(lostAfter(250), 0U) << "what came before is not known";
  EXPECT_EQ(lostAfter(251), 0U);
  EXPECT_EQ(lostAfter(254), 2U);
  EXPECT_EQ(lostAfter(252), 0U) << "it was counted already";
  EXPECT_EQ(lostAfter(254), 0U);
  EXPECT_EQ(lostAfter(2), 3U) << "it wraps";
  EXPECT_EQ(lostAfter(7, {IpAddress::fromV4(0x7f000002), 1}), 0U) << "another source";
  EXPECT_EQ(lostAfter(3), 0U);
  for (std::uint32_t i = 0; i < 2 * PublishedSources::kMaxSources; ++i) {
    sources.lostBefore(IpAddress::fromV4(0x7f010000 + i), 0);
  }
  EXPECT_EQ(sources.lostBefore(IpAddress::fromV4(0x7f010000), 9), 8U);
  EXPECT_EQ(sources.lostBefore(IpAddress::fromV4(0x7f011fff), 9), 0U) << "too many sources";
}

}  // namespace
}  // namespace pingloom::translator::published_intake_test
