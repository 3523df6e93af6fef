#include "rdma/soft/rc/memory_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "rdma/soft/rc/shared_copy.h"
#include "soft_host.h"

namespace pingloom::rdma::soft::memory_table_test {
namespace {

constexpr Access kAll = Access::kRead | Access::kWrite | Access::kAtomic;

class MemoryTableTest : public testing::Test {
 protected:
  AccessFault fault(std::uint64_t offset, std::uint32_t length, Access wanted = Access::kRead) {
    return table.find({key.address + offset, key.rkey, length}, wanted).fault;
  }

  MemoryTable table;
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(4096);
  RegionKey key = *table.add(memory, Access::kRead);
};

TEST_F(MemoryTableTest, FindsTheBytes) {
  const FoundMemory all = table.find({key.address, key.rkey, 4096}, Access::kRead);
  EXPECT_EQ(all.fault, AccessFault::kNone);
  EXPECT_EQ(all.bytes, memory.data());
  EXPECT_EQ(table.find({key.address + 4095, key.rkey, 1}, Access::kRead).bytes, &memory[4095]);
  EXPECT_EQ(table.find({key.address + 10, key.rkey, 5}, Access::kRead).generation, all.generation);
}

TEST_F(MemoryTableTest, RefusesWhatIsNotWhollyInside) {
  EXPECT_EQ(fault(4095, 2), AccessFault::kBounds);
  EXPECT_EQ(fault(4096, 1), AccessFault::kBounds);
  EXPECT_EQ(fault(0, 4097), AccessFault::kBounds);
  EXPECT_EQ(fault(0, UINT32_MAX), AccessFault::kBounds);
  EXPECT_EQ(fault(-std::uint64_t{1}, 1), AccessFault::kBounds);
  EXPECT_EQ(fault(-std::uint64_t{1}, 2), AccessFault::kBounds) << "its end would be inside";
  EXPECT_EQ(table.find({UINT64_MAX, key.rkey, UINT32_MAX}, Access::kRead).fault,
            AccessFault::kBounds);
  EXPECT_EQ(table.find({0, key.rkey, 1}, Access::kRead).fault, AccessFault::kBounds);
}

TEST_F(MemoryTableTest, RefusesWhatIsNotAllowed) {
  EXPECT_EQ(fault(0, 8, Access::kWrite), AccessFault::kPermission);
  EXPECT_EQ(fault(0, 8, Access::kAtomic), AccessFault::kPermission);
  EXPECT_EQ(fault(0, 8, kAll), AccessFault::kPermission);
  const RegionKey closed = *table.add(memory, Access::kNone);
  EXPECT_EQ(table.find({closed.address, closed.rkey, 1}, Access::kRead).fault,
            AccessFault::kPermission);
}

TEST_F(MemoryTableTest, ADeadRkeyIsDead) {
  const auto generation = table.find({key.address, key.rkey, 1}, Access::kRead).generation;
  table.remove(key.rkey);
  EXPECT_EQ(fault(0, 1), AccessFault::kRkey);
  EXPECT_EQ(table.size(), 0U);
  const RegionKey again = *table.add(memory, Access::kRead);
  EXPECT_NE(again.rkey, key.rkey);
  EXPECT_NE(table.find({again.address, again.rkey, 1}, Access::kRead).generation, generation);
}

TEST_F(MemoryTableTest, NoBytesNeedNoRegion) {
  const FoundMemory nothing = table.find({1, 2, 0}, kAll);
  EXPECT_EQ(nothing.fault, AccessFault::kNone);
  EXPECT_EQ(nothing.bytes, nullptr);
}

TEST_F(MemoryTableTest, KeepsTheAlignmentAndHidesTheAddress) {
  EXPECT_EQ(key.address % 4096, reinterpret_cast<std::uintptr_t>(memory.data()) % 4096);
  std::set<std::uint64_t> addresses;
  std::set<std::uint32_t> rkeys;
  for (int i = 0; i < 100; ++i) {
    const RegionKey one = *table.add(memory, kAll);
    addresses.insert(one.address);
    rkeys.insert(one.rkey);
  }
  EXPECT_EQ(addresses.size(), 100U);
  EXPECT_EQ(rkeys.size(), 100U);
}

TEST_F(MemoryTableTest, TakesNoMoreThanItHasRoomFor) {
  while (table.size() < MemoryTable::kMax) ASSERT_TRUE(table.add(memory, kAll));
  EXPECT_FALSE(table.add(memory, kAll));
  table.remove(key.rkey);
  EXPECT_TRUE(table.add(memory, kAll));
}

TEST(SharedCopy, CopiesEveryAlignmentAndLength) {
  alignas(16) std::array<std::uint8_t, 192> shared{};
  for (std::size_t offset = 0; offset < 17; ++offset) {
    for (std::size_t length = 0; length < 170; ++length) {
      const auto bytes = bytesUpTo(length);
      shared.fill(0xEE);
      copyToShared(shared.data() + offset, bytes);
      for (std::size_t i = 0; i < shared.size(); ++i) {
        const bool inside = i >= offset && i < offset + length;
        ASSERT_EQ(shared[i], inside ? bytes[i - offset] : 0xEE);
      }
      std::vector<std::uint8_t> back(length + 1, 0x55);
      copyFromShared(back.data() + 1, std::span(shared).subspan(offset, length));
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), back.begin() + 1));
      ASSERT_EQ(back[0], 0x55);
    }
  }
}

