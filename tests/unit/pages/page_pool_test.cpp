#include "pages/page_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>

#include "test_agent.h"

namespace pingloom::pages::page_pool_test {
namespace {

using test::Application;
using test::ownerOf;
using test::RawMetric;

constexpr Nanos kNow = kSecond;

class PagePoolTest : public testing::Test {
 protected:
  void make(const PoolLimits& limits = {}) {
    pool = std::move(*PagePool::create(*device, 7, limits));
  }
  // As the agent does, its readers following at once.
  void work() {
    now_ += PagePool::kBuildInterval;
    ASSERT_TRUE(pool->work(now_));
  }
  std::uint64_t grantTo(std::uint32_t user = 1000) {
    auto grant = pool->grant(pool->addOwner(ownerOf("app", user)), 0);
    return grant ? grant->generation : 0;
  }
  const Page* pageAt(std::size_t place) const {
    for (const auto& change : pool->changesSince(0)) {
      if (change.place == place) return change.page;
    }
    return nullptr;
  }
  const RangeHead& head(const PageRange& range) const {
    return *reinterpret_cast<const RangeHead*>(range.at(0));
  }
  Granted<PagePool::Grant> adopt(UniqueFd descriptor) {
    return pool->adopt(pool->addOwner(ownerOf("app")), 0, std::move(descriptor));
  }

