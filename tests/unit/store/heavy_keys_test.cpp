#include "store/heavy_keys.h"

#include <cmath>
#include <map>

#include "store/counter_table.h"
#include "store/key_text.h"
#include "store_support.h"

namespace pingloom::store::heavy_keys_test {
namespace {

using test::Bytes;
using test::numberKey;

constexpr std::uint64_t kSeed = 0x5eed;

TopKey topKey(const Bytes& key, std::uint64_t count, std::uint64_t error = 0) {
  TopKey made;
  made.size = static_cast<std::uint8_t>(key.size());
  std::copy(key.begin(), key.end(), made.memory.begin());
  made.count = count;
  made.error = error;
  return made;
}

// The list beside exact counts, and estimates that are too large as a sketch's are.
struct Model {
  explicit Model(std::size_t most, std::uint64_t noise) : list(most), excess(noise) {}
  void add(std::uint64_t number, std::uint64_t amount) {
    const Bytes key = numberKey(number);
    exact[key] += amount;
    total += amount;
    const std::uint64_t estimate = exact[key] + number * 7919 % (excess + 1);
    if (list.wants(estimate)) list.add(hashKey(key, kSeed), key, amount, estimate);
  }
  std::map<Bytes, TopKey> keys() const {
    std::map<Bytes, TopKey> found;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const TopKey one = list.at(i);
      EXPECT_TRUE(found.emplace(Bytes(one.key().begin(), one.key().end()), one).second);
    }
    return found;
  }
  // What the algorithm promises.
  void check(std::size_t most) const {
    const auto found = keys();
    for (const auto& [key, count] : exact) {
      const auto one = found.find(key);
      if (one == found.end()) {
        EXPECT_LE(count, total / most) << "a key with more has to be in the list";
        continue;
      }
      EXPECT_GE(one->second.count, count);
      EXPECT_LE(one->second.count - one->second.error, count);
    }
  }

