#include <atomic>
#include <cmath>
#include <set>

#include "store/hash.h"
#include "store/keyed_reader.h"
#include "store/little_endian.h"
#include "store/stamp.h"
#include "store/table_spec.h"
#include "store_support.h"

namespace pingloom::store::keyed_test {
namespace {

using test::Bytes;
using test::bytesOf;
using test::flush;
using test::keyedTable;
using test::numberKey;

// A writer with its copy, and the store that its flushes reach.
struct Keyed {
  explicit Keyed(const Table& table)
      : content(table.bytes), store(table.bytes), writer(*KeyedWriter::create(table, content)) {}
  std::optional<Value> get(const Bytes& key) const { return findKey(writer->table(), store, key); }

  Bytes content;
  Bytes store;
  std::unique_ptr<KeyedWriter> writer;
};

Bytes valueOf(std::uint64_t key, std::uint64_t version) {
  Bytes value(24);
  for (std::size_t i = 0; i < value.size(); ++i) {
    value[i] = static_cast<std::uint8_t>(mixBits(key * 1000 + version) >> (i % 8 * 8));
  }
  return value;
}

Bytes got(const std::optional<Value>& value) {
  return value ? Bytes(value->bytes().begin(), value->bytes().end()) : Bytes();
}

TEST(Keyed, AValueComesBackOnceItIsFlushed) {
  Keyed keyed(keyedTable(1000, 5));
  EXPECT_EQ(keyed.writer->place(bytesOf("a"), bytesOf("12345"), 9), Placed::kNew);
  EXPECT_FALSE(keyed.get(bytesOf("a")));
  EXPECT_EQ(flush(*keyed.writer, keyed.store), 1U);
  const auto value = keyed.get(bytesOf("a"));
  EXPECT_EQ(got(value), bytesOf("12345"));
  EXPECT_EQ(value->stamp, 9U);
  EXPECT_FALSE(keyed.get(bytesOf("b")));
  EXPECT_FALSE(keyed.get(bytesOf("ab")));
  EXPECT_EQ(flush(*keyed.writer, keyed.store), 0U);
  EXPECT_EQ(keyed.writer->place(bytesOf("a"), bytesOf("1"), 10), Placed::kUpdated);
  flush(*keyed.writer, keyed.store);
  EXPECT_EQ(got(keyed.get(bytesOf("a"))), (Bytes{'1', 0, 0, 0, 0}));  // padded
  EXPECT_EQ(keyed.writer->used(), 1U);
}

// Against a map: whatever is found is what was stored last, and only evicted keys are missing.
TEST(Keyed, AgreesWithAMapUnderRandomPutsAndFlushes) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::mt19937_64 random(seed);
    Keyed keyed(keyedTable(4096));
    std::map<std::uint64_t, std::uint64_t> latest;  // key to version
    std::uint64_t evictions = 0;
    for (std::uint64_t i = 0; i < 30'000; ++i) {
      const std::uint64_t key = random() % 3072;
      const auto stamp = static_cast<std::uint32_t>(1 + i / 100);
      const auto placed = keyed.writer->place(numberKey(key), valueOf(key, i), stamp);
      EXPECT_TRUE(placed != Placed::kNew || !latest.contains(key) || evictions > 0);
      evictions += placed == Placed::kEvicted ? 1 : 0;
      latest[key] = i;
      if (random() % 500 == 0) flush(*keyed.writer, keyed.store);
    }
    flush(*keyed.writer, keyed.store);
    EXPECT_EQ(keyed.store, keyed.content);
    std::size_t missing = 0;
    for (const auto& [key, version] : latest) {
      const auto value = keyed.get(numberKey(key));
      if (value) {
        EXPECT_EQ(got(value), valueOf(key, version)) << key;
      } else {
        ++missing;
      }
    }
    EXPECT_LE(missing, evictions);
    EXPECT_LE(missing, latest.size() / 1000);
    EXPECT_EQ(countUsed(keyed.writer->table(), keyed.store), keyed.writer->used());
    for (std::uint64_t key = 1 << 20; key < (1 << 20) + 5000; ++key) {
      EXPECT_FALSE(keyed.get(numberKey(key)));
    }
  }
}

