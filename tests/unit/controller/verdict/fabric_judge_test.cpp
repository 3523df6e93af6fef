#include "controller/verdict/fabric_judge.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::fabric_judge_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Four leaves with two hosts each and four spines; a mesh with eight paths. All flows are traced.
class FabricJudgeTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kHosts = 8;
  static constexpr std::uint32_t kPaths = 8;
  static constexpr std::uint32_t kSent = 10;

  FabricJudgeTest() {
    evidence_.places = std::make_shared<const Places>(
        makeGridPlan(test::pinglistOf("  - { name: fabric, protocol: rdma, mesh: "
                                      "['10.1.0.[1-8]'], paths: 8, window: 10s }\n"),
                     1));
    traceAll();
    draw();
  }

  void traceAll() {
    for (std::uint32_t from = 0; from < kHosts; ++from) {
      for (std::uint32_t to = 0; to < kHosts; ++to) {
        for (std::uint32_t path = 1; path <= kPaths && from != to; ++path) trace(from, to, path);
      }
    }
  }

  static IpAddress host(std::uint32_t number) { return IpAddress::fromV4(0x0A010001 + number); }
  static std::uint32_t numberOf(const IpAddress& address) {
    std::uint32_t number = 0;
    while (host(number) != address) ++number;
    return number;
  }
  static std::uint32_t leafOf(std::uint32_t host) { return host / 2; }
  static std::uint32_t spineOf(std::uint32_t from, std::uint32_t to, std::uint32_t path) {
    return (from * 5 + to * 3 + path * 7 + from * to * path) % 4;
  }
  static IpAddress atLeaf(std::uint32_t leaf, std::uint32_t spine) {
    return IpAddress::fromV4(0x0A020000 + (leaf << 8) + 2 * spine);
  }
  static IpAddress atSpine(std::uint32_t leaf, std::uint32_t spine) {
    return IpAddress::fromV4(0x0A020001 + (leaf << 8) + 2 * spine);
  }

  void trace(std::uint32_t from, std::uint32_t to, std::uint32_t path) {
    auto known = std::make_shared<KnownPath>();
    known->since_utc = (1 + turn_) * kSecond;
    TracedPath& traced = known->path;
    traced.probe = "fabric";
    traced.source = host(from);
    traced.destination = host(to);
    traced.path = path;
    traced.end = PathEnd::kReached;
    traced.hops.push_back({IpAddress::fromV4(0x0A030000 + from), 1});
    if (leafOf(from) != leafOf(to)) {
      const std::uint32_t spine = (spineOf(from, to, path) + turn_) % 4;
      traced.hops.push_back({atSpine(leafOf(from), spine), 1});
      traced.hops.push_back({atLeaf(leafOf(to), spine), 1});
    }
    evidence_.paths.push_back(std::move(known));
  }

  void draw() {
    SwitchNames names;
    for (std::uint32_t leaf = 0; leaf < 4; ++leaf) {
      for (std::uint32_t spine = 0; spine < 4; ++spine) {
        names[atLeaf(leaf, spine)] = {"leaf" + std::to_string(leaf), 1};
        names[atSpine(leaf, spine)] = {"spine" + std::to_string(spine), 2};
      }
    }
    evidence_.map = mapFabric(evidence_.paths, 1, names);
  }

  // One way of a packet; returns the share of packets that are lost on it.
  using Loss = std::function<double(std::uint32_t from, std::uint32_t to, std::uint32_t path)>;

  void measure(const Loss& loss) {
    ++window_;
    evidence_.sources.assign(1, {});
    for (std::uint32_t from = 0; from < kHosts; ++from) {
      auto rows = std::make_shared<SourceRows>();
      rows->window = 10 * kSecond;
      rows->window_index = window_;
      rows->rows.resize(kHosts);
      for (std::uint32_t path = 1; path <= kPaths; ++path) {
        auto of_path = std::make_shared<Rows>(kHosts);
        for (std::uint32_t to = 0; to < kHosts; ++to) {
          if (to == from) continue;
          const double lost = 1 - (1 - loss(from, to, path)) * (1 - loss(to, from, path));
          Row row;
          row.sent = kSent;
          row.lost = static_cast<std::uint32_t>(lost * kSent + 0.5);
          row.received = kSent - row.lost;
          if (counts_(from)) {
            const double came = counts_(to) ? 1 - loss(to, from, path) : 0;
            row.inbound = static_cast<std::uint32_t>(came * kSent + 0.5);
          }
          const std::uint64_t time = kUsual + delay_(from, to, path) + delay_(to, from, path);
          row.network = {kSent, time - 2000, time, time, time + 3000, time + 3000, time + 3000};
          of_path->set(to, row);
        }
        rows->paths.push_back(std::move(of_path));
      }
      auto snapshot = std::make_shared<SourceSnapshot>();
      snapshot->rows = std::move(rows);
      snapshot->states.assign(kHosts, PairState::kOk);
      snapshot->judged.assign(kHosts, {Severity::kOk, 0});
      snapshot->states[from].reset();
      snapshot->judged[from] = {};
      evidence_.sources[0].push_back(std::move(snapshot));
    }
  }

  std::vector<std::string> culprits(const Loss& loss) {
    measure(loss);
    report_ = judge_.judge(evidence_);
    std::vector<std::string> made;
    for (const Finding& finding : report_.findings) {
      made.push_back(std::string(name(finding.culprit.kind)) + " " + finding.culprit.name);
    }
    return made;
  }

  // The loss of a link from a spine to a leaf, or, with `up`, from the leaf to the spine.
  static Loss link(std::uint32_t leaf, std::uint32_t spine, bool up, double lost) {
    return [=](std::uint32_t from, std::uint32_t to, std::uint32_t path) {
      const bool crosses = leafOf(from) != leafOf(to) && spineOf(from, to, path) == spine &&
                           leafOf(up ? from : to) == leaf;
      return crosses ? lost : 0;
    };
  }

  // One way of a packet; returns by how many nanoseconds it is late.
  using Delay = std::function<std::uint64_t(std::uint32_t from, std::uint32_t to, std::uint32_t)>;

  std::vector<std::string> slowCulprits(const Delay& delay) {
    delay_ = delay;
    return culprits([](auto, auto, auto) { return 0; });
  }
  void learn() {
    for (std::uint8_t i = 0; i < FlowBaseline::kLearned; ++i) {
      EXPECT_THAT(slowCulprits([](auto, auto, auto) { return 0; }), IsEmpty());
    }
  }

  static constexpr std::uint64_t kUsual = 40'000;
  FabricJudge::Evidence evidence_;
  FabricJudge judge_;
  FabricReport report_;
  std::uint64_t window_ = 100;
  std::uint32_t turn_ = 0;  // by how many spines all flows were moved
  Delay delay_ = [](auto, auto, auto) { return 0; };
  // Whether a host's agent counts the PINGs that arrive.
  std::function<bool(std::uint32_t host)> counts_ = [](auto) { return false; };
};

