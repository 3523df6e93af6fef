#include <atomic>
#include <deque>

#include "store/list_block.h"
#include "store/list_reader.h"
#include "store/list_writer.h"
#include "store_support.h"

namespace pingloom::store::list_test {
namespace {

using test::Bytes;
using test::numberKey;

Table listTable(std::uint32_t lists, std::uint64_t blocks, std::uint32_t entry_bytes = 8) {
  TableSpec spec;
  spec.kind = TableKind::kLists;
  spec.id = 1;
  spec.name = "events";
  spec.lists = lists;
  spec.blocks = blocks;
  spec.value_bytes = entry_bytes;
  return layOut({spec}, 0)->tables.front();
}

// A writer and the store that its WRITEs go to. Those that have not arrived are in flight.
struct Lists {
  explicit Lists(const Table& table, std::size_t blocks = 0)
      : pool((blocks != 0 ? blocks : std::size_t{table.lists} * ListWriter::kMaxHeld) *
             kBlockBytes),
        store(table.bytes),
        writer(*ListWriter::create(table, pool)) {}

  // Sends at most so many blocks.
  void send(std::size_t most = SIZE_MAX, ListFlush which = ListFlush::kAllBlocks) {
    writer->takeDirty(which, [&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
      if (most-- == 0) return false;
      in_flight.emplace_back(offset - writer->table().offset, bytes);
      return true;
    });
  }
  // Lets the oldest `most` WRITEs arrive.
  void arrive(std::size_t most = SIZE_MAX) {
    for (; most > 0 && !in_flight.empty(); --most) {
      copy(in_flight.front().first, in_flight.front().second);
      writer->arrived(in_flight.front().second);
      in_flight.pop_front();
    }
  }
  // The endpoint fails. Some of the WRITEs had arrived, but nobody knows.
  void fail(std::size_t arrived) {
    for (std::size_t i = 0; i < in_flight.size(); ++i) {
      if (i < arrived) copy(in_flight[i].first, in_flight[i].second);
      writer->failed(in_flight[i].second);
    }
    in_flight.clear();
  }
  void flush() {
    send();
    arrive();
  }
  // Another writer takes over, after some of the WRITEs have arrived.
  void restart(std::size_t arrived = 0) {
    for (std::size_t i = 0; i < std::min(arrived, in_flight.size()); ++i) {
      copy(in_flight[i].first, in_flight[i].second);
    }
    in_flight.clear();
    const Table table = writer->table();
    writer = std::move(*ListWriter::create(table, pool));
    for (std::size_t at = 0; at < store.size(); at += kBlockBytes) {
      writer->saw(at, std::span(store).subspan(at, kBlockBytes));
    }
  }
  void copy(std::uint64_t at, std::span<const std::uint8_t> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, 8);
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(store.data() + at + i), word,
                       __ATOMIC_RELAXED);
    }
  }
  // Reads on and appends the numbers to `got`.
  Tail read(std::uint32_t list, ListCursor from, std::vector<std::uint64_t>& got,
            std::size_t most = 1'000'000) const {
    return readTail(writer->table(), store, list, from, most,
                    [&](std::span<const std::uint8_t> entry) {
                      std::uint64_t number = 0;
                      std::memcpy(&number, entry.data(), sizeof number);
                      got.push_back(number);
                    });
  }

  Bytes pool;
  Bytes store;
  std::unique_ptr<ListWriter> writer;
  std::deque<std::pair<std::uint64_t, std::span<const std::uint8_t>>> in_flight;
};

TEST(List, AnUnfinishedBlockIsReadAsItGrows) {
  Lists lists(listTable(2, 4));
  std::vector<std::uint64_t> got;
  EXPECT_EQ(lists.read(1, {}, got).next, ListCursor{});
  lists.writer->append(1, numberKey(7));
  lists.flush();
  Tail tail = lists.read(1, {}, got);
  lists.writer->append(1, numberKey(8));
  lists.flush();
  tail = lists.read(1, tail.next, got);
  EXPECT_EQ(got, (std::vector<std::uint64_t>{7, 8}));
  EXPECT_EQ(tail.lost, 0U);
  got.clear();
  lists.read(0, {}, got);
  EXPECT_TRUE(got.empty()) << "the other list";
}

