#include <cmath>

#include "store/counter_table.h"
#include "store_support.h"

namespace pingloom::store::counter_test {
namespace {

using test::Bytes;
using test::numberKey;

Table counterTable(std::uint64_t counters) {
  TableSpec spec;
  spec.kind = TableKind::kCounters;
  spec.id = 1;
  spec.name = "votes";
  spec.counters = counters;
  return test::tableOf(spec);  // the same keys share counters in each run
}

struct Counters {
  explicit Counters(const Table& table)
      : content(table.bytes), store(table.bytes), writer(*CounterWriter::create(table, content)) {}
  void flush() {
    writer->takeDirty([&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
      const auto at = static_cast<std::ptrdiff_t>(offset - writer->table().offset);
      std::copy(bytes.begin(), bytes.end(), store.begin() + at);
      return true;
    });
  }
  std::uint64_t count(std::uint64_t key) const {
    return countKey(writer->table(), store, numberKey(key));
  }

  Bytes content;
  Bytes store;
  std::unique_ptr<CounterWriter> writer;
};

TEST(Counters, AKeyAloneIsCountedExactly) {
  Counters counters(counterTable(1000));
  counters.writer->add(numberKey(1), 3);
  counters.writer->add(numberKey(1), 4);
  EXPECT_EQ(counters.count(1), 0U) << "nothing was sent";
  counters.flush();
  EXPECT_FALSE(counters.writer->hasDirty());
  EXPECT_EQ(counters.count(1), 7U);
  EXPECT_EQ(counters.count(2), 0U);
}

// Against a map: never too little, and rarely too much by more than the bound.
TEST(Counters, AgreesWithAMapWithinTheBound) {
  Counters counters(counterTable(2000));
  std::mt19937 random(9);
  std::map<std::uint64_t, std::uint64_t> exact;
  std::uint64_t total = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto key = static_cast<std::uint64_t>(std::exp(random() % 8300 / 1000.0));
    const std::uint64_t amount = 1 + random() % 3;
    counters.writer->add(numberKey(key), amount);
    exact[key] += amount;
    total += amount;
    if (random() % 1000 == 0) counters.flush();
  }
  counters.flush();
  EXPECT_EQ(counters.store, counters.content);
  const double bound = countErrorBound(counters.writer->table(), total);
  std::size_t beyond = 0;
  for (const auto& [key, amount] : exact) {
    EXPECT_GE(counters.count(key), amount);
    beyond += static_cast<double>(counters.count(key) - amount) > bound ? 1 : 0;
  }
  EXPECT_LE(static_cast<double>(beyond), std::exp(-2) * static_cast<double>(exact.size()));
}

TEST(Counters, ACounterSaturates) {
  Bytes content(counterTable(1).bytes, 0xff);
  const auto writer = std::move(*CounterWriter::create(counterTable(1), content));
  writer->add(numberKey(1), kMaxIncrement);
  EXPECT_EQ(countKey(writer->table(), content, numberKey(1)), UINT64_MAX);
}

TEST(Counters, ARestartedWriterGoesOn) {
  const Table table = counterTable(100);
  Counters before(table);
  before.writer->add(numberKey(1), 5);
  before.flush();
  Bytes content = before.store;
  const auto writer = std::move(*CounterWriter::create(table, content));
  writer->add(numberKey(1), 1);
  EXPECT_TRUE(writer->takeDirty([](std::uint64_t, std::span<const std::uint8_t>) { return true; }));
  EXPECT_EQ(countKey(table, content, numberKey(1)), 6U);
}

TEST(Counters, TablesOfOtherShapesAreRefused) {
  Bytes content(100);
  EXPECT_FALSE(CounterWriter::create(counterTable(10), content));
  EXPECT_FALSE(CounterWriter::create(test::keyedTable(10), content));
  TableSpec none;
  none.kind = TableKind::kCounters;
  none.id = 1;
  none.name = "none";
  EXPECT_FALSE(layOut({none}, 0));
}

}  // namespace
}  // namespace pingloom::store::counter_test
