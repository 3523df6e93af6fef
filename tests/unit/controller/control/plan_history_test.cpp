#include "controller/control/plan_history.h"

#include <gtest/gtest.h>

#include "plan/plan_codec.h"
#include "unit/controller/support.h"

namespace pingloom::controller::plan_history_test {
namespace {

std::shared_ptr<const plan::Plan> planWith(int hosts) {
  const auto pinglist = test::pinglistOf("  - { name: a, protocol: udp, mesh: ['10.0.0.[1-" +
                                         std::to_string(hosts) + "]'] }\n");
  return {pinglist, &pinglist->plan};
}

plan::Plan applyUpdate(const std::string& bytes, const plan::Plan* base) {
  wire::ControllerMessage message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  const auto decoded = plan::decode(message.plan(), base);
  EXPECT_TRUE(decoded) << decoded.error().text();
  return decoded.value_or(plan::Plan{});
}

TEST(PlanHistory, LeadsFromAnyKnownPlanToTheCurrentOne) {
  PlanHistory history;
  EXPECT_EQ(history.currentHash(), 0U);
  std::vector<std::shared_ptr<const plan::Plan>> plans;
  for (int i = 0; i < 10; ++i) {
    plans.push_back(planWith(200 + i));
    history.setCurrent(plans.back());
  }
  const std::uint64_t current = plan::hash(*plans.back());
  EXPECT_EQ(history.currentHash(), current);
  const auto complete = history.updateFrom(0);
  EXPECT_EQ(plan::hash(applyUpdate(*complete, nullptr)), current);
  for (std::size_t i = 2; i < plans.size(); ++i) {
    const auto update = history.updateFrom(plan::hash(*plans[i]));
    EXPECT_LT(update->size(), complete->size() / 2) << "a difference is small";
    EXPECT_EQ(plan::hash(applyUpdate(*update, plans[i].get())), current);
  }
  EXPECT_EQ(history.updateFrom(plan::hash(*plans[1])), complete) << "no longer known";
  EXPECT_EQ(history.updateFrom(12345), complete) << "never known; the same bytes for all";
}

TEST(PlanHistory, APlanThatComesBackIsKnownOnce) {
  PlanHistory history;
  const auto one = planWith(2);
  const auto two = planWith(3);
  for (int i = 0; i < 20; ++i) {
    history.setCurrent(one);
    history.setCurrent(two);
  }
  const auto update = history.updateFrom(plan::hash(*one));
  EXPECT_EQ(plan::hash(applyUpdate(*update, one.get())), plan::hash(*two));
}

}  // namespace
}  // namespace pingloom::controller::plan_history_test
