#include "agent/state_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "../common/temporary_directory.h"
#include "common/file.h"

namespace pingloom::agent::state_dir_test {
namespace {

plan::Plan samplePlan() {
  plan::Plan plan;
  plan::ProbeSpec probe;
  probe.name = "mesh";
  probe.sources = probe.destinations = "mesh";
  plan.probes = {probe};
  plan.lists["mesh"] = std::make_shared<const plan::AddressList>(plan::AddressList{
      *IpAddress::parse("10.0.0.1"), *IpAddress::parse("10.0.0.2"), *IpAddress::parse("fd00::1")});
  return plan;
}

TEST(StateDir, BelongsToOneAgentAtATime) {
  const test::TemporaryDirectory directory;
  {
    const auto first = StateDir::take(directory.path() / "a" / "b");
    ASSERT_TRUE(first) << first.error().text();
    const auto second = StateDir::take(directory.path() / "a" / "b");
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().text(),
                testing::HasSubstr("process " + std::to_string(getpid()) + ")"));
    EXPECT_TRUE(StateDir::take(directory.path() / "other"));
  }
  EXPECT_TRUE(StateDir::take(directory.path() / "a" / "b"));
}

TEST(StateDir, SaysWhatToDoWhereItCannotBeMade) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(writeFileAtomic(directory.path() / "file", ""));
  const auto state = StateDir::take(directory.path() / "file" / "state");
  ASSERT_FALSE(state);
  EXPECT_THAT(state.error().text(), testing::HasSubstr("make it writable"));
}

TEST(StateDir, IncarnationsGrowWhateverTheClockDoes) {
  const test::TemporaryDirectory directory;
  std::uint64_t last = 0;
  for (const Nanos now : {Nanos{1000}, Nanos{1000}, Nanos{5}, Nanos{-7}, Nanos{2000}}) {
    auto state = StateDir::take(directory.path());
    const std::uint64_t next = state->nextIncarnation(now);
    EXPECT_GT(next, last);
    last = next;
  }
  EXPECT_EQ(last, 2000U);
  EXPECT_EQ(StateDir::take(directory.path())->nextIncarnation(1, 9000), 9001U);
  ASSERT_TRUE(writeFileAtomic(directory.path() / "incarnation", "rubbish"));
  EXPECT_EQ(StateDir::take(directory.path())->nextIncarnation(10000), 10000U);
}

TEST(StateDir, KeepsThePlan) {
  const test::TemporaryDirectory directory;
  const auto state = StateDir::take(directory.path());
  EXPECT_EQ(state->loadPlan(), nullptr);
  ASSERT_TRUE(state->savePlan(samplePlan()));
  const auto kept = state->loadPlan();
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(plan::hash(*kept), plan::hash(samplePlan()));
}

TEST(StateDir, KeepsTheEndpoints) {
  const test::TemporaryDirectory directory;
  const auto state = StateDir::take(directory.path());
  EXPECT_TRUE(state->loadEndpoints().table->empty());
  plan::Endpoint endpoint;
  endpoint.address = *IpAddress::parse("10.0.0.2");
  endpoint.gid[15] = 1;
  endpoint.qpn = 17;
  plan::HeldEndpoints held;
  held.version = {9, 4, 77};
  held.table = std::make_shared<const plan::EndpointTable>(
      plan::EndpointTable{{endpoint.address, endpoint}});
  ASSERT_TRUE(state->saveEndpoints(held));
  EXPECT_EQ(*state->loadEndpoints().table, *held.table);
  EXPECT_EQ(state->loadEndpoints().version, held.version);
  const std::string whole = *readFile(directory.path() / "endpoints", 1 << 20);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    ASSERT_TRUE(writeFileAtomic(directory.path() / "endpoints", whole.substr(0, length)));
    ASSERT_LE(state->loadEndpoints().table->size(), 1U) << length;
  }
}

TEST(StateDir, ADamagedPlanIsNoPlan) {
  const test::TemporaryDirectory directory;
  const auto state = StateDir::take(directory.path());
  ASSERT_TRUE(state->savePlan(samplePlan()));
  const std::string whole = *readFile(directory.path() / "plan", 1 << 20);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    ASSERT_TRUE(writeFileAtomic(directory.path() / "plan", whole.substr(0, length)));
    ASSERT_EQ(state->loadPlan(), nullptr) << length;
  }
}

}  // namespace
}  // namespace pingloom::agent::state_dir_test