TEST_F(FabricJudgeTest, AWellFabricHasNoCulprit) {
  EXPECT_THAT(culprits([](auto, auto, auto) { return 0; }), IsEmpty());
  EXPECT_EQ(report_.flows, kHosts * (kHosts - 1) * kPaths);
  EXPECT_THAT(report_.explained, IsEmpty());
}

TEST_F(FabricJudgeTest, LeavesOutPathsOfWhichEachIsThatOfOneConnection) {
  for (auto& known : evidence_.paths) {
    auto made = std::make_shared<KnownPath>(*known);
    made->path.one_connection = true;
    known = made;
  }
  EXPECT_THAT(culprits(link(0, 1, false, 0.3)), IsEmpty());
  EXPECT_EQ(report_.flows, 0U);
}

TEST_F(FabricJudgeTest, NamesALinkAndItsDirection) {
  EXPECT_THAT(culprits(link(0, 1, false, 0.3)), ElementsAre("link spine1 -> leaf0"));
  const Finding& finding = report_.findings[0];
  EXPECT_EQ(finding.entity, "cable:leaf0|spine1");
  EXPECT_EQ(finding.severity, Severity::kLossy);
  EXPECT_EQ(finding.window, 10 * kSecond);
  EXPECT_TRUE(finding.settled);
  EXPECT_FALSE(finding.close_call);
  EXPECT_THAT(finding.sentence, testing::StartsWith("the link spine1 -> leaf0 loses "));
  EXPECT_THAT(finding.sentence, HasSubstr(" flows of fabric"));
  EXPECT_THAT(finding.evidence, SizeIs(Incident::kMaxEvidence));
  EXPECT_THAT(finding.evidence[0].because, HasSubstr(" of 10 pings"));
  EXPECT_TRUE(report_.explained.contains({host(0), host(2)}) ||
              report_.explained.contains({host(0), host(3)}));
  EXPECT_FALSE(report_.explained.contains({host(2), host(4)}));
  EXPECT_THAT(culprits(link(2, 3, true, 0.5)), ElementsAre("link leaf2 -> spine3"));
}

