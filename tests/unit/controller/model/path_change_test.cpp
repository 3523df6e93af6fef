#include "controller/model/path_change.h"

#include <gmock/gmock.h>

namespace pingloom::controller::path_change_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;

IpAddress host(std::uint32_t number) { return IpAddress::fromV4(0x0A010000 + number); }
IpAddress router(std::uint32_t number) {
  return number == 0 ? IpAddress() : IpAddress::fromV4(0x0A020000 + number);
}

KnownPath moved(std::initializer_list<std::uint32_t> before,
                std::initializer_list<std::uint32_t> after) {
  KnownPath made;
  made.path.probe = "fabric";
  made.path.source = host(1);
  made.path.destination = host(2);
  made.path.path = 3;
  for (const std::uint32_t number : after) made.path.hops.push_back({router(number), 0});
  TracedPath& was = made.before.emplace_back();
  for (const std::uint32_t number : before) was.hops.push_back({router(number), 0});
  return made;
}

PathChange change(std::uint32_t source, std::uint32_t destination, Nanos utc = kUtc) {
  PathChange made = changeOf(moved({1, 2}, {1, 3}), utc);
  made.source = host(source);
  made.of = made.source;
  made.destination = host(destination);
  return made;
}

TEST(PathChange, SaysWhereTheFlowWentBeforeAndAfter) {
  const PathChange made = changeOf(moved({1, 2, 4}, {1, 0, 3, 4}), kUtc);
  EXPECT_EQ(made.utc, kUtc);
  EXPECT_EQ(made.flows, 1U);
  EXPECT_EQ(made.of, host(1));
  EXPECT_EQ(made.path, 3U);
  EXPECT_EQ(made.before, "10.2.0.1 10.2.0.2 10.2.0.4");
  EXPECT_EQ(made.after, "10.2.0.1 * 10.2.0.3 10.2.0.4");
  EXPECT_EQ(made.hop, 3U) << "nobody knows whether the second is another one";
  EXPECT_EQ(changeOf(moved({1, 2}, {1}), kUtc).hop, 2U);
  EXPECT_EQ(routersIn(made.after), (std::vector{router(1), IpAddress(), router(3), router(4)}));
}

TEST(PathChange, ReadsNoMoreRoutersThanAPathHas) {
  EXPECT_THAT(routersIn(""), IsEmpty());
  EXPECT_EQ(routersIn("nonsense  10.2.0.1 "), (std::vector{IpAddress(), IpAddress(), router(1)}));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "10.2.0.1 ";
  EXPECT_THAT(routersIn(many), SizeIs(kMaxPathHops));
}

TEST(PathChangeBatch, AFewChangesOfASourceAreKeptOneByOne) {
  PathChangeBatch batch;
  EXPECT_TRUE(batch.empty());
  for (std::uint32_t to = 2; to < 2 + PathChangeBatch::kMaxSingle; ++to) {
    batch.add(change(1, to, kUtc - to));
  }
  const auto taken = batch.take(kUtc);
  ASSERT_THAT(taken, SizeIs(PathChangeBatch::kMaxSingle));
  EXPECT_EQ(taken.back().destination, host(2)) << "ordered by time";
  for (const PathChange& each : taken) EXPECT_EQ(each.flows, 1U);
  EXPECT_EQ(batch.folded(), 0U);
  EXPECT_TRUE(batch.empty());
  EXPECT_THAT(batch.take(kUtc + kSecond), IsEmpty());
}

TEST(PathChangeBatch, AMoveOfThousandsOfFlowsBecomesARecordForEachSource) {
  PathChangeBatch batch;
  for (std::uint32_t to = 0; to < 3000; ++to) {
    batch.add(change(to % 3, 10 + to));
  }
  const auto taken = batch.take(kUtc);
  ASSERT_THAT(taken, SizeIs(3));
  for (std::uint32_t source = 0; source < 3; ++source) {
    EXPECT_EQ(taken[source].flows, 1000U);
    EXPECT_EQ(taken[source].of, host(source));
    EXPECT_EQ(taken[source].destination, host(10 + source)) << "the first is the example";
  }
  EXPECT_EQ(batch.folded(), 2997U);
}

TEST(PathChangeBatch, BeyondItsRateThereIsOneRecordForAllSources) {
  PathChangeBatch batch;
  Nanos now = kUtc;
  std::size_t records = 0;
  std::uint64_t flows = 0;
  constexpr std::uint32_t kRounds = 60;
  constexpr std::uint32_t kSources = 200;
  for (std::uint32_t round = 0; round < kRounds; ++round, now += kSecond) {
    for (std::uint32_t source = 0; source < kSources; ++source) batch.add(change(source, 1000));
    const auto taken = batch.take(now);
    records += taken.size();
    for (const PathChange& each : taken) flows += each.flows;
    if (round + 1 == kRounds) {
      EXPECT_FALSE(taken.back().of) << "of several sources";
    }
  }
  EXPECT_EQ(flows, kRounds * kSources);
  EXPECT_EQ(batch.folded(), flows - records);
  EXPECT_LE(records,
            PathChangeBatch::kMaxBurst + kRounds * (PathChangeBatch::kRecordsPerSecond + 1));
}

TEST(PathChangeBatch, KeepsABoundedNumberOfSources) {
  PathChangeBatch batch;
  const std::uint32_t many = 3 * PathChangeBatch::kMaxSources;
  for (std::uint32_t source = 0; source < many; ++source) batch.add(change(source, 1));
  const auto taken = batch.take(kUtc);
  EXPECT_LE(taken.size(), PathChangeBatch::kMaxBurst + 1);
  std::uint64_t flows = 0;
  for (const PathChange& each : taken) flows += each.flows;
  EXPECT_EQ(flows, many);
}

}  // namespace
}  // namespace pingloom::controller::path_change_test
