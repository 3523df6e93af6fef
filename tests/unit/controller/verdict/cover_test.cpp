#include "controller/verdict/cover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/controller/verdict/judged_mesh.h"

namespace pingloom::controller::cover_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

TEST(Cover, AWellMeshHasNoCulprit) { EXPECT_THAT(JudgedMesh(24).culprits(), IsEmpty()); }

TEST(Cover, AHostOfWhichEveryPairIsBad) {
  JudgedMesh mesh(24);
  mesh.spoil([](auto from, auto to) { return from == 3 || to == 3; });
  const auto found = mesh.find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].entity, "host:h3");
  EXPECT_EQ(found[0].culprit, (Culprit{CulpritKind::kHost, "h3"}));
  EXPECT_EQ(found[0].bad_pairs, 46U);
  EXPECT_EQ(found[0].judged_pairs, 46U);
  EXPECT_EQ(found[0].sentence,
            "h3's network side is very slow: network 800 us, 800 x the mesh's median, in 46 of 46 "
            "pairs of mesh");
  EXPECT_THAT(found[0].evidence, SizeIs(Incident::kMaxEvidence));
  EXPECT_THAT(found[0].candidates, IsEmpty());
  EXPECT_EQ(found[0].labels.at("rack"), "r1");
}

TEST(Cover, OneDirectionOfAHost) {
  JudgedMesh receives(24);
  receives.spoil([](auto, auto to) { return to == 3; }, Figure::kLoss, Severity::kLossy);
  EXPECT_THAT(receives.culprits(), ElementsAre("host-receive h3"));
  EXPECT_THAT(receives.find()[0].sentence, StartsWith("what h3 receives loses 50 % of the pings"));
  JudgedMesh sends(24);
  sends.spoil([](auto from, auto) { return from == 3; });
  EXPECT_THAT(sends.culprits(), ElementsAre("host-send h3"));
}

TEST(Cover, AHostOfWhichOnlySomePairsAreBadYet) {
  JudgedMesh mesh(24);
  mesh.spoil(
      [](auto from, auto to) { return (from == 3 && to % 2 == 0) || (to == 3 && from > 8); });
  EXPECT_THAT(mesh.culprits(), ElementsAre("host h3"));
}

TEST(Cover, TwoAndThreeHostsAtOnce) {
  JudgedMesh mesh(24);
  mesh.spoil([](auto from, auto to) { return from == 3 || to == 3; });
  mesh.spoil([](auto from, auto to) { return from == 17 || to == 17; });
  EXPECT_THAT(mesh.culprits(), UnorderedElementsAre("host h3", "host h17"));
  mesh.spoil([](auto, auto to) { return to == 9; }, Figure::kLoss, Severity::kDown);
  EXPECT_THAT(mesh.culprits(), UnorderedElementsAre("host h3", "host h17", "host-receive h9"));
}

TEST(Cover, ARacksUplink) {
  JudgedMesh mesh(24);
  mesh.spoil([](auto from, auto to) {
    return (JudgedMesh::rackOf(from) == 2) != (JudgedMesh::rackOf(to) == 2);
  });
  EXPECT_THAT(mesh.culprits(), ElementsAre("group rack=r2"));
}

TEST(Cover, SomeHostsOfARackAreNotTheRack) {
  JudgedMesh two(24);
  two.spoil([](auto from, auto to) { return from == 5 || to == 5 || from == 6 || to == 6; });
  EXPECT_THAT(two.culprits(), UnorderedElementsAre("host h5", "host h6"));
  JudgedMesh small(12);
  small.spoil([](auto from, auto to) { return from == 5 || to == 5 || from == 6 || to == 6; });
  EXPECT_THAT(small.culprits(), UnorderedElementsAre("host h5", "host h6"));
}

TEST(Cover, ARackWithItsInsideToo) {
  JudgedMesh mesh(24);
  mesh.spoil([](auto from, auto to) {
    return JudgedMesh::rackOf(from) == 2 || JudgedMesh::rackOf(to) == 2;
  });
  EXPECT_THAT(mesh.culprits(), ElementsAre("group rack=r2"));
}

