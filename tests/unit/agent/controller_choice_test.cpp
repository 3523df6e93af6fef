#include "agent/controller_choice.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "wire/rendezvous.h"

namespace pingloom::agent::controller_choice_test {
namespace {

const std::vector<std::string> kThree = {"a:1", "b:1", "c:1"};

std::string homeOf(const std::string& host, const std::vector<std::string>& controllers) {
  return ControllerChoice(host, controllers).current();
}

TEST(ControllerChoice, AControllerThatGoesMovesOnlyItsOwnAgents) {
  std::map<std::string, int> agents;
  for (int i = 0; i < 3000; ++i) {
    const std::string host = "gpu-" + std::to_string(i);
    const std::string home = homeOf(host, kThree);
    ++agents[home];
    EXPECT_EQ(homeOf(host, {"c:1", "b:1", "a:1"}), home) << "the order of the list does not count";
    if (home == "c:1") continue;
    EXPECT_EQ(homeOf(host, {"a:1", "b:1"}), home);
  }
  for (const std::string& controller : kThree) {
    EXPECT_GT(agents[controller], 850) << controller;
    EXPECT_LT(agents[controller], 1150) << controller;
  }
}

TEST(ControllerChoice, GoesOnToTheNextAndComesRound) {
  ControllerChoice choice("gpu-1", kThree);
  std::set<std::string> tried;
  for (int i = 0; i < 3; ++i) {
    tried.insert(choice.current());
    choice.failed();
  }
  EXPECT_EQ(tried.size(), 3U);
  EXPECT_EQ(choice.current(), homeOf("gpu-1", kThree));
}

TEST(ControllerChoice, FollowsAndComesBackToTheOneThatSentIt) {
  ControllerChoice choice("gpu-1", {"a:1"});
  EXPECT_FALSE(choice.several());
  choice.follow("x:1");
  EXPECT_EQ(choice.current(), "x:1");
  EXPECT_TRUE(choice.several());
  choice.failed();
  EXPECT_EQ(choice.current(), "a:1");
  for (int i = 1; i < ControllerChoice::kMaxRedirects; ++i) {
    ASSERT_TRUE(choice.mayFollow());
    choice.follow("x:1");
  }
  EXPECT_FALSE(choice.mayFollow()) << "they do not agree";
  choice.registered();
  EXPECT_TRUE(choice.mayFollow());
}

TEST(ControllerChoice, AgentsOfADeadControllerComeOneByOne) {
  std::set<Nanos> waits;
  for (int i = 0; i < 100; ++i) {
    const Nanos patience = ControllerChoice("gpu-" + std::to_string(i), kThree).patience();
    EXPECT_GE(patience, ControllerChoice::kPatience);
    EXPECT_LT(patience, ControllerChoice::kPatience + ControllerChoice::kSpread);
    waits.insert(patience / (10 * kMillisecond));
  }
  EXPECT_GT(waits.size(), 40U);
}

TEST(ControllerChoice, EachRoundWithoutSuccessIsMorePatient) {
  ControllerChoice choice("gpu-1", kThree);
  for (const Nanos factor : {1, 2, 4, 4}) {
    for (int i = 0; i < 3; ++i) {
      const Nanos patience = choice.patience();
      EXPECT_GE(patience, factor * ControllerChoice::kPatience);
      EXPECT_LT(patience, factor * (ControllerChoice::kPatience + ControllerChoice::kSpread));
      choice.follow("x:1");
      choice.failed();  // the one that was named is no member of the round
      choice.failed();
    }
  }
  choice.registered();
  EXPECT_LT(choice.patience(), ControllerChoice::kPatience + ControllerChoice::kSpread);
}

// Wherever in the list the controller stood that has ended.
TEST(ControllerChoice, ARoundBeginsWithTheFirstFailure) {
  for (int place = 0; place < 3; ++place) {
    ControllerChoice choice("gpu-1", kThree);
    for (int i = 0; i < place; ++i) choice.failed();
    choice.registered();
    for (int i = 0; i < 3; ++i) {
      EXPECT_LT(choice.patience(), ControllerChoice::kPatience + ControllerChoice::kSpread);
      choice.failed();
    }
    EXPECT_GE(choice.patience(), 2 * ControllerChoice::kPatience);
  }
}

}  // namespace
}  // namespace pingloom::agent::controller_choice_test