TEST_F(FabricJudgeTest, TellsTheWaysApartWhereBothEndsCount) {
  counts_ = [](auto) { return true; };
  EXPECT_THAT(culprits(link(0, 1, false, 0.3)), ElementsAre("link spine1 -> leaf0"));
  EXPECT_THAT(report_.findings[0].candidates, IsEmpty());
  EXPECT_EQ(report_.flows, kHosts * (kHosts - 1) * kPaths);
  ASSERT_THAT(report_.findings[0].evidence, SizeIs(Incident::kMaxEvidence));
  for (const Evidence& line : report_.findings[0].evidence) {
    EXPECT_THAT(line.because, testing::AnyOf(HasSubstr(" of 10 answers on the way back"),
                                             HasSubstr(" of 10 pings on the way there")));
  }
  EXPECT_THAT(culprits(link(2, 3, true, 1)), ElementsAre("link leaf2 -> spine3"));
  EXPECT_THAT(report_.findings[0].candidates, IsEmpty());
}

// Between two hosts alone, each path there and back crosses the same spine. Round trips then accuse
// both directions alike.
TEST_F(FabricJudgeTest, KnowsTheDirectionThatRoundTripsCannotTell) {
  std::erase_if(evidence_.paths, [](const auto& known) {
    const TracedPath& path = known->path;
    return std::max(path.source, path.destination) != host(2) ||
           std::min(path.source, path.destination) != host(0);
  });
  draw();
  const auto suspects = [&] {
    std::set<std::string> made;
    for (const Finding& finding : report_.findings) {
      made.insert(finding.culprit.name);
      for (const Culprit& each : finding.candidates) made.insert(each.name);
    }
    return made;
  };
  culprits(link(0, 1, true, 0.5));
  EXPECT_THAT(suspects(), testing::IsSupersetOf({"leaf0 -> spine1", "spine1 -> leaf0"}));
  counts_ = [](auto) { return true; };
  culprits(link(0, 1, true, 0.5));
  EXPECT_THAT(suspects(), testing::UnorderedElementsAre("leaf0 -> spine1", "spine1 -> leaf1"));
}

// Its peers count none of its PINGs, because they do not say that they may be counted.
TEST_F(FabricJudgeTest, ExcusesAnAgentThatDoesNotCountArrivals) {
  counts_ = [](std::uint32_t host) { return host != 3; };
  EXPECT_THAT(culprits([](auto, auto, auto) { return 0; }), IsEmpty());
  EXPECT_THAT(report_.to_confirm, IsEmpty());
  EXPECT_THAT(culprits(link(0, 1, false, 0.3)), ElementsAre("link spine1 -> leaf0"));
}

TEST_F(FabricJudgeTest, NamesACableAndASwitch) {
  const Loss up = link(3, 0, true, 0.3);
  const Loss down = link(3, 0, false, 0.3);
  EXPECT_THAT(culprits([&](auto from, auto to, auto path) {
                return up(from, to, path) + down(from, to, path);
              }),
              ElementsAre("cable leaf3 - spine0"));
  EXPECT_THAT(culprits([](auto from, auto to, auto path) {
                return leafOf(from) != leafOf(to) && spineOf(from, to, path) == 2 ? 1.0 : 0.0;
              }),
              ElementsAre("switch spine2"));
  EXPECT_EQ(report_.findings[0].severity, Severity::kDown);
  EXPECT_THAT(report_.findings[0].sentence, HasSubstr("the switch spine2 loses every packet, in "));
}

TEST_F(FabricJudgeTest, NamesABlackHoleOfSomeFlows) {
  const Loss all = link(1, 3, true, 1);
  EXPECT_THAT(culprits([&](auto from, auto to, auto path) {
                return (from * 7 + to * 11 + path) % 5 == 0 ? all(from, to, path) : 0;
              }),
              ElementsAre("link leaf1 -> spine3"));
  ASSERT_THAT(report_.findings, SizeIs(1));
  EXPECT_THAT(report_.findings[0].sentence, HasSubstr("loses every packet of "));
  EXPECT_THAT(culprits([&](auto from, auto to, auto path) {
                return (from * 7 + to * 11 + path) % 9 == 0 ? all(from, to, path) : 0;
              }),
              ElementsAre("link leaf1 -> spine3"));
  EXPECT_TRUE(report_.findings[0].settled);
  EXPECT_FALSE(report_.findings[0].close_call) << "the next window would show the same";
}