  std::unique_ptr<rdma::Device> device = test::freshDevice();
  std::unique_ptr<PagePool> pool;
  Nanos now_ = kSecond;
};

TEST_F(PagePoolTest, ARestartedAgentGivesOtherOwnersOtherNumbers) {
  constexpr std::uint64_t kStarted = 1'790'000'000ULL * kSecond;
  const auto owner = [&](std::uint64_t incarnation) {
    auto started = std::move(*PagePool::create(*device, incarnation, {}));
    started->addOwner(test::ownerOf("app"));
    return started->addOwner(test::ownerOf("app"))->id;
  };
  const std::uint64_t before = owner(kStarted);
  EXPECT_GT(owner(kStarted + kSecond), before);
  EXPECT_LT(before, 1ULL << 53) << "JSON's numbers hold it";
}

TEST_F(PagePoolTest, APlaceIsGivenToOneOwnerWhateverComesAndGoes) {
  make();
  std::map<std::uint64_t, std::map<std::size_t, std::uint64_t>> owners;  // of an epoch's places
  std::set<std::uint64_t> generations;
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t generation = grantTo();
    ASSERT_TRUE(generations.insert(generation).second) << "no two pages have the same";
    for (const auto& change : pool->changesSince(0)) {
      if (change.page == nullptr) continue;
      auto& owner = owners[pool->epoch()][change.place];
      ASSERT_TRUE(owner == 0 || owner == change.page->generation);
      owner = change.page->generation;
    }
    pool->release(generation);
    if (i % 10 != 9) continue;
    work();
    pool->retire();
  }
  EXPECT_GT(pool->epoch(), 3U);
  EXPECT_EQ(pool->livePages(), 0U);
}

TEST_F(PagePoolTest, AFreshRangeTakesOverWithTheSameMemory) {
  make();
  Application app(*pool);
  app.define(RawMetric{});
  app.page().slots[0] = 41;
  const std::uint64_t epoch = pool->epoch();
  const PageRange& old = pool->range();
  const std::uint32_t old_key = old.region().rkey();
  for (std::size_t i = 0; i < PagePool::kSparePlaces; ++i) pool->release(grantTo());
  work();
  ASSERT_EQ(pool->epoch(), epoch + 1);
  ASSERT_TRUE(pool->retiring());
  EXPECT_EQ(head(old).state, static_cast<std::uint16_t>(RangeState::kMoved));
  const auto changes = pool->changesSince(0);
  ASSERT_EQ(changes.size(), 1U) << "those that left are not in it";
  EXPECT_EQ(changes[0].page->generation, app.generation());
  app.page().slots[0] = 42;
  EXPECT_EQ(pool->range().at(changes[0].place)->slots[0], 42U);
  EXPECT_EQ(pool->range().at(changes[0].place)->header.generation, app.generation());
  EXPECT_EQ(head(pool->range()).epoch, epoch + 1);
  EXPECT_EQ(head(pool->range()).state, static_cast<std::uint16_t>(RangeState::kServing));
  EXPECT_NE(pool->range().region().rkey(), old_key);
}

TEST_F(PagePoolTest, ThereIsNoThirdRangeWhileTheOldOneIsRead) {
  make();
  const auto use_up = [&] {
    for (std::size_t i = 0; i < PagePool::kSparePlaces + 10; ++i) pool->release(grantTo());
  };
  use_up();
  work();
  const std::uint64_t epoch = pool->epoch();
  use_up();
  EXPECT_GT(pool->nextWake(), now_ + kHour);
  work();
  EXPECT_EQ(pool->epoch(), epoch);
  pool->retire();
  work();
  EXPECT_EQ(pool->epoch(), epoch + 1);
}

TEST_F(PagePoolTest, RangesEndWhereNothingIsWanted) {
  for (const std::size_t limit : {1, 2, 10, 15, 40, 100}) {
    make({limit, limit});
    for (std::size_t i = 0; i < limit; ++i) ASSERT_NE(grantTo(), 0U);
    for (int i = 0; i < 20; ++i) {
      work();
      pool->retire();
    }
    EXPECT_LE(pool->epoch(), 3U) << limit << " pages that do not change";
    EXPECT_GT(pool->nextWake(), now_ + kHour);
    EXPECT_EQ(pool->changesSince(0).size(), limit);
  }
}

TEST_F(PagePoolTest, PagesWithoutAPlaceGetOneWithTheNextRange) {
  make();
  for (std::size_t i = 0; i < PagePool::kSparePlaces; ++i) grantTo();
  Application late(*pool, "late");
  late.define(RawMetric{});
  EXPECT_EQ(pool->changesSince(0).size(), PagePool::kSparePlaces);
  auto gone = std::make_unique<Application>(*pool, "gone");
  gone->leave();
  work();
  EXPECT_EQ(pool->changesSince(0).size(), PagePool::kSparePlaces + 1);
  late.page().slots[0] = 5;
  EXPECT_EQ(pageAt(PagePool::kSparePlaces + 1)->generation, late.generation());
  EXPECT_EQ(pool->range().at(PagePool::kSparePlaces + 1)->slots[0], 5U);
}

TEST_F(PagePoolTest, QuotasOfUsersAndOfTheHost) {
  make({10, 6});
  std::vector<std::uint64_t> of_one;
  for (int i = 0; i < 6; ++i) of_one.push_back(grantTo(1));
  const auto refused = pool->grant(pool->addOwner(ownerOf("app", 1)), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Refusal::kQuota);
  for (int i = 0; i < 4; ++i) EXPECT_NE(grantTo(2), 0U) << "the other user has its own";
  EXPECT_EQ(grantTo(2), 0U) << "the host's";
  EXPECT_FALSE(adopt(std::move(*makeMemfdPage())));
  pool->release(of_one[0]);
  EXPECT_NE(grantTo(2), 0U);
}

TEST_F(PagePoolTest, OneUsersSchemasLeaveRoomForOthers) {
  make({512, 256});
  RawMetric metric{.help = std::string(500, 'x')};
  for (char c = 'a'; c < 'p'; ++c) {
    metric.labels.emplace_back(std::string(1, c), std::string(250, 'x'));
  }
  const std::size_t size = metric.bytes().size();
  const auto fill = [&](std::uint32_t user, int pages) {
    std::size_t bytes = 0;
    for (int page = 0; page < pages; ++page) {
      const std::uint64_t generation = grantTo(user);
      for (metric.first = 0; metric.first < PINGLOOM_PAGE_SLOTS; ++metric.first) {
        if (!pool->define(generation, metric.bytes(), kNow)) break;
        bytes += size;
      }
    }
    return bytes;
  };
  EXPECT_LE(fill(1, 256), PagePool::kMaxSchemaTotal / 2);
  EXPECT_EQ(fill(2, 1), kMaxSchemaBytes / size * size) << "as much as a page may have";
}

TEST_F(PagePoolTest, SchemasAreCheckedMetricByMetric) {
  make();
  Application app(*pool);
  app.define(RawMetric{.first = 4});
  const auto refused = [&](const RawMetric& metric) {
    const auto defined = pool->define(app.generation(), metric.bytes(), kNow);
    return !defined && defined.error().reason == Refusal::kMetric;
  };
  EXPECT_TRUE(refused(RawMetric{.first = 4}));
  EXPECT_FALSE(refused(RawMetric{.first = 3, .name = "a"})) << "slots come in any order";
  EXPECT_TRUE(refused(RawMetric{.first = 5, .name = "no name"}));
  test::Raw two = RawMetric{.first = 5}.bytes();
  two.push_back(0);
  EXPECT_FALSE(pool->define(app.generation(), two, kNow)) << "bytes left over";
  app.define(RawMetric{.first = 5, .name = "b"});
  EXPECT_EQ(pageAt(1)->schema.version(), 3U);
  EXPECT_EQ(readSchema(pageAt(1)->schema.bytes())->size(), 3U);
}

TEST_F(PagePoolTest, TheDirectorysVersionGrowsWithEveryChangeAndStandsInTheHead) {
  make();
  std::uint64_t version = pool->directoryVersion();
  const auto grew = [&] {
    const bool more = pool->directoryVersion() > version;
    version = pool->directoryVersion();
    return more && head(pool->range()).directory == version;
  };
  Application app(*pool);
  EXPECT_TRUE(grew());
  app.define(RawMetric{});
  EXPECT_TRUE(grew());
  app.leave();
  EXPECT_TRUE(grew());
  const auto changes = pool->changesSince(version - 1);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].page, nullptr);
}

