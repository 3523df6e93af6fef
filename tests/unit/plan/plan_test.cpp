#include "plan/plan.h"

#include <gtest/gtest.h>

#include "plan/plan_codec.h"

namespace pingloom::plan::plan_test {
namespace {

IpAddress at(const char* text) { return *IpAddress::parse(text); }

std::shared_ptr<const AddressList> listOf(std::initializer_list<const char*> texts) {
  AddressList list;
  for (const char* text : texts) list.push_back(at(text));
  std::sort(list.begin(), list.end());
  return std::make_shared<const AddressList>(list);
}

Plan sample() {
  Plan plan;
  ProbeSpec mesh;
  mesh.name = "mesh";
  mesh.sources = mesh.destinations = "mesh";
  ProbeSpec oneway;
  oneway.name = "storage";
  oneway.protocol = Protocol::kTcp;
  oneway.sources = "storage/from";
  oneway.destinations = "storage/to";
  oneway.port = 2049;
  plan.probes = {mesh, oneway};
  plan.lists["mesh"] = listOf({"10.0.0.1", "10.0.0.2", "10.0.0.3", "fd00::1"});
  plan.lists["storage/from"] = listOf({"10.0.0.1"});
  plan.lists["storage/to"] = listOf({"10.0.9.1", "10.0.9.2"});
  return plan;
}

TEST(Assignments, FollowDirectionAndLeaveSelfOut) {
  const auto made = assignmentsOf(sample(), {at("10.0.0.1")});
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].destinations, (AddressList{at("10.0.0.2"), at("10.0.0.3")}));
  EXPECT_EQ(made[1].destinations, (AddressList{at("10.0.9.1"), at("10.0.9.2")}));
  EXPECT_TRUE(assignmentsOf(sample(), {at("10.0.9.1")}).empty()) << "a destination probes nothing";
}

TEST(Assignments, SelfWhereItIsAskedFor) {
  Plan plan = sample();
  plan.probes[0].self = true;
  const auto made = assignmentsOf(plan, {at("10.0.0.2")});
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].destinations.size(), 3U);
}

TEST(PlanCodec, CompleteAndDifferenceLeadToTheSamePlan) {
  const Plan before = sample();
  Plan after = sample();
  after.lists["mesh"] = listOf({"10.0.0.1", "10.0.0.3", "10.0.0.4", "fd00::1", "fd00::2"});
  after.probes[1].interval = 5 * kSecond;
  const auto complete = decode(encode(after, nullptr), nullptr);
  ASSERT_TRUE(complete);
  EXPECT_EQ(hash(*complete), hash(after));
  const wire::PlanUpdate difference = encode(after, &before);
  ASSERT_EQ(difference.lists_size(), 1) << "unchanged lists are not sent again";
  EXPECT_EQ(difference.lists(0).added_v4().size(), 4U);
  EXPECT_EQ(difference.lists(0).removed_v4().size(), 4U);
  const auto applied = decode(difference, &before);
  ASSERT_TRUE(applied);
  EXPECT_EQ(hash(*applied), hash(after));
}

TEST(PlanCodec, ForgetsProbesThatLeft) {
  const Plan before = sample();
  Plan after = sample();
  after.probes.pop_back();
  after.lists.erase("storage/from");
  after.lists.erase("storage/to");
  const auto applied = decode(encode(after, &before), &before);
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->lists.size(), 1U);
}

TEST(PlanCodec, RefusesWhatDoesNotFit) {
  const Plan plan = sample();
  EXPECT_FALSE(decode(encode(plan, &plan), nullptr)) << "a difference to a plan that is not held";
  auto wrong_hash = encode(plan, nullptr);
  wrong_hash.set_hash(1);
  EXPECT_FALSE(decode(wrong_hash, nullptr));
  auto bad_name = encode(plan, nullptr);
  bad_name.mutable_probes(0)->set_name("a b");
  EXPECT_FALSE(decode(bad_name, nullptr));
  auto bad_interval = encode(plan, nullptr);
  bad_interval.mutable_probes(0)->set_interval_ns(0);
  EXPECT_FALSE(decode(bad_interval, nullptr));
  auto bad_list = encode(plan, nullptr);
  bad_list.mutable_lists(0)->mutable_added_v4()->pop_back();
  EXPECT_FALSE(decode(bad_list, nullptr));
}

TEST(PlanCodec, PathsAreForRdmaAndBounded) {
  Plan plan = sample();
  plan.probes[0].protocol = Protocol::kRdma;
  plan.probes[0].paths = kMaxPaths;
  const auto complete = decode(encode(plan, nullptr), nullptr);
  ASSERT_TRUE(complete);
  EXPECT_EQ(complete->probes[0].paths, kMaxPaths);
  EXPECT_EQ(complete->probes[1].paths, 1U);
  auto unnamed = encode(sample(), nullptr);
  unnamed.mutable_probes(0)->clear_paths();
  EXPECT_EQ(decode(unnamed, nullptr)->probes[0].paths, 1U)
      << "the wire omits it when there is one path";
  plan.probes[0].paths = kMaxPaths + 1;
  EXPECT_FALSE(decode(encode(plan, nullptr), nullptr));
  plan.probes[0].paths = 2;
  plan.probes[0].protocol = Protocol::kUdp;
  EXPECT_FALSE(decode(encode(plan, nullptr), nullptr)) << "only rdma has paths";
}

TEST(PlanHash, SeesEveryField) {
  const Plan plan = sample();
  Plan other = sample();
  other.probes[0].timeout += 1;
  EXPECT_NE(hash(plan), hash(other));
  other = sample();
  other.probes[0].paths = 2;
  EXPECT_NE(hash(plan), hash(other));
  other = sample();
  other.lists["mesh"] = listOf({"10.0.0.1"});
  EXPECT_NE(hash(plan), hash(other));
  EXPECT_EQ(hash(plan), hash(sample()));
}

TEST(PlanCodec, WhatAnRdmaProbeChoosesForItself) {
  Plan plan = sample();
  const std::uint64_t before = hash(plan);
  plan.probes[0].protocol = Protocol::kRdma;
  const std::uint64_t rdma = hash(plan);
  plan.probes[0].service_level = 0;
  EXPECT_NE(hash(plan), rdma) << "0 is a choice too";
  plan.probes[0].service_level = 5;
  plan.probes[0].gid_index = 3;
  const auto decoded = decode(encode(plan, nullptr), nullptr);
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->probes, plan.probes);
  wire::PlanUpdate update = encode(plan, nullptr);
  update.mutable_probes(0)->set_service_level(16);
  EXPECT_FALSE(decode(update, nullptr));
  update = encode(plan, nullptr);
  update.mutable_probes(0)->set_gid_index(256);
  EXPECT_FALSE(decode(update, nullptr));
  plan.probes[0].protocol = Protocol::kUdp;
  EXPECT_FALSE(decode(encode(plan, nullptr), nullptr)) << "only rdma has them";
  EXPECT_EQ(hash(sample()), before);
}

}  // namespace
}  // namespace pingloom::plan::plan_test