TEST_F(FabricJudgeTest, LeavesAHostsTroubleToOthers) {
  EXPECT_THAT(culprits([](auto from, auto to, auto) { return from == 3 || to == 3 ? 0.4 : 0; }),
              IsEmpty());
}

TEST_F(FabricJudgeTest, FindsALittleLossInSeveralWindows) {
  const Loss on_link = link(0, 1, false, 1);
  std::vector<std::string> found;
  for (std::uint32_t window = 0; window < RecentCounts::kWindows; ++window) {
    // In each window another one of the flows over the link loses one ping.
    std::uint32_t seen = 0;
    found = culprits([&](auto from, auto to, auto path) {
      return on_link(from, to, path) > 0 && ++seen == 2 * window + 1 ? 0.1 : 0;
    });
    if (window == 0) {
      EXPECT_THAT(found, IsEmpty());
    }
  }
  EXPECT_THAT(found, ElementsAre("link spine1 -> leaf0"));
  // It has ended.
  const auto well = [](auto, auto, auto) { return 0; };
  culprits(well);
  EXPECT_THAT(culprits(well), IsEmpty());
}

TEST_F(FabricJudgeTest, ForgetsAFaultThatHasEnded) {
  for (int window = 0; window < 3; ++window) culprits(link(0, 1, false, 0.3));
  EXPECT_THAT(report_.findings, SizeIs(1));
  const auto well = [](auto, auto, auto) { return 0; };
  culprits(well);
  EXPECT_THAT(culprits(well), IsEmpty());
}

// A ping that is lost there four windows later may be chance, or another fault.
TEST_F(FabricJudgeTest, ForgetsTheWindowsOfAnIncidentThatIsOver) {
  counts_ = [](auto) { return true; };
  for (int window = 0; window < 3; ++window) culprits(link(0, 1, false, 0.3));
  ASSERT_THAT(report_.findings, SizeIs(1));
  const auto well = [](auto, auto, auto) { return 0; };
  for (int window = 0; window < 3; ++window) culprits(well);
  const Loss on_link = link(0, 1, false, 0.1);
  ASSERT_GT(on_link(2, 0, 1), 0);
  EXPECT_THAT(culprits([&](auto from, auto to, auto path) {
                return from == 2 && path == 1 ? on_link(from, to, path) : 0;
              }),
              IsEmpty());
}

// The flow crosses the link on its way back, where it loses nothing any more.
TEST_F(FabricJudgeTest, ALossOnTheOtherWayDoesNotProlongAFault) {
  counts_ = [](auto) { return true; };
  for (int window = 0; window < 3; ++window) culprits(link(0, 1, false, 0.3));
  ASSERT_THAT(report_.findings, SizeIs(1));
  culprits([](auto, auto, auto) { return 0; });
  const Loss other_way = link(0, 1, true, 0.1);
  EXPECT_THAT(culprits([&](auto from, auto to, auto path) {
                return from == 0 && to == 2 ? other_way(from, to, path) : 0;
              }),
              IsEmpty());
}

TEST_F(FabricJudgeTest, ForgetsWhatItLearnedOnAnotherRoute) {
  learn();
  // Every flow takes another spine, so what is slow there is learned anew.
  turn_ = 1;
  evidence_.paths.clear();
  traceAll();
  draw();
  const Delay slow = [](auto from, auto to, auto path) {
    return leafOf(from) != leafOf(to) && (spineOf(from, to, path) + 1) % 4 == 2 ? 50'000 : 0;
  };
  for (std::uint8_t i = 0; i < FlowBaseline::kLearned + 1; ++i) {
    EXPECT_THAT(slowCulprits(slow), IsEmpty());
  }
}