TEST_F(PagePoolTest, WhatIsRemovedIsRoomForOthers) {
  make({512, 256});
  RawMetric metric{.help = std::string(500, 'x')};
  metric.labels = {{"a", std::string(250, 'x')}};
  const std::uint64_t generation = grantTo();
  std::vector<test::Raw> defined;
  for (metric.first = 0; metric.first < PINGLOOM_PAGE_SLOTS; ++metric.first) {
    defined.push_back(metric.bytes());
    if (!pool->define(generation, defined.back(), kNow)) break;
  }
  ASSERT_LT(metric.first, PINGLOOM_PAGE_SLOTS) << "the page's schema is full";
  const std::uint64_t version = pool->directoryVersion();
  EXPECT_EQ(pool->remove(generation, defined.back(), kNow).error().reason, Refusal::kMetric)
      << "it was not taken";
  EXPECT_EQ(pool->removalVersion(), 0U);
  ASSERT_TRUE(pool->remove(generation, defined.front(), kNow));
  EXPECT_GT(pool->directoryVersion(), version);
  EXPECT_EQ(pool->removalVersion(), pool->directoryVersion());
  EXPECT_TRUE(pool->define(generation, defined.back(), kNow));
  EXPECT_EQ(pool->owners().owners.at(0).metrics, defined.size() - 1);
}

// Each of these would make every fresh range fail if it were taken.
TEST_F(PagePoolTest, AdoptsOnlyWhatItCanReadForEver) {
  make();
  const auto memfd = [](std::size_t bytes, int seals) {
    UniqueFd made(memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(made.get(), static_cast<off_t>(bytes)), 0);
    EXPECT_EQ(fcntl(made.get(), F_ADD_SEALS, seals), 0);
    return made;
  };
  constexpr int kSize = F_SEAL_SHRINK | F_SEAL_GROW;
  std::map<std::string, UniqueFd> bad;
  bad["none"] = UniqueFd();
  bad["not sealed"] = memfd(4096, 0);
  bad["may shrink"] = memfd(4096, F_SEAL_GROW | F_SEAL_SEAL);
  bad["may be sealed later"] = memfd(4096, kSize);
  bad["too small"] = memfd(4095, kSize | F_SEAL_SEAL);
  bad["too large"] = memfd(8192, kSize | F_SEAL_SEAL);
  bad["a file"] = UniqueFd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  bad["a device"] = UniqueFd(open("/dev/zero", O_RDWR | O_CLOEXEC));
  UniqueFd good = memfd(4096, kSize | F_SEAL_SEAL);
  const std::string path = "/proc/self/fd/" + std::to_string(good.get());
  bad["only to be written"] = UniqueFd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  bad["only to be read"] = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  bad["sealed against writing"] = memfd(4096, kSize | F_SEAL_SEAL | F_SEAL_WRITE);
  for (auto& [what, descriptor] : bad) {
    const auto adopted = adopt(std::move(descriptor));
    ASSERT_FALSE(adopted) << what;
    EXPECT_EQ(adopted.error().reason, Refusal::kNotAPage) << what;
  }
  ASSERT_TRUE(adopt(std::move(good)));
  work();
  EXPECT_EQ(pool->epoch(), 2U) << "and the range is made";
}

}  // namespace
}  // namespace pingloom::pages::page_pool_test