TEST(Keyed, AtThreeQuartersLoadNearlyAllKeysAreFound) {
  constexpr std::uint64_t kSlots = 1 << 17;
  constexpr std::uint64_t kKeys = kSlots / 4 * 3;
  Keyed keyed(keyedTable(kSlots, 8));
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const auto stamp = static_cast<std::uint32_t>(1 + (round * kKeys + key) / 1000);
      keyed.writer->place(numberKey(key), numberKey(key + round), stamp);
    }
  }
  flush(*keyed.writer, keyed.store);
  std::uint64_t found = 0;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const auto value = keyed.get(numberKey(key));
    if (!value) continue;
    EXPECT_EQ(got(value), numberKey(key + 2));
    ++found;
  }
  RecordProperty("found", std::to_string(found));
  EXPECT_GE(static_cast<double>(found), 0.999 * kKeys);
}

TEST(Keyed, AFullBucketLosesItsOldestKey) {
  Keyed keyed(keyedTable(1));  // one bucket, so both choices are the same
  for (std::uint32_t key = 0; key < 4; ++key) {
    EXPECT_EQ(keyed.writer->place(numberKey(key), valueOf(key, 0), 10 + key), Placed::kNew);
  }
  EXPECT_EQ(keyed.writer->place(numberKey(0), valueOf(0, 1), 20), Placed::kUpdated);
  EXPECT_EQ(keyed.writer->place(numberKey(9), valueOf(9, 0), 21), Placed::kEvicted);
  flush(*keyed.writer, keyed.store);
  EXPECT_TRUE(keyed.get(numberKey(0)));
  EXPECT_FALSE(keyed.get(numberKey(1)));
  EXPECT_TRUE(keyed.get(numberKey(2)));
  EXPECT_TRUE(keyed.get(numberKey(9)));
}

TEST(Keyed, TheOldestIsFoundAcrossTheWrapOfStamps) {
  Keyed keyed(keyedTable(1));
  const std::array<std::uint32_t, 4> stamps = {1, kStampPeriod - 1, kStampPeriod, 2};
  for (std::uint32_t key = 0; key < 4; ++key) {
    keyed.writer->place(numberKey(key), valueOf(key, 0), stamps[key]);
  }
  keyed.writer->place(numberKey(7), valueOf(7, 0), 3);
  flush(*keyed.writer, keyed.store);
  EXPECT_FALSE(keyed.get(numberKey(1)));
  for (const std::uint64_t key : {0, 2, 3, 7}) EXPECT_TRUE(keyed.get(numberKey(key))) << key;
}

TEST(Keyed, ChangedBlocksLeaveWholeAndLonelySlotsAlone) {
  Keyed keyed(keyedTable(1 << 12));
  std::map<std::uint64_t, std::size_t> changed;  // block to slots
  for (std::uint64_t key = 0; key < 60; ++key) {
    const Bytes before = keyed.content;
    keyed.writer->place(numberKey(key), valueOf(key, 1), 1);
    const auto differs = std::mismatch(before.begin(), before.end(), keyed.content.begin());
    ++changed[static_cast<std::size_t>(differs.first - before.begin()) / 1024];
  }
  std::vector<std::size_t> sizes;
  keyed.writer->takeDirty([&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    sizes.push_back(bytes.size());
    EXPECT_EQ(offset % bytes.size(), 0U);
    EXPECT_GE(offset, keyed.writer->table().offset);
    return true;
  });
  EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
  const auto whole = std::count_if(changed.begin(), changed.end(),
                                   [](const auto& entry) { return entry.second > 1; });
  EXPECT_GT(whole, 0);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 1024U), whole);
  EXPECT_EQ(sizes.size(), changed.size());
}

TEST(Keyed, WhatTheVisitorRefusesStaysChanged) {
  Keyed keyed(keyedTable(4096));
  for (std::uint64_t key = 0; key < 300; ++key) {
    keyed.writer->place(numberKey(key), valueOf(key, 0), 1);
  }
  std::size_t refused = 0;
  while (keyed.writer->hasDirty()) {
    int room = 3;
    const bool all =
        keyed.writer->takeDirty([&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
          if (room-- == 0) return false;
          const auto at = static_cast<std::ptrdiff_t>(offset - keyed.writer->table().offset);
          std::copy(bytes.begin(), bytes.end(), keyed.store.begin() + at);
          return true;
        });
    EXPECT_EQ(all, !keyed.writer->hasDirty());
    refused += all ? 0 : 1;
  }
  EXPECT_GT(refused, 10U);
  EXPECT_EQ(keyed.store, keyed.content);
}