  HeavyKeys list;
  const std::uint64_t excess;
  std::map<Bytes, std::uint64_t> exact;
  std::uint64_t total = 0;
};

TEST(HeavyKeys, AreExactWhileThereIsRoom) {
  Model model(8, 0);
  for (std::uint64_t key = 1; key <= 8; ++key) model.add(key, key);
  for (std::uint64_t key = 1; key <= 8; ++key) model.add(key, 10);
  for (const auto& [key, one] : model.keys()) {
    EXPECT_EQ(one.count, model.exact.at(key));
    EXPECT_EQ(one.error, 0U);
  }
}

TEST(HeavyKeys, ANewKeyTakesThePlaceOfTheLeastCounted) {
  Model model(2, 0);
  model.add(1, 5);
  model.add(2, 3);
  EXPECT_FALSE(model.list.wants(3)) << "no key of the list has less";
  model.add(3, 2);
  EXPECT_EQ(model.keys().count(numberKey(3)), 0U) << "2 is not more than 3";
  model.add(3, 2);
  const auto keys = model.keys();
  EXPECT_EQ(keys.count(numberKey(2)), 0U);
  EXPECT_EQ(keys.at(numberKey(3)), topKey(numberKey(3), 4, 2));
  EXPECT_EQ(keys.at(numberKey(1)).count, 5U);
}

TEST(HeavyKeys, SurviveAmountsOfAllSizes) {
  HeavyKeys list(1);
  const auto add = [&](std::uint64_t number, std::uint64_t amount, std::uint64_t estimate) {
    list.add(hashKey(numberKey(number), kSeed), numberKey(number), amount, estimate);
  };
  add(1, 0, 0);
  EXPECT_EQ(list.size(), 0U);
  add(1, UINT64_MAX, UINT64_MAX);
  add(1, 1, UINT64_MAX);
  EXPECT_EQ(list.at(0).count, UINT64_MAX);
  EXPECT_FALSE(list.wants(UINT64_MAX));
  EXPECT_FALSE(HeavyKeys(0).wants(UINT64_MAX));
}

// Random streams: the promises hold after each part of a stream, with few keys and many, with the
// same amounts and with different ones, and however much the estimates are too large.
TEST(HeavyKeys, KeepWhatTheAlgorithmPromises) {
  std::mt19937_64 random(22);
  for (const std::size_t most : {1U, 3U, 64U, 1024U}) {
    for (const std::uint64_t noise : {0U, 40U, 100'000U}) {
      Model model(most, noise);
      const double spread = 6.0 + static_cast<double>(random() % 6);
      for (int part = 0; part < 3; ++part) {
        const std::uint64_t shift = random() % 3 * 1000;  // other keys become frequent
        for (int i = 0; i < 20'000; ++i) {
          const double power = static_cast<double>(random() % 10'000) / 10'000 * spread;
          const auto key = static_cast<std::uint64_t>(std::exp(power)) + shift;
          model.add(key, random() % 16 == 0 ? 1 + random() % 1000 : 1);
        }
        model.check(most);
      }
    }
  }
}

TEST(HeavyKeys, GoOnFromWhatAnEarlierWriterLeft) {
  HeavyKeys list(2);
  for (const std::uint64_t number : {1U, 1U, 2U, 3U}) {
    list.restore(hashKey(numberKey(number), kSeed), topKey(numberKey(number), 10 * number, 1));
  }
  ASSERT_EQ(list.size(), 2U) << "a key that is there twice, and one without room";
  list.add(hashKey(numberKey(2), kSeed), numberKey(2), 5, 100);
  EXPECT_EQ(list.at(1), topKey(numberKey(2), 25, 1));
  EXPECT_FALSE(list.wants(10));
  list.clear();
  EXPECT_EQ(list.size(), 0U);
  EXPECT_TRUE(list.wants(1));
}

// ---- the store ----

Table votes(std::uint64_t counters) {
  TableSpec spec;
  spec.kind = TableKind::kCounters;
  spec.id = 1;
  spec.name = "votes";
  spec.counters = counters;
  Table table = layOut({spec}, 0)->tables.front();
  table.seed = kSeed;
  return table;
}

TEST(TopKeys, AnEntryIsReadOnlyIfItIsSound) {
  const Table table = votes(10);
  const TopKey key = topKey(test::bytesOf("a key of text"), 12, 3);
  const TopKeyEntry entry = encodeTopKey(table, key);
  EXPECT_EQ(decodeTopKey(table, entry), key);
  EXPECT_FALSE(decodeTopKey(table, TopKeyEntry{}));
  for (std::size_t i = 0; i < entry.size(); ++i) {
    TopKeyEntry damaged = entry;
    damaged[i] ^= 0x20;
    EXPECT_FALSE(decodeTopKey(table, damaged)) << i;
  }
  Table other = table;
  ++other.seed;
  EXPECT_FALSE(decodeTopKey(other, entry));
}

TEST(TopKeys, ArePublishedAndReadBack) {
  const Table table = votes(1000);
  Bytes content(table.bytes);
  Bytes store(table.bytes);
  const auto flush = [&](CounterWriter& writer) {
    std::size_t blocks = 0;
    writer.takeDirty([&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
      const auto at = static_cast<std::ptrdiff_t>(offset - table.offset);
      std::copy(bytes.begin(), bytes.end(), store.begin() + at);
      ++blocks;
      return true;
    });
    return blocks;
  };
  auto writer = std::move(*CounterWriter::create(table, content));
  writer->add(numberKey(1), 5);
  writer->add(numberKey(2), 7);
  flush(*writer);
  EXPECT_TRUE(readTopKeys(table, store).empty());
  writer->publishKeys();
  EXPECT_EQ(flush(*writer), 1U) << "only the block of the keys has changed";
  writer->publishKeys();
  EXPECT_FALSE(writer->hasDirty());
  const std::vector<TopKey> expected = {topKey(numberKey(1), 5), topKey(numberKey(2), 7)};
  EXPECT_EQ(readTopKeys(table, store), expected);

  content = store;
  writer = std::move(*CounterWriter::create(table, content));
  writer->add(numberKey(1), 1);
  writer->publishKeys();
  EXPECT_EQ(readTopKeys(table, content).front(), topKey(numberKey(1), 6));
}

TEST(TopKeys, TablesWithoutRoomForThemHaveNone) {
  TableSpec spec;
  spec.kind = TableKind::kCounters;
  spec.id = 1;
  spec.name = "votes";
  spec.counters = 1000;
  Head head = *layOut({spec}, 0);
  head.tables[0].top_keys = 0;
  ASSERT_TRUE(decodeHead(encodeHead(head)));
  Bytes content(head.tables[0].bytes);
  const auto writer = std::move(*CounterWriter::create(head.tables[0], content));
  writer->add(numberKey(1), 5);
  writer->publishKeys();
  EXPECT_TRUE(readTopKeys(head.tables[0], content).empty());
  EXPECT_EQ(countKey(head.tables[0], content, numberKey(1)), 5U);
  // Tables that claim more keys than they have room for are refused.
  head.tables[0].top_keys = kMaxTopKeys;
  EXPECT_TRUE(checkHead(head));
  head.tables[0].bytes -= kPageBytes;
  EXPECT_FALSE(checkHead(head));
  head.tables[0].bytes += kPageBytes;
  head.tables[0].top_keys = kMaxTopKeys + 1;
  EXPECT_FALSE(checkHead(head));
}

TEST(KeyText, CanBeReadBack) {
  for (const char* text :
       {"text:db-7", "text: a, b ", "u32:17", "u32:4294967295", "hex:00", "hex:00ff7f",
        "tuple:10.0.0.1:49152>10.0.1.1:4791/udp", "tuple:[fd00::1]:1>[fd00::2]:4791/6"}) {
    const auto key = parseKey(text);
    ASSERT_TRUE(key) << text;
    const std::string shown = keyText(*key);
    EXPECT_EQ(*parseKey(shown), *key) << shown;
    if (shown.starts_with("tuple:[")) continue;  // the protocol has a name
    EXPECT_EQ(shown, text);
  }
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) {
    Bytes key(1 + random() % kMaxKeyBytes);
    for (auto& byte : key) byte = static_cast<std::uint8_t>(random() >> (i % 3 == 0 ? 27 : 0));
    EXPECT_EQ(*parseKey(keyText(key)), key) << keyText(key);
  }
  EXPECT_EQ(keyText(Bytes(38, 0xff)), "hex:" + std::string(76, 'f'));
}

}  // namespace
}  // namespace pingloom::store::heavy_keys_test
