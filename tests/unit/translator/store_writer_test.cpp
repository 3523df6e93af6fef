// A writer and a store on two soft devices of this host.
#include "translator/store_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/time.h"
#include "rdma/soft/soft_device.h"
#include "store/counter_table.h"
#include "store/keyed_reader.h"
#include "store/list_reader.h"
#include "store/little_endian.h"
#include "store/table_spec.h"

namespace pingloom::translator::store_writer_test {
namespace {

constexpr std::uint16_t kTable = 1;
constexpr std::uint16_t kLists = 2;
constexpr std::uint16_t kCounters = 3;
constexpr rdma::Access kWriterAccess = rdma::Access::kRead | rdma::Access::kWrite;

// A soft device of this process, which runs beside other tests: 0 is the collector's, 1 the
// translator's.
std::unique_ptr<rdma::Device> openDevice(std::uint32_t number) {
  const auto process = static_cast<std::uint32_t>(getpid()) & 0x7fff;
  auto device = rdma::soft::openSoftDevice(IpAddress::fromV4(0x7f510000 + 2 * process + number));
  if (!device) throw std::runtime_error(device.error().text());
  return std::move(*device);
}

std::span<const std::uint8_t> bytesOf(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// What a collector does for a translator, without the control channel.
struct Keeper {
  explicit Keeper(const store::Head& layout)
      : head(layout),
        file(layout.bytes),
        access(layout.isShared() ? rdma::Access::kAtomic : kWriterAccess) {
    device = openDevice(0);
    domain = std::move(*device->createDomain());
    region =
        std::move(*domain->registerMemory(std::span(file).subspan(store::kRegionOffset), access));
  }
  store::Connected connect(const rdma::RcAddress& writer) {
    rdma::RcOptions options;
    options.access = access;
    endpoint = std::move(*domain->createRc(options));
    EXPECT_TRUE(endpoint->connect(writer));
    return {endpoint->address(), region->address(), region->rkey(), head};
  }
  std::string get(const std::string& key) const {
    const store::Table& table = head.tables.front();
    const auto memory = std::span(file).subspan(table.offset, table.bytes);
    const auto value = store::findKey(table, memory, bytesOf(key));
    return value ? std::string(reinterpret_cast<const char*>(value->memory.data())) : "";
  }

  store::Head head;
  std::vector<std::uint8_t> file;
  rdma::Access access;
  std::unique_ptr<rdma::Device> device;
  std::unique_ptr<rdma::Domain> domain;
  std::unique_ptr<rdma::MemoryRegion> region;
  std::unique_ptr<rdma::RcEndpoint> endpoint;
  rdma::RcEvents events;
};

store::Head layoutOf(std::uint64_t slots) {
  store::TableSpec spec;
  spec.id = kTable;
  spec.name = "latest";
  spec.slots = slots;
  spec.value_bytes = 24;
  store::TableSpec lists;
  lists.kind = store::TableKind::kLists;
  lists.id = kLists;
  lists.name = "events";
  lists.lists = 2;
  lists.blocks = 300;
  lists.value_bytes = 8;
  store::TableSpec counters;
  counters.kind = store::TableKind::kCounters;
  counters.id = kCounters;
  counters.name = "votes";
  counters.counters = 20'000;
  return *store::layOut({spec, lists, counters}, 0);
}

class StoreWriterTest : public testing::Test {
 protected:
  explicit StoreWriterTest(const store::Head& head = layoutOf(100'000)) : keeper_(head) {
    device_ = openDevice(1);
    domain_ = std::move(*device_->createDomain());
    shadow_ = std::move(*Shadow::create(keeper_.head, *domain_));
  }
  void connect(bool restore) {
    writer_ = std::move(*StoreWriter::create(*domain_, counters_));
    ASSERT_TRUE(writer_->connect(keeper_.connect(writer_->address())));
    writer_->serve(*shadow_, restore);
  }
  void place(const std::string& key, const std::string& value, std::uint32_t stamp = 1) {
    shadow_->find(kTable)->keyed()->place(bytesOf(key), bytesOf(value), stamp);
  }
  // Runs both sides until it is so. Returns whether it became so.
  bool until(const std::function<bool()>& so) {
    const Nanos end = monotonicNow() + 20 * kSecond;
    while (!so()) {
      if (monotonicNow() > end) return false;
      if (auto polled = writer_->poll(); !polled) {
        ADD_FAILURE() << polled.error().text();
        return false;
      }
      keeper_.events.clear();
      static_cast<void>(keeper_.endpoint->poll(keeper_.events));
    }
    return true;
  }
  bool beatIs(std::uint64_t beat) const {
    const auto status = store::decodeStatus(
        std::span(keeper_.file).subspan(store::kStatusOffset, store::kStatusBytes));
    return status && status->beat == beat;
  }
  static store::WriterStatus statusOf(std::uint64_t beat) {
    store::WriterStatus status;
    status.beat = beat;
    return status;
  }

  Keeper keeper_;
  Counters counters_;
  std::unique_ptr<rdma::Device> device_;
  std::unique_ptr<rdma::Domain> domain_;
  std::unique_ptr<Shadow> shadow_;
  std::unique_ptr<StoreWriter> writer_;
};

TEST_F(StoreWriterTest, WritesMoreThanFitsInFlight) {
  connect(false);
  for (int i = 0; i < 10'000; ++i) place("key " + std::to_string(i), std::to_string(i));
  writer_->flush(statusOf(1));
  ASSERT_TRUE(until([&] { return beatIs(1); }));
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(keeper_.get("key " + std::to_string(i)), std::to_string(i));
  }
  EXPECT_GT(counters_.writes, StoreWriter::kDepth);
  place("key 5", "changed", 2);
  const std::uint64_t before = counters_.writes;
  writer_->flush(statusOf(2));
  ASSERT_TRUE(until([&] { return beatIs(2); }));
  EXPECT_EQ(keeper_.get("key 5"), "changed");
  EXPECT_EQ(counters_.writes - before, 2U) << "one slot and the status";
}

TEST_F(StoreWriterTest, ShowsABeatBeforeAllIsWritten) {
  connect(false);
  for (int i = 0; i < 10'000; ++i) place("key " + std::to_string(i), "value");
  writer_->flush(statusOf(1));
  writer_->flush(statusOf(2));
  ASSERT_TRUE(until([&] { return beatIs(2); }));
  EXPECT_TRUE(shadow_->find(kTable)->keyed()->hasDirty());
  writer_->flush(statusOf(3));
  ASSERT_TRUE(until([&] { return beatIs(3); }));
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(keeper_.get("key " + std::to_string(i)), "value");
}

TEST_F(StoreWriterTest, WritesAgainWhatWasNotConfirmed) {
  connect(false);
  for (int i = 0; i < 3000; ++i) place("key " + std::to_string(i), "value");
  writer_->flush(statusOf(1));
  writer_.reset();  // as after a failure: nothing was confirmed
  EXPECT_EQ(keeper_.get("key 2999"), "");
  connect(false);
  writer_->flush(statusOf(2));
  ASSERT_TRUE(until([&] { return beatIs(2); }));
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(keeper_.get("key " + std::to_string(i)), "value");
}

// A restarted translator must not write zeros over what its predecessor has written.
TEST_F(StoreWriterTest, RestoresWhatTheStoreHolds) {
  connect(false);
  for (int i = 0; i < 1000; ++i) place("old " + std::to_string(i), "value");
  writer_->flush(statusOf(1));
  ASSERT_TRUE(until([&] { return beatIs(1); }));
  writer_.reset();
  shadow_ = std::move(*Shadow::create(keeper_.head, *domain_));
  connect(true);
  EXPECT_TRUE(writer_->restoring());
  ASSERT_TRUE(until([&] { return !writer_->restoring(); }));
  for (int i = 0; i < 1000; ++i) place("new " + std::to_string(i), "value", 2);
  place("old 7", "newer", 2);
  writer_->flush(statusOf(2));
  ASSERT_TRUE(until([&] { return beatIs(2); }));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(keeper_.get("old " + std::to_string(i)), i == 7 ? "newer" : "value") << i;
    EXPECT_EQ(keeper_.get("new " + std::to_string(i)), "value") << i;
  }
}

// A restarted translator appends behind the entries and adds to the sums of its predecessor.
TEST_F(StoreWriterTest, RestoresListsAndCounters) {
  std::vector<std::string> sent;
  for (std::uint64_t run = 1; run <= 3; ++run) {
    if (run > 1) {
      writer_.reset();
      shadow_ = std::move(*Shadow::create(keeper_.head, *domain_));
    }
    connect(true);
    ASSERT_TRUE(until([&] { return !writer_->restoring(); }));
    for (int i = 0; i < 2000; ++i) {
      sent.push_back(std::to_string(run * 10'000 + static_cast<std::uint64_t>(i)));
      ASSERT_TRUE(shadow_->find(kLists)->lists()->append(1, bytesOf(sent.back())));
      shadow_->find(kCounters)->counters()->add(bytesOf("key " + std::to_string(i)), 1);
    }
    writer_->flushLists(store::ListFlush::kFullBlocks);
    writer_->flush(statusOf(run));
    ASSERT_TRUE(until([&] { return beatIs(run); }));
    EXPECT_EQ(shadow_->find(kCounters)->figures().total, run * 2000);
  }
  const auto memoryOf = [&](std::size_t table) {
    return std::span(keeper_.file)
        .subspan(keeper_.head.tables[table].offset, keeper_.head.tables[table].bytes);
  };
  std::vector<std::string> got;
  const auto tail =
      store::readTail(keeper_.head.tables[1], memoryOf(1), 1, {}, 100'000,
                      [&](std::span<const std::uint8_t> entry) {
                        got.emplace_back(entry.begin(), std::find(entry.begin(), entry.end(), 0));
                      });
  EXPECT_EQ(tail.lost, 0U);
  EXPECT_EQ(got, sent);
  EXPECT_GE(store::countKey(keeper_.head.tables[2], memoryOf(2), bytesOf("key 7")), 3U);
}

TEST_F(StoreWriterTest, FailsWhereTheStoreIsGone) {
  connect(false);
  keeper_.endpoint.reset();
  place("key", "value");
  writer_->flush(statusOf(1));
  const Nanos end = monotonicNow() + 10 * kSecond;
  bool failed = false;
  while (!failed && monotonicNow() < end) failed = !writer_->poll();
  EXPECT_TRUE(failed);
  writer_.reset();
  EXPECT_TRUE(shadow_->find(kTable)->keyed()->hasDirty());
}

store::Head sharedLayout() {
  store::TableSpec counters;
  counters.kind = store::TableKind::kCounters;
  counters.id = kCounters;
  counters.name = "votes";
  counters.counters = 20'000;
  counters.shared = true;
  return *store::layOut({counters}, 0);
}

class SharedStoreTest : public StoreWriterTest {
 protected:
  SharedStoreTest() : StoreWriterTest(sharedLayout()) {}

  void add(std::uint64_t amount) {
    for (int key = 0; key < 2000; ++key) {
      shadow_->find(kCounters)->shared()->add(bytesOf("key " + std::to_string(key)), amount);
    }
  }
  std::uint64_t count(int key) const {
    const store::Table& table = keeper_.head.tables.front();
    return store::countKey(table, std::span(keeper_.file).subspan(table.offset, table.bytes),
                           bytesOf("key " + std::to_string(key)));
  }
  std::optional<store::WriterStatus> status() const {
    const auto read = store::decodeSharedStatus(
        std::span(keeper_.file).subspan(store::kStatusOffset, store::kStatusBytes));
    return read ? std::optional(*read) : std::nullopt;
  }
  void flushOnce(Nanos utc) {
    store::WriterStatus mine;
    mine.utc = utc;
    writer_->flush(mine);
  }
  // Flushes until everything has left, and then until the store has this time. Requests are carried
  // out in order, so everything has arrived then.
  bool flushAt(Nanos utc) {
    const bool left = until([&] {
      flushOnce(utc - 1);
      return !shadow_->find(kCounters)->shared()->hasDirty();
    });
    return left && until([&] {
             flushOnce(utc);
             return status() && status()->utc == utc;
           });
  }
};

TEST_F(SharedStoreTest, SumsAreAddedAndTheTimeIsSet) {
  connect(true);
  EXPECT_FALSE(writer_->restoring()) << "what others have added is not read";
  add(3);
  ASSERT_TRUE(flushAt(1000));
  EXPECT_GE(count(7), 3U);
  EXPECT_EQ(status()->tables[0].total, 6000U);
  add(4);
  ASSERT_TRUE(flushAt(2000));
  EXPECT_EQ(status()->tables[0].total, 14'000U);
  // Somebody else sets the time, too: the next attempt learns it, and the one after that succeeds.
  store::putLittle<std::uint64_t>(std::span(keeper_.file), store::kBeatOffset, 2500);
  ASSERT_TRUE(flushAt(3000));
}

TEST_F(SharedStoreTest, AfterAFailureAtMostWhatWasInFlightCountsTwice) {
  constexpr std::uint64_t kAmount = 5;
  connect(true);
  for (int round = 0; round < 4; ++round) {
    add(kAmount);
    flushOnce(1000 + round);
    static_cast<void>(writer_->poll());
    keeper_.events.clear();
    static_cast<void>(keeper_.endpoint->poll(keeper_.events));
    connect(true);  // the answers to what arrived are not seen
  }
  ASSERT_TRUE(flushAt(9000));
  const std::uint64_t sent = 4 * 2000 * kAmount;
  const std::uint64_t total = status()->tables[0].total;
  EXPECT_GE(total, sent);
  std::uint64_t sum = 0;
  const store::Table& table = keeper_.head.tables.front();
  for (std::uint64_t i = 0; i < table.units * table.choices; ++i) {
    sum += store::getLittle<std::uint64_t>(std::span<const std::uint8_t>(keeper_.file),
                                           table.offset + i * store::kCounterBytes);
  }
  // A sum of a counter has what was added in this and the rounds before that had not left.
  EXPECT_GE(sum, 2 * sent);
  EXPECT_LE(sum, 2 * sent + std::uint64_t{4} * StoreWriter::kAtomicsInFlight * 4 * 4 * kAmount);
  for (int key = 0; key < 2000; key += 100) EXPECT_GE(count(key), 4 * kAmount);
}

}  // namespace
}  // namespace pingloom::translator::store_writer_test
