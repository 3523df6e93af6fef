#include "controller/control/cover_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "unit/controller/support.h"

namespace pingloom::controller::cover_pairs_test {
namespace {

using test::ip;
using testing::ElementsAre;
using testing::IsEmpty;
using Pair = std::pair<IpAddress, IpAddress>;

// Three racks of two hosts, 10.0.0.1 to 10.0.0.6.
std::shared_ptr<const pinglist::Pinglist> racks(const std::string& across, int hosts = 6) {
  std::string text = "version: 1\nhosts:\n";
  std::string members;
  for (int i = 0; i < hosts; ++i) {
    const std::string name = "h" + std::to_string(i);
    text += "  " + name + ": { address: 10.0.0." + std::to_string(i + 1) + ", rack: r" +
            std::to_string(i / 2) + " }\n";
    members += (i == 0 ? "" : ", ") + name;
  }
  text += "probes:\n  - { name: m, protocol: rdma, mesh: [" + members +
          "], plan: { full: rack, across: { " + across + " } } }\n";
  auto parsed = pinglist::parse(text, "pinglist.yaml");
  EXPECT_TRUE(parsed) << parsed.error().text();
  return std::make_shared<const pinglist::Pinglist>(std::move(*parsed));
}

class CoverPairsTest : public testing::Test {
 protected:
  static std::vector<Pair> extra(const std::shared_ptr<const pinglist::Pinglist>& list) {
    return list->plan.probes.at(0).extra;
  }
  static CoverPairs chosen(std::initializer_list<Pair> pairs) { return {"m", pairs}; }

  test::TemporaryDirectory folder_;
  std::filesystem::path file_ = folder_ / "cover";
  const Pair one_{ip("10.0.0.1"), ip("10.0.0.6")};
  const Pair two_{ip("10.0.0.3"), ip("10.0.0.2")};
};

TEST_F(CoverPairsTest, PutsWhatWasChosenIntoThePlan) {
  const auto list = racks("targets: 1");
  CoverPairsFile pairs(file_);
  EXPECT_EQ(pairs.applied(list), list) << "there is nothing to add";
  EXPECT_EQ(pairs.add({chosen({two_})}, *list), 1U);
  EXPECT_EQ(pairs.add({chosen({two_})}, *list), 0U);
  EXPECT_EQ(pairs.add({chosen({one_, two_})}, *list), 1U);
  EXPECT_EQ(pairs.add({{"other", {one_}}}, *list), 0U);
  EXPECT_THAT(extra(pairs.applied(list)), ElementsAre(one_, two_));
  EXPECT_THAT(extra(list), IsEmpty());
}

TEST_F(CoverPairsTest, KeepsThemOverARestart) {
  const auto list = racks("targets: 1");
  {
    CoverPairsFile pairs(file_);
    pairs.add({chosen({one_, two_})}, *list);
  }
  CoverPairsFile pairs(file_);
  EXPECT_THAT(extra(pairs.applied(list)), ElementsAre(one_, two_));
}

TEST_F(CoverPairsTest, ForgetsThemWhenTheSampleIsAnother) {
  for (const char* other : {"targets: 2", "targets: 1, paths: 2", "targets: 1, cover: 4"}) {
    CoverPairsFile pairs(file_);
    pairs.add({chosen({one_})}, *racks("targets: 1"));
    EXPECT_THAT(extra(pairs.applied(racks(other))), IsEmpty()) << other;
    EXPECT_THAT(extra(pairs.applied(racks("targets: 1"))), IsEmpty()) << other;
  }
}

TEST_F(CoverPairsTest, AHostThatLeavesTakesItsPairsAlong) {
  CoverPairsFile pairs(file_);
  pairs.add({chosen({one_, two_})}, *racks("targets: 1"));
  EXPECT_THAT(extra(pairs.applied(racks("targets: 1", 5))), ElementsAre(two_));
  EXPECT_THAT(extra(CoverPairsFile(file_).applied(racks("targets: 1"))), ElementsAre(two_));
}

TEST_F(CoverPairsTest, TakesWhatOthersHaveChosenForTheSameSample) {
  CoverPairsFile pairs(file_);
  pairs.add({chosen({one_})}, *racks("targets: 1"));
  const std::vector<CoverPairs> told = pairs.all();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].pairs, ElementsAre(one_));
  CoverPairsFile same(folder_ / "same");
  EXPECT_EQ(same.add(told, *racks("targets: 2")), 0U) << "another sample";
  EXPECT_EQ(same.add(told, *racks("targets: 1", 5)), 0U) << "10.0.0.6 is no member there yet";
  EXPECT_TRUE(same.all().empty());
  EXPECT_EQ(same.add(told, *racks("targets: 1")), 1U);
  EXPECT_EQ(same.add(told, *racks("targets: 1")), 0U);
  EXPECT_THAT(extra(same.applied(racks("targets: 1"))), ElementsAre(one_));
}

TEST_F(CoverPairsTest, ADamagedFileHasNoPairs) {
  for (const char* text : {"", "{", "[]", R"({"probes":[{"probe":1}]})",
                           R"({"probes":[{"probe":"m","inputs":"x","pairs":[["10.0.0.1"]]}]})"}) {
    std::ofstream(file_) << text;
    CoverPairsFile pairs(file_);
    EXPECT_THAT(extra(pairs.applied(racks("targets: 1"))), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace pingloom::controller::cover_pairs_test
