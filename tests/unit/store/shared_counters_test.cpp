#include "store/shared_counters.h"

#include "store/counter_table.h"
#include "store/writer_status.h"
#include "store_support.h"

namespace pingloom::store::shared_counters_test {
namespace {

using test::Bytes;
using test::numberKey;

Head sharedHead() {
  TableSpec spec;
  spec.kind = TableKind::kCounters;
  spec.id = 1;
  spec.name = "votes";
  spec.counters = 1000;
  spec.shared = true;
  return *layOut({spec}, 0);
}

// A store's file, and a writer that adds to it.
struct Shared {
  // Carries out at most `most` additions, and returns what takeSums() does.
  bool flush(SharedCounterWriter& writer, int most = INT_MAX) {
    return writer.takeSums([&](std::uint64_t offset, std::uint64_t amount) {
      if (most-- == 0) return false;
      const auto place = std::span(file).subspan(offset, kCounterBytes);
      putLittle(place, 0, getLittle<std::uint64_t>(place, 0) + amount);
      return true;
    });
  }
  std::unique_ptr<SharedCounterWriter> writerWith(Bytes& content) const {
    content.assign(table.bytes, 0);
    return *SharedCounterWriter::create(table, 0, content);
  }
  std::uint64_t count(std::uint64_t key) const {
    return countKey(table, std::span(file).subspan(table.offset, table.bytes), numberKey(key));
  }
  std::uint64_t total() const { return getLittle<std::uint64_t>(std::span(file), totalOffset(0)); }

  Head head = sharedHead();
  Table table = head.tables.front();
  Bytes file = Bytes(head.bytes);
};

TEST(SharedCounters, SeveralWritersAddToTheSameCounters) {
  Shared shared;
  Bytes one_bytes;
  Bytes two_bytes;
  const auto one = shared.writerWith(one_bytes);
  const auto two = shared.writerWith(two_bytes);
  for (int round = 0; round < 3; ++round) {
    one->add(numberKey(1), 5);
    one->add(numberKey(1), 5);
    two->add(numberKey(1), 7);
    two->add(numberKey(2), 1);
    EXPECT_TRUE(one->hasDirty());
    EXPECT_TRUE(shared.flush(*one));
    EXPECT_FALSE(one->hasDirty());
    EXPECT_TRUE(shared.flush(*two));
  }
  EXPECT_EQ(shared.count(1), 51U);
  EXPECT_EQ(shared.count(2), 3U);
  EXPECT_EQ(shared.total(), 54U);
}

TEST(SharedCounters, WhatIsRefusedStaysAndNothingLeavesTwice) {
  Shared shared;
  Bytes bytes;
  const auto writer = shared.writerWith(bytes);
  for (std::uint64_t key = 0; key < 50; ++key) writer->add(numberKey(key), key + 1);
  int rounds = 0;
  while (!shared.flush(*writer, 7)) ++rounds;
  EXPECT_GT(rounds, 5);
  EXPECT_FALSE(writer->hasDirty());
  EXPECT_EQ(shared.total(), 50U * 51 / 2);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < shared.table.units; ++i) {
    sum +=
        getLittle<std::uint64_t>(std::span(shared.file), shared.table.offset + i * kCounterBytes);
  }
  EXPECT_EQ(sum, shared.total()) << "each increment is in one counter of the row";
}

TEST(SharedCounters, SumsThatMayBeLostAreAddedAgain) {
  Shared shared;
  Bytes bytes;
  const auto writer = shared.writerWith(bytes);
  writer->add(numberKey(1), 9);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> lost;
  EXPECT_TRUE(writer->takeSums([&](std::uint64_t offset, std::uint64_t amount) {
    lost.emplace_back(offset, amount);
    return true;
  }));
  EXPECT_EQ(lost.size(), 3U) << "two rows and the total";
  writer->add(numberKey(1), 1);
  for (const auto& [offset, amount] : lost) writer->sendAgain(offset, amount);
  EXPECT_TRUE(shared.flush(*writer));
  EXPECT_EQ(shared.count(1), 10U);
  EXPECT_EQ(shared.total(), 10U);
}

TEST(SharedCounters, AHeadHasOnlySharedTablesOrNone) {
  Head head = sharedHead();
  EXPECT_TRUE(checkHead(head));
  EXPECT_TRUE(head.isShared());
  EXPECT_EQ(decodeHead(encodeHead(head)), head);
  head.tables.front().top_keys = 1;
  EXPECT_FALSE(checkHead(head));
  TableSpec mine{TableKind::kCounters, 2, "mine"};
  mine.counters = 10;
  TableSpec theirs = mine;
  theirs.id = 1;
  theirs.name = "theirs";
  theirs.shared = true;
  EXPECT_FALSE(layOut({mine, theirs}, 0));
  TableSpec keyed = test::keyedSpec("latest", 1, 10, 8);
  keyed.shared = true;
  EXPECT_FALSE(layOut({keyed}, 0));
}

TEST(SharedCounters, TheStatusHasATimeAndTotals) {
  Shared shared;
  const auto status = [&] {
    return decodeSharedStatus(std::span(shared.file).subspan(kStatusOffset, kStatusBytes));
  };
  EXPECT_FALSE(status()) << "nobody has written";
  putLittle<std::uint64_t>(std::span(shared.file), kBeatOffset, 77);
  putLittle<std::uint64_t>(std::span(shared.file), totalOffset(0), 5);
  ASSERT_TRUE(status());
  EXPECT_EQ(status()->utc, 77);
  EXPECT_EQ(status()->tables[0].total, 5U);
  putLittle<std::uint64_t>(std::span(shared.file), kBeatOffset, ~std::uint64_t{0});
  EXPECT_FALSE(status());
}

}  // namespace
}  // namespace pingloom::store::shared_counters_test