TEST_F(FabricJudgeTest, AsksForBurstsWhereItIsInDoubt) {
  int lost = 0;
  const Loss on_link = link(0, 1, false, 1);
  // Two of the flows over the link lose one ping each, which may be chance.
  culprits([&](auto from, auto to, auto path) {
    return on_link(from, to, path) > 0 && lost < 4 && ++lost % 2 == 0 ? 0.1 : 0;
  });
  ASSERT_FALSE(report_.to_confirm.empty());
  std::set<IpAddress> sources;
  std::size_t crossing = 0;
  for (const FlowName& flow : report_.to_confirm) {
    EXPECT_TRUE(sources.insert(flow.source).second);
    const std::uint32_t from = numberOf(flow.source);
    const std::uint32_t to = numberOf(flow.destination);
    const bool crosses = on_link(from, to, flow.path) > 0 || on_link(to, from, flow.path) > 0;
    crossing += crosses ? 1 : 0;
    evidence_.bursts.push_back({flow, 50, crosses ? 5U : 0U});
  }
  EXPECT_GE(crossing, 2U);
  EXPECT_LT(crossing, report_.to_confirm.size());
  // The bursts settle it.
  EXPECT_THAT(judge_.judge(evidence_).findings, testing::Not(IsEmpty()));
}

// A switch has begun to lose packets shortly before the end of the window. The few that were lost
// have all crossed the same cable by chance.
TEST_F(FabricJudgeTest, AFewLossesAreACloseCallBetweenACableAndItsSwitch) {
  const auto over_switch = [](auto from, auto to, auto path) {
    return leafOf(from) != leafOf(to) && spineOf(from, to, path) == 2;
  };
  int lossy = 0;
  culprits([&](auto from, auto to, auto path) {
    const bool over_cable = over_switch(from, to, path) && (leafOf(from) == 1 || leafOf(to) == 1);
    return over_cable && ++lossy % 10 == 0 ? 0.1 : 0;
  });
  ASSERT_THAT(report_.findings, SizeIs(1));
  EXPECT_EQ(report_.findings[0].culprit.name, "leaf1 - spine2");
  EXPECT_TRUE(report_.findings[0].close_call);
  std::size_t over_rival = 0;
  for (const FlowName& flow : report_.to_confirm) {
    const std::uint32_t from = numberOf(flow.source);
    const std::uint32_t to = numberOf(flow.destination);
    const bool crosses = over_switch(from, to, flow.path) || over_switch(to, from, flow.path);
    over_rival += crosses && leafOf(from) != 1 && leafOf(to) != 1 ? 1 : 0;
  }
  EXPECT_GE(over_rival, 3U) << "hosts behind the other leaves";
  EXPECT_THAT(culprits([&](auto from, auto to, auto path) {
                return over_switch(from, to, path) ? 0.1 : 0;
              }),
              ElementsAre("switch spine2"));
  EXPECT_FALSE(report_.findings[0].close_call);
}

TEST_F(FabricJudgeTest, AsksForNoBurstsWhereNothingIsInDoubt) {
  culprits([](auto, auto, auto) { return 0; });
  EXPECT_THAT(report_.to_confirm, IsEmpty());
  culprits(link(0, 1, false, 0.5));
  EXPECT_THAT(report_.to_confirm, IsEmpty());
}

TEST_F(FabricJudgeTest, IgnoresBurstsOverFlowsThatItDoesNotKnow) {
  evidence_.bursts = {{{"other", host(0), host(1), 1}, 50, 50},
                      {{"fabric", host(0), IpAddress::fromV4(1), 1}, 50, 50},
                      {{"fabric", host(0), host(1), 99}, 50, 50}};
  EXPECT_THAT(culprits([](auto, auto, auto) { return 0; }), IsEmpty());
}

TEST_F(FabricJudgeTest, NamesALinkThatDelays) {
  learn();
  const Loss on_link = link(0, 1, false, 1);
  EXPECT_THAT(slowCulprits([&](auto from, auto to, auto path) {
                return on_link(from, to, path) > 0 ? 310'000 : 0;
              }),
              ElementsAre("link spine1 -> leaf0"));
  const Finding& finding = report_.findings[0];
  EXPECT_EQ(finding.severity, Severity::kSlow);
  EXPECT_EQ(finding.figure, Figure::kNetwork);
  EXPECT_TRUE(finding.settled);
  EXPECT_THAT(finding.sentence,
              HasSubstr("the link spine1 -> leaf0 delays packets by 310 us, in "));
  EXPECT_THAT(finding.evidence[0].because, HasSubstr("is 310 us slower than usual"));
  EXPECT_THAT(report_.explained, IsEmpty());
  EXPECT_THAT(report_.explained_delay, testing::Not(IsEmpty()));
  EXPECT_THAT(slowCulprits([](auto, auto, auto) { return 0; }), IsEmpty());
}