TEST(Cover, TwoRacksCannotBeToldApart) {
  JudgedMesh mesh(8);
  mesh.spoil([](auto from, auto to) { return JudgedMesh::rackOf(from) != JudgedMesh::rackOf(to); });
  const auto found = mesh.find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].candidates, SizeIs(1));
  EXPECT_THAT(found[0].tell, HasSubstr("outside"));
}

TEST(Cover, OnePair) {
  JudgedMesh mesh(24);
  mesh.spoil([](auto from, auto to) { return from == 3 && to == 17; });
  const auto one = mesh.find();
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].culprit, (Culprit{CulpritKind::kPair, "h3 -> h17"}));
  EXPECT_EQ(one[0].entity, "pair:h17|h3");
  mesh.spoil([](auto from, auto to) { return from == 17 && to == 3; });
  const auto both = mesh.find();
  ASSERT_THAT(both, SizeIs(1)) << "both directions are one";
  EXPECT_EQ(both[0].entity, one[0].entity);
}

TEST(Cover, OfTwoHostsEitherMayBeAtFault) {
  JudgedMesh mesh(2);
  mesh.spoil([](auto, auto) { return true; });
  const auto found = mesh.find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].culprit.kind, CulpritKind::kPair);
  EXPECT_THAT(found[0].candidates,
              ElementsAre(Culprit{CulpritKind::kHost, "h1"}, Culprit{CulpritKind::kHost, "h2"}));
  EXPECT_THAT(found[0].tell, HasSubstr("third host"));
}

TEST(Cover, TheHostsOwnTime) {
  JudgedMesh mesh(24);
  mesh.spoil([](auto, auto to) { return to == 5; }, Figure::kResponder, Severity::kSlow);
  mesh.spoil([](auto from, auto) { return from == 5; }, Figure::kProber, Severity::kSlow);
  const auto found = mesh.find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].culprit, (Culprit{CulpritKind::kHostCpu, "h5"}));
  EXPECT_THAT(found[0].sentence, HasSubstr("h5 is short of CPU time: its answers take 5 ms"));
}

TEST(Cover, TheHostsOwnTimeShowsInOneDirectionOnly) {
  JudgedMesh mesh(6);
  mesh.spoil([](auto, auto to) { return to == 5; }, Figure::kResponder);
  EXPECT_THAT(mesh.culprits(), ElementsAre("host-cpu h5"));
}

TEST(Cover, AFewPairsOfAHostsOwnTimeAccuseNobody) {
  JudgedMesh mesh(24);
  mesh.spoil([](auto from, auto to) { return from == 5 && to <= 10; }, Figure::kProber);
  mesh.spoil([](auto from, auto to) { return from == 20 && to == 3; }, Figure::kResponder);
  EXPECT_THAT(mesh.culprits(), IsEmpty());
  mesh.spoil([](auto from, auto to) { return from == 5 && to <= 14; }, Figure::kProber);
  EXPECT_THAT(mesh.culprits(), IsEmpty()) << "13 of 23, of few peers";
  mesh.spoil([](auto from, auto to) { return from == 5 && to <= 16; }, Figure::kProber);
  EXPECT_THAT(mesh.culprits(), ElementsAre("host-cpu h5"));
}

TEST(Cover, TheOwnTimeOfOneOfTwoHosts) {
  JudgedMesh mesh(2);
  mesh.spoil([](auto from, auto) { return from == 1; }, Figure::kProber);
  EXPECT_THAT(mesh.culprits(), ElementsAre("pair h1 -> h2"));
}