// Against a deque: a reader gets every entry in order, or is told that it lost at least those that
// it did not get.
TEST(List, AgreesWithADequeUnderRandomAppendsFlushesAndReads) {
  for (const std::uint32_t entry_bytes : {8U, 16U, 100U, 240U}) {
    std::mt19937 random(entry_bytes);
    Lists lists(listTable(3, 8, entry_bytes));
    std::array<std::deque<std::uint64_t>, 3> unread;
    std::array<ListCursor, 3> cursors{};
    std::uint64_t next = 1;
    std::uint64_t given = 0;
    for (int step = 0; step < 4000; ++step) {
      const std::uint32_t list = random() % 3;
      for (unsigned i = random() % 40; i > 0; --i, ++next) {
        if (lists.writer->append(list, numberKey(next))) unread[list].push_back(next);
      }
      if (random() % 3 == 0) lists.flush();
      if (random() % 6 != 0) continue;
      lists.flush();
      std::vector<std::uint64_t> got;
      const Tail tail = lists.read(list, cursors[list], got, 1 + random() % 2000);
      cursors[list] = tail.next;
      EXPECT_EQ(tail.entries, got.size());
      std::uint64_t missed = 0;
      for (const std::uint64_t number : got) {
        for (; !unread[list].empty() && unread[list].front() != number; ++missed) {
          unread[list].pop_front();
        }
        ASSERT_FALSE(unread[list].empty()) << number << " was never appended, or is given twice";
        unread[list].pop_front();
      }
      EXPECT_LE(missed, tail.lost);
      EXPECT_TRUE(tail.lost > 0 || missed == 0);
      given += got.size();
    }
    EXPECT_GT(given, next / 10);
  }
}

TEST(List, NewestAndOldestAreFoundWhereverTheRingIs) {
  const Table table = listTable(1, 16, 240);  // four entries a block
  Lists lists(table);
  EXPECT_EQ(endOfList(table, lists.store, 0), ListCursor{});
  for (std::uint64_t number = 0; number < 400; ++number) {
    ASSERT_TRUE(lists.writer->append(0, numberKey(number)));
    lists.flush();
    const std::uint64_t newest = number / 4 + 1;
    const ListCursor end = endOfList(table, lists.store, 0);
    EXPECT_EQ(end, (ListCursor{newest, static_cast<std::uint16_t>(number % 4 + 1)}));
    const ListCursor begin = beginOfList(table, lists.store, 0);
    EXPECT_EQ(begin.sequence, newest > 14 ? newest - 14 : 1);
    std::vector<std::uint64_t> got;
    lists.read(0, begin, got);
    EXPECT_EQ(got.back(), number);
    EXPECT_EQ(got.front(), (begin.sequence - 1) * 4);
  }
}

TEST(List, AFullUnsentRingDropsNewEntries) {
  const Table table = listTable(1, 4, 240);
  Lists lists(table);
  std::uint64_t taken = 0;
  for (std::uint64_t number = 0; number < 30; ++number) {
    taken += lists.writer->append(0, numberKey(number)) ? 1 : 0;
  }
  EXPECT_EQ(taken, 16U);
  lists.flush();
  EXPECT_TRUE(lists.writer->append(0, numberKey(99)));
}

