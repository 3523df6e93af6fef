#include "controller/verdict/agent_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/controller/verdict/judged_mesh.h"

namespace pingloom::controller::agent_watch_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class AgentWatchTest : public testing::Test {
 protected:
  AgentWatchTest() {
    for (std::uint32_t i = 0; i < 24; ++i) agents_.push_back({i, true, now_, 7});
  }
  std::vector<Finding> find(Nanos later = 0) {
    now_ += later;
    for (auto& agent : agents_) {
      if (agent.alive) agent.heard_utc = now_;
    }
    return watch_.find(mesh_.places(), agents_, now_);
  }

  Nanos now_ = 1'795'230'720 * kSecond;
  JudgedMesh mesh_{24};
  std::vector<AgentWatch::Agent> agents_;
  AgentWatch watch_;
};

TEST_F(AgentWatchTest, AnAgentThatIsGoneForSomeSeconds) {
  EXPECT_THAT(find(), IsEmpty());
  agents_[2].alive = false;
  EXPECT_THAT(find(4 * kSecond), IsEmpty()) << "it may restart";
  const auto found = find(kSecond);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].culprit, (Culprit{CulpritKind::kAgent, "h3"}));
  EXPECT_EQ(found[0].entity, "host:h3") << "as what its pairs showed before";
  EXPECT_EQ(found[0].labels.at("rack"), "r1");
  EXPECT_THAT(found[0].sentence, HasSubstr("last heard at 20"));
  agents_[2].alive = true;
  EXPECT_THAT(find(kSecond), IsEmpty());
}

TEST_F(AgentWatchTest, ARollingRestartIsNothing) {
  for (auto& agent : agents_) {
    agent.alive = false;
    EXPECT_THAT(find(kSecond), IsEmpty());
    agent.alive = true;
    ++agent.incarnation;
    EXPECT_THAT(find(kSecond), IsEmpty());
  }
}

TEST_F(AgentWatchTest, RestartsAgainAndAgain) {
  find();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(find(10 * kSecond), IsEmpty());
    ++agents_[4].incarnation;
  }
  const auto found = find(10 * kSecond);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].sentence, HasSubstr("h5's agent restarts again and again"));
  EXPECT_EQ(found[0].severity, Severity::kSlow);
  EXPECT_THAT(find(11 * kMinute), IsEmpty());
}

TEST_F(AgentWatchTest, ManyAtOnceAreOneFinding) {
  for (std::size_t i = 0; i < 20; ++i) agents_[i].alive = false;
  const auto found = find(10 * kSecond);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].sentence, HasSubstr("20 of 24 agents are gone, such as h1, h2, h3"));
}

}  // namespace
}  // namespace pingloom::controller::agent_watch_test