TEST(Keyed, FailedWritesAreSentAgain) {
  Keyed keyed(keyedTable(4096));
  for (std::uint64_t key = 0; key < 300; ++key) {
    keyed.writer->place(numberKey(key), valueOf(key, 0), 1);
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> lost;
  keyed.writer->takeDirty([&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    lost.emplace_back(offset, bytes.size());
    return true;
  });
  EXPECT_FALSE(keyed.writer->hasDirty());
  for (const auto& [offset, bytes] : lost) keyed.writer->sendAgain(offset, bytes);
  flush(*keyed.writer, keyed.store);
  EXPECT_EQ(keyed.store, keyed.content);
}

// A writer that starts again knows which slots are taken and how old they are, but no keys. It
// finds the slot of a key by its checksum, so that no room is lost.
TEST(Keyed, ARestartedWriterKeepsWhatIsThereAndFindsTheSlotsOfItsKeys) {
  const Table table = keyedTable(4096);
  Keyed before(table);
  for (std::uint64_t key = 0; key < 1000; ++key) {
    before.writer->place(numberKey(key), valueOf(key, 0), 5);
  }
  flush(*before.writer, before.store);
  Keyed after(table);
  after.content = before.store;
  after.store = before.store;
  after.writer->restore();
  EXPECT_EQ(after.writer->used(), 1000U);
  for (std::uint64_t key = 0; key < 500; ++key) {
    EXPECT_EQ(after.writer->place(numberKey(key), valueOf(key, 1), 6), Placed::kUpdated);
  }
  EXPECT_EQ(after.writer->used(), 1000U);
  flush(*after.writer, after.store);
  for (std::uint64_t key = 0; key < 1000; ++key) {
    EXPECT_EQ(got(after.get(numberKey(key))), valueOf(key, key < 500 ? 1 : 0)) << key;
  }
}

TEST(Keyed, AnotherTablesSeedHidesAllKeys) {
  Keyed keyed(keyedTable(1000));
  keyed.writer->place(bytesOf("a"), valueOf(1, 1), 1);
  flush(*keyed.writer, keyed.store);
  Table other = keyed.writer->table();
  ++other.seed;
  EXPECT_FALSE(findKey(other, keyed.store, bytesOf("a")));
}

// One thread rewrites few keys in one bucket as fast as it can, another reads them: every value is
// one that was written, and stamps never go back.
TEST(Keyed, AHotSlotIsNeverReadTorn) {
  Keyed keyed(keyedTable(1));
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    std::uint32_t newest = 0;
    std::uint64_t hits = 0;
    while (!stop || hits == 0) {
      const auto value = keyed.get(bytesOf("hot"));
      if (!value) continue;
      ++hits;
      std::uint64_t version = 0;
      std::memcpy(&version, value->bytes().data(), sizeof version);
      EXPECT_EQ(value->stamp, version);
      for (const std::size_t at : {8, 16}) {
        std::uint64_t same = 0;
        std::memcpy(&same, value->bytes().data() + at, sizeof same);
        EXPECT_EQ(same, version);
      }
      EXPECT_GE(value->stamp, newest);
      newest = value->stamp;
    }
  });
  for (std::uint64_t version = 1; version <= 300'000; ++version) {
    Bytes value;
    for (int i = 0; i < 3; ++i) {
      const Bytes number = numberKey(version);
      value.insert(value.end(), number.begin(), number.end());
    }
    keyed.writer->place(bytesOf("hot"), value, static_cast<std::uint32_t>(version));
    flush(*keyed.writer, keyed.store);
  }
  stop = true;
  reader.join();
}

TEST(Keyed, AWriterNeedsAKeyedTableAndACopyOfItsSize) {
  Bytes content(100);
  EXPECT_FALSE(KeyedWriter::create(keyedTable(100), content));
  Table lists = keyedTable(100);
  lists.kind = TableKind::kLists;
  content.resize(lists.bytes);
  EXPECT_FALSE(KeyedWriter::create(lists, content));
}

Table copiesTable(std::uint64_t slots, std::uint16_t copies, std::uint32_t value_bytes = 8) {
  TableSpec spec{TableKind::kKeyed, 1, "copies", slots, value_bytes};
  spec.copies = copies;
  return test::tableOf(spec);
}