TEST(List, AnUnsentBlockKeepsItsPlaceInThePool) {
  const Table table = listTable(2, 100, 240);
  Lists lists(table, 3);  // one for each list, and one more
  for (std::uint64_t number = 0; number < 8; ++number) {
    EXPECT_TRUE(lists.writer->append(0, numberKey(number)));
  }
  EXPECT_FALSE(lists.writer->append(0, numberKey(8))) << "the last block is the other list's";
  EXPECT_TRUE(lists.writer->append(1, numberKey(9)));
  EXPECT_EQ(lists.writer->fullBlocks(), 2U);
  lists.send(SIZE_MAX, ListFlush::kFullBlocks);
  EXPECT_EQ(lists.in_flight.size(), 2U);
  EXPECT_TRUE(lists.writer->hasDirty());
  EXPECT_FALSE(lists.writer->append(0, numberKey(8))) << "they have not arrived";
  lists.arrive();
  EXPECT_TRUE(lists.writer->append(0, numberKey(8)));
  lists.flush();
  EXPECT_FALSE(lists.writer->hasDirty());
  std::vector<std::uint64_t> got;
  lists.read(0, {}, got);
  EXPECT_EQ(got, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(List, ARestartedWriterGoesOnBehindItsLastBlock) {
  Lists lists(listTable(2, 8));
  for (std::uint64_t number = 0; number < 300; ++number) {
    lists.writer->append(0, numberKey(number));
  }
  lists.flush();
  lists.restart();
  lists.writer->append(0, numberKey(1000));
  lists.writer->append(1, numberKey(2000));
  lists.flush();
  std::vector<std::uint64_t> got;
  EXPECT_EQ(lists.read(0, {}, got).lost, 0U);
  ASSERT_EQ(got.size(), 301U);
  EXPECT_EQ(got.back(), 1000U);
  got.clear();
  lists.read(1, {}, got);
  EXPECT_EQ(got, (std::vector<std::uint64_t>{2000}));
}

// A reader passes a block that a killed writer has left half written for good, and says so.
TEST(List, AnAbandonedBlockCountsAsLost) {
  for (const std::uint64_t torn : {1U, 3U, 16U, 20U}) {  // 16 is at the ring's first place
    Lists lists(listTable(1, 16, 240));
    std::uint64_t next = 0;
    const auto fill = [&](std::uint64_t blocks) {
      for (const std::uint64_t end = next + blocks * 4; next < end; ++next) {
        ASSERT_TRUE(lists.writer->append(0, numberKey(next)));
        lists.flush();
      }
    };
    fill(torn);
    ListCursor cursor{torn, 2};
    lists.store[torn % 16 * kBlockBytes + 300] ^= 1;
    lists.restart();
    std::vector<std::uint64_t> got;
    EXPECT_EQ(lists.read(0, cursor, got).next, cursor) << "it may still be written";
    fill(2);
    const Tail tail = lists.read(0, cursor, got);
    EXPECT_EQ(tail.lost, 2U) << torn;
    ASSERT_EQ(got.size(), 8U) << torn;
    EXPECT_EQ(got.front(), torn * 4);
    EXPECT_EQ(endOfList(lists.writer->table(), lists.store, 0), (ListCursor{torn + 2, 4})) << torn;
  }
}

// Against a deque, with everything that can happen to a writer: WRITEs that arrive late, endpoints
// that fail after some of them, and writers that are killed. A reader never sees an entry twice,
// out of order or a wrong one, and misses only what was dropped, was never written by a killed
// writer, or is counted as lost.
TEST(List, AgreesWithADequeWhenEndpointsFailAndWritersAreKilled) {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    std::mt19937 random(seed);
    Lists lists(listTable(2, 6 + seed * 5, 100), 12);
    std::array<std::deque<std::uint64_t>, 2> unread;
    std::array<ListCursor, 2> cursors{};
    std::uint64_t next = 1;
    std::uint64_t given = 0;
    std::uint64_t killed = 0;
    for (int step = 0; step < 20'000; ++step) {
      const std::uint32_t list = random() % 2;
      for (unsigned i = random() % 12; i > 0; --i, ++next) {
        if (lists.writer->append(list, numberKey(next))) unread[list].push_back(next);
      }
      const unsigned what = random() % 100;
      if (what < 40)
        lists.send(random() % 6, what < 10 ? ListFlush::kFullBlocks : ListFlush::kAllBlocks);
      if (what >= 20 && what < 60) lists.arrive(random() % 5);
      if (what == 60) lists.fail(random() % 4);
      if (what == 61) {
        lists.restart(random() % 4);
        ++killed;
      }
      if (what < 62 || what > 70) continue;
      std::vector<std::uint64_t> got;
      const Tail tail = lists.read(list, cursors[list], got, 1 + random() % 100);
      cursors[list] = tail.next;
      std::uint64_t missed = 0;
      for (const std::uint64_t number : got) {
        for (; !unread[list].empty() && unread[list].front() < number; ++missed) {
          unread[list].pop_front();
        }
        ASSERT_FALSE(unread[list].empty()) << number << " is given twice, seed " << seed;
        ASSERT_EQ(unread[list].front(), number) << "seed " << seed;
        unread[list].pop_front();
      }
      // What a killed writer has not written is missing without being counted.
      ASSERT_TRUE(killed != 0 || missed <= tail.lost) << "seed " << seed << ", step " << step;
      given += got.size();
    }
    EXPECT_GT(given, next / 4) << seed;
    EXPECT_GT(killed, 50U);
  }
}

TEST(List, AChangedBlockIsRefused) {
  Lists lists(listTable(1, 4));
  lists.writer->append(0, numberKey(5));
  lists.flush();
  const auto block = std::span(lists.store).subspan(kBlockBytes, kBlockBytes);  // sequence 1
  ASSERT_TRUE(readBlock(lists.writer->table(), block));
  for (const std::size_t at : {0, 8, 9, 10, 12, 16, 23}) {
    block[at] ^= 0x40;
    const auto head = readBlock(lists.writer->table(), block);
    EXPECT_FALSE(head.has_value()) << at;
    block[at] ^= 0x40;
  }
}

// One thread appends while another reads: no entry is given twice, out of order or torn, and none
// is missing without being counted.
TEST(List, AReaderFollowsAWriter) {
  constexpr std::uint64_t kEntries = 200'000;
  Lists lists(listTable(1, 64));
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (std::uint64_t number = 1; number <= kEntries; ++number) {
      while (!lists.writer->append(0, numberKey(number))) lists.flush();
      if (number % 50 == 0) lists.flush();
    }
    lists.flush();
    done = true;
  });
  ListCursor cursor;
  std::uint64_t last = 0;
  std::uint64_t missed = 0;
  std::uint64_t lost = 0;
  for (bool ended = false; !ended;) {
    ended = done;
    std::vector<std::uint64_t> got;
    const Tail tail = lists.read(0, cursor, got, 500);
    ended = ended && got.empty();
    cursor = tail.next;
    lost += tail.lost;
    for (const std::uint64_t number : got) {
      ASSERT_GT(number, last);
      missed += number - last - 1;
      last = number;
    }
  }
  writer.join();
  EXPECT_EQ(last, kEntries);
  EXPECT_LE(missed, lost);
}

}  // namespace
}  // namespace pingloom::store::list_test