// Words before the first pair, in lines, and after the last.
constexpr std::size_t kSharedWords = 27;

bool isWhole(std::uint64_t value) { return value == 0 || value == UINT64_MAX; }

TEST(SharedCopy, NeverReadsHalfAWord) {
  alignas(16) std::array<std::uint64_t, kSharedWords> words{};
  std::jthread writer([&](const std::stop_token& stop) {
    for (std::uint64_t value = 0; !stop.stop_requested(); value = ~value) {
      for (std::uint64_t& word : words) __atomic_store_n(&word, value, __ATOMIC_RELAXED);
    }
  });
  const std::span shared(reinterpret_cast<std::uint8_t*>(words.data()), sizeof words);
  std::array<std::uint8_t, sizeof words> copy{};
  for (int i = 0; i < 50'000; ++i) {
    copyFromShared(copy.data() + 1, shared.subspan(1));  // to an odd address, from an odd one
    for (std::size_t word = 1; word < kSharedWords; ++word) {
      std::uint64_t value = 0;
      std::memcpy(&value, copy.data() + 8 * word, 8);
      ASSERT_TRUE(isWhole(value));
    }
  }
}

TEST(SharedCopy, NeverWritesHalfAWord) {
  alignas(16) std::array<std::uint64_t, kSharedWords> words{};
  const std::span shared(reinterpret_cast<std::uint8_t*>(words.data()), sizeof words);
  std::jthread writer([&](const std::stop_token& stop) {
    std::array<std::uint8_t, sizeof words> bytes{};
    for (std::uint8_t value = 0; !stop.stop_requested();
         value = static_cast<std::uint8_t>(~value)) {
      bytes.fill(value);
      copyToShared(shared.data() + 1, std::span(bytes).subspan(1));
    }
  });
  for (int i = 0; i < 50'000; ++i) {
    for (std::size_t word = 1; word < kSharedWords; ++word) {
      ASSERT_TRUE(isWhole(__atomic_load_n(&words[word], __ATOMIC_RELAXED)));
    }
  }
}

TEST(SoftMemory, RegionsLiveAsLongAsTheirHandle) {
  auto device = openSoftDevice(freshLoopback());
  ASSERT_TRUE(device);
  const auto domain = std::move(*(*device)->createDomain());
  std::vector<std::uint8_t> memory(100);
  auto region = domain->registerMemory(memory, Access::kRead);
  ASSERT_TRUE(region);
  EXPECT_EQ((*region)->memory().data(), memory.data());
  EXPECT_EQ((*region)->access(), Access::kRead);
  EXPECT_NE((*region)->rkey(), 0U);
  const auto other = domain->registerMemory(memory, Access::kNone);
  ASSERT_TRUE(other);
  EXPECT_NE((*other)->rkey(), (*region)->rkey());
}

}  // namespace
}  // namespace pingloom::rdma::soft::memory_table_test