TEST(KeyedCopies, EachCopyIsWrittenAndOneIsEnough) {
  const Table table = copiesTable(1 << 12, 3);
  Keyed keyed(table);
  EXPECT_EQ(keyed.writer->place(bytesOf("a"), bytesOf("12345678"), 9), Placed::kNew);
  EXPECT_EQ(keyed.writer->used(), 3U);
  EXPECT_EQ(keyed.writer->place(bytesOf("a"), bytesOf("87654321"), 10), Placed::kUpdated);
  EXPECT_EQ(keyed.writer->used(), 3U);
  flush(*keyed.writer, keyed.store);
  EXPECT_EQ(countUsed(table, keyed.store), 3U);
  const auto spot = keyed.writer->locate(bytesOf("a"));
  for (int damaged = 0; damaged < 3; ++damaged) {
    EXPECT_EQ(got(keyed.get(bytesOf("a"))), bytesOf("87654321")) << damaged;
    keyed.store[spot.buckets[damaged] * table.unit_bytes + 8] ^= 1;
  }
  EXPECT_FALSE(keyed.get(bytesOf("a")));
}

// Puts a value with a right checksum into one slot of the key, as a writer does that only wrote
// some of the copies.
void forge(Keyed& keyed, const Bytes& key, unsigned copy, const Bytes& value, std::uint32_t stamp) {
  const Table& table = keyed.writer->table();
  const auto slot =
      std::span(keyed.store)
          .subspan(keyed.writer->locate(key).buckets[copy] * table.unit_bytes, table.unit_bytes);
  std::ranges::copy(value, slot.begin() + kSlotHeadBytes);
  putLittle(slot, 0, slotCrc(table.seed, key, stamp, slot.subspan(kSlotHeadBytes)));
  putLittle(slot, 4, stamp);
}

TEST(KeyedCopies, TheValueOfMostCopiesCountsAndOfAsManyTheLast) {
  Keyed keyed(copiesTable(1 << 12, 4));
  const Bytes key = bytesOf("a");
  keyed.writer->place(key, bytesOf("11111111"), 100);
  flush(*keyed.writer, keyed.store);
  forge(keyed, key, 0, bytesOf("22222222"), 200);
  EXPECT_EQ(got(keyed.get(key)), bytesOf("11111111"));
  forge(keyed, key, 3, bytesOf("22222222"), 150);
  EXPECT_EQ(got(keyed.get(key)), bytesOf("22222222"));
  EXPECT_EQ(keyed.get(key)->stamp, 200U);
  forge(keyed, key, 2, bytesOf("22222222"), 50);
  EXPECT_EQ(got(keyed.get(key)), bytesOf("22222222"));
}

// Returns the part of the keys with `age` to `age + width` x slots later ones that is found.
double foundAt(const Keyed& keyed, std::uint64_t keys, double age, double width) {
  const auto slots = static_cast<double>(keyed.writer->slots());
  const auto first = keys - static_cast<std::uint64_t>((age + width) * slots);
  const auto end = keys - static_cast<std::uint64_t>(age * slots);
  std::uint64_t found = 0;
  for (std::uint64_t key = first; key < end; ++key) {
    const auto value = findKey(keyed.writer->table(), keyed.content, numberKey(key));
    if (!value) continue;
    EXPECT_EQ(got(value), numberKey(key));
    ++found;
  }
  return static_cast<double>(found) / static_cast<double>(end - first);
}

// The same by 1-(1-e^(-aN))^N, where a is the number of later keys for each slot.
double expectedAt(double copies, double age, double width) {
  constexpr int kSteps = 100;
  double sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double a = age + width * (step + 0.5) / kSteps;
    sum += 1 - std::pow(1 - std::exp(-a * copies), copies);
  }
  return sum / kSteps;
}

TEST(KeyedCopies, TheRateOfSuccessIsTheFormulas) {
  constexpr std::uint64_t kSlots = 1 << 19;
  constexpr double kWidth = 0.04;
  const std::uint64_t keys = kSlots * 11 / 10;
  for (const int copies : {1, 2, 3, 4}) {
    Keyed keyed(copiesTable(kSlots, static_cast<std::uint16_t>(copies)));
    for (std::uint64_t key = 0; key < keys; ++key) {
      keyed.writer->place(numberKey(key), numberKey(key), 1);
    }
    for (const double age : {0.0, 0.05, 0.1, 0.25, 0.5, 1.0}) {
      EXPECT_NEAR(foundAt(keyed, keys, age, kWidth), expectedAt(copies, age, kWidth), 0.01)
          << copies << " copies, age " << age;
    }
  }
}

}  // namespace
}  // namespace pingloom::store::keyed_test
