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

struct Lists {
  explicit Lists(const Table& table)
      : content(table.bytes), store(table.bytes), writer(*ListWriter::create(table, content)) {}

  void flush() {
    writer->takeDirty([&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
      for (std::size_t i = 0; i < bytes.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, 8);
        auto* const to = store.data() + (offset - writer->table().offset) + i;
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), word, __ATOMIC_RELAXED);
      }
      return true;
    });
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

  Bytes content;
  Bytes store;
  std::unique_ptr<ListWriter> writer;
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

TEST(List, ARestartedWriterGoesOnBehindItsLastBlock) {
  const Table table = listTable(2, 8);
  Lists before(table);
  for (std::uint64_t number = 0; number < 300; ++number) {
    before.writer->append(0, numberKey(number));
  }
  before.flush();
  Bytes content = before.store;
  const auto writer = std::move(*ListWriter::create(table, content));
  writer->append(0, numberKey(1000));
  writer->append(1, numberKey(2000));
  before.store = content;
  std::vector<std::uint64_t> got;
  EXPECT_EQ(before.read(0, {}, got).lost, 0U);
  ASSERT_EQ(got.size(), 301U);
  EXPECT_EQ(got.back(), 1000U);
  got.clear();
  before.read(1, {}, got);
  EXPECT_EQ(got, (std::vector<std::uint64_t>{2000}));
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