TEST(Cover, IsNotSettledWhileMorePairsFollow) {
  const auto with_h3 = [](auto from, auto to) { return from == 3 || to == 3; };
  JudgedMesh pair(24);
  pair.spoil([](auto from, auto to) { return from == 3 && to == 17; });
  ASSERT_THAT(pair.find(), SizeIs(1));
  EXPECT_TRUE(pair.find()[0].settled);
  pair.unsettle([](auto from, auto to) { return from == 17 && to == 3; }, Figure::kNetwork);
  EXPECT_TRUE(pair.find()[0].settled) << "it is the other direction";
  pair.unsettle([](auto from, auto to) { return from == 17 && to == 4; }, Figure::kNetwork);
  EXPECT_FALSE(pair.find()[0].settled);
  JudgedMesh host(24);
  host.spoil([&](auto from, auto to) { return with_h3(from, to) && (from + to) % 2 == 0; });
  host.unsettle([&](auto from, auto to) { return with_h3(from, to) && (from + to) % 2 != 0; },
                Figure::kNetwork);
  ASSERT_THAT(host.find(), SizeIs(1));
  EXPECT_TRUE(host.find()[0].settled) << "the next window accuses h3 as well";
  host.unsettle(
      [&](auto from, auto to) {
        const auto in_rack = [](auto at) { return JudgedMesh::rackOf(at) == 1; };
        return in_rack(from) != in_rack(to) && !with_h3(from, to);
      },
      Figure::kNetwork);
  ASSERT_THAT(host.find(), SizeIs(1));
  EXPECT_FALSE(host.find()[0].settled) << "the next window may accuse the rack";
}

TEST(Cover, ASinglePairThatOnlyItsJitterAccusesIsNotSettled) {
  JudgedMesh mesh(24);
  mesh.spoil([](auto from, auto to) { return from == 3 && to == 17; }, Figure::kJitter);
  ASSERT_THAT(mesh.find(), SizeIs(1));
  EXPECT_FALSE(mesh.find()[0].settled);
  mesh.spoil([](auto from, auto to) { return from == 17 && to == 3; }, Figure::kNetwork);
  ASSERT_THAT(mesh.find(), SizeIs(1));
  EXPECT_TRUE(mesh.find()[0].settled) << "the other direction is slow";
  JudgedMesh host(24);
  host.spoil([](auto from, auto to) { return from == 3 || to == 3; }, Figure::kJitter);
  ASSERT_THAT(host.find(), SizeIs(1));
  EXPECT_TRUE(host.find()[0].settled) << "many pairs are no chance";
}

TEST(Cover, ACulpritShowsWhileAQuarterOfItsPairsDo) {
  const auto with_h3 = [](auto from, auto to) { return from == 3 || to == 3; };
  JudgedMesh mesh(24);
  mesh.spoil(with_h3);
  EXPECT_TRUE(mesh.find()[0].shows);
  mesh.fade([](auto, auto to) { return to > 12; });
  EXPECT_TRUE(mesh.find()[0].shows) << "mild loss does not hit every window";
  mesh.fade([](auto from, auto to) { return from != 1 && to != 1; });
  EXPECT_FALSE(mesh.find()[0].shows) << "two of its pairs had bad luck";
}

TEST(Cover, AllOfAProbe) {
  JudgedMesh mesh(24);
  mesh.spoil([](auto from, auto to) { return (from * 31 + to * 7) % 10 != 0; }, Figure::kLoss,
             Severity::kLossy);
  EXPECT_THAT(mesh.culprits(), ElementsAre("probe mesh"));
}

TEST(Cover, ManyPairsWithoutACommonCauseAreOne) {
  JudgedMesh mesh(48);
  mesh.spoil([](auto from, auto to) { return from < to && (from * 31 + to * 7) % 50 == 0; });
  const auto found = mesh.find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].sentence, HasSubstr("without a common cause"));
}

TEST(Cover, OneRailOfAHostAndAllOfItsRails) {
  JudgedMesh mesh(24, 2);
  const auto with_h3 = [](auto from, auto to) { return from == 3 || to == 3; };
  mesh.spoil(with_h3, Figure::kNetwork, Severity::kVerySlow, 1);
  EXPECT_THAT(mesh.culprits(), ElementsAre("address h3/rail1"));
  mesh.spoil(with_h3, Figure::kNetwork, Severity::kVerySlow, 0);
  const auto found = mesh.find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].culprit, (Culprit{CulpritKind::kHost, "h3"}));
  EXPECT_THAT(found[0].probes, ElementsAre("rail0", "rail1"));
  EXPECT_EQ(found[0].bad_pairs, 92U);
}

TEST(Cover, PairsThatAreNotJudgedAreNoEvidence) {
  JudgedMesh mesh(6);
  mesh.spoil([](auto from, auto to) { return from == 3 || to == 3; });
  mesh.forget(3);
  EXPECT_THAT(mesh.culprits(), IsEmpty());
}

}  // namespace
}  // namespace pingloom::controller::cover_test