// The trace of every other flow had no answer from the first router, and has it now.
TEST_F(FabricJudgeTest, RemembersWhatIsUsualWhenARouterBeginsToAnswer) {
  for (std::size_t i = 0; i < evidence_.paths.size(); i += 2) {
    auto partial = std::make_shared<KnownPath>(*evidence_.paths[i]);
    partial->path.hops[0] = {};
    evidence_.paths[i] = partial;
  }
  draw();
  learn();
  evidence_.paths.clear();
  traceAll();
  draw();
  const Loss on_link = link(0, 1, false, 1);
  EXPECT_THAT(slowCulprits([&](auto from, auto to, auto path) {
                return on_link(from, to, path) > 0 ? 310'000 : 0;
              }),
              ElementsAre("link spine1 -> leaf0"));
}

TEST_F(FabricJudgeTest, NamesASwitchThatDelays) {
  learn();
  EXPECT_THAT(slowCulprits([](auto from, auto to, auto path) {
                return leafOf(from) != leafOf(to) && spineOf(from, to, path) == 2 ? 50'000 : 0;
              }),
              ElementsAre("switch spine2"));
}

TEST_F(FabricJudgeTest, AccusesNobodyWhenEverythingIsSlower) {
  learn();
  EXPECT_THAT(slowCulprits([](auto, auto, auto) { return 30'000; }), IsEmpty());
}

// As it was seen while the processors of all hosts were busy with something else.
TEST_F(FabricJudgeTest, AccusesNobodyWhileFlowsScatterMore) {
  learn();
  const auto through = [](auto from, auto to) { return leafOf(from) == 2 || leafOf(to) == 2; };
  const auto noise = [](auto from, auto to, auto path) {
    return 4000 * static_cast<std::uint64_t>((from * 7 + to * 13 + path * 31) % 5);
  };
  EXPECT_THAT(slowCulprits([&](auto from, auto to, auto path) {
                return noise(from, to, path) + (through(from, to) ? 5000 : 0);
              }),
              IsEmpty());
  EXPECT_THAT(slowCulprits([&](auto from, auto to, auto path) {
                return noise(from, to, path) + (through(from, to) ? 50000 : 0);
              }),
              ElementsAre("switch leaf2"));
}

TEST_F(FabricJudgeTest, NamesTwoPartsThatDelayAtOnce) {
  learn();
  EXPECT_THAT(slowCulprits([](auto from, auto to, auto path) {
                const bool leaf = leafOf(from) == 3 || leafOf(to) == 3;
                const bool spine = leafOf(from) != leafOf(to) && spineOf(from, to, path) == 0;
                return (leaf ? 100'000 : 0) + (spine ? 100'000 : 0);
              }),
              testing::UnorderedElementsAre("switch spine0", "switch leaf3"));
}

TEST_F(FabricJudgeTest, LeavesASlowHostToOthers) {
  learn();
  EXPECT_THAT(
      slowCulprits([](auto from, auto to, auto) { return from == 3 || to == 3 ? 200'000 : 0; }),
      IsEmpty());
}

TEST_F(FabricJudgeTest, LooksOnlyAtWhatIsJudged) {
  measure(link(0, 1, false, 1));
  for (auto& source : evidence_.sources[0]) {
    auto copy = std::make_shared<SourceSnapshot>(*source);
    copy->judged.assign(kHosts, {});
    source = std::move(copy);
  }
  EXPECT_THAT(judge_.judge(evidence_).findings, IsEmpty());
}

TEST_F(FabricJudgeTest, FindsALinkWithoutThePathsOfOneHost) {
  std::erase_if(evidence_.paths, [](const auto& known) { return known->path.source == host(5); });
  draw();
  EXPECT_THAT(culprits(link(0, 1, false, 0.3)), ElementsAre("link spine1 -> leaf0"));
  evidence_.paths.clear();
  draw();
  EXPECT_THAT(culprits(link(0, 1, false, 0.3)), IsEmpty());
  EXPECT_EQ(report_.flows, 0U);
}

}  // namespace
}  // namespace pingloom::controller::fabric_judge_test
