#include "controller/verdict/pair_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace pingloom::controller::pair_judge_test {
namespace {

constexpr pinglist::WindowCount kEnter{3, 5};
constexpr pinglist::WindowCount kLeave{5, 5};

// Judges windows: '.' well, 's' slow, 'v' very slow, 'l' lossy, 'd' down. Returns a letter for each
// judgement.
std::string judged(const std::string& windows) {
  PairHistory history;
  std::string made;
  for (const char window : windows) {
    WindowLevels levels;
    levels.slow = window == 's' || window == 'v';
    levels.very_slow = window == 'v';
    levels.lossy = window == 'l' || window == 'd';
    levels.down = window == 'd';
    levels.figures = window == '.' ? 0 : 1;
    const Judged now = judge(history, levels, false, kEnter, kLeave);
    made += "?.svld"[static_cast<std::size_t>(now.severity)];
    EXPECT_TRUE(now.severity == Severity::kOk || now.figures != 0);
  }
  return made;
}

TEST(PairJudge, ThreeOfFiveEnterAndFiveClearLeave) {
  EXPECT_EQ(judged("ssss"), "..ss");
  EXPECT_EQ(judged("s.s.s"), "....s");
  EXPECT_EQ(judged("s..s..s"), ".......") << "one lost ping now and then is no alarm";
  EXPECT_EQ(judged("sss....."), "..sssss.");
  EXPECT_EQ(judged("sss...s....."), "..sssssssss.");
}

TEST(PairJudge, TheWorseSeverityOutweighs) {
  EXPECT_EQ(judged("vvv"), "..v");
  EXPECT_EQ(judged("sssvvv"), "..sssv");
  EXPECT_EQ(judged("dddlllll"), "..dddddl");
  EXPECT_EQ(judged("vvvlll"), "..vvvl");
}

TEST(PairJudge, AWindowIsTakenOnceHoweverOftenItsRowComes) {
  PairHistory history;
  WindowLevels slow;
  slow.slow = true;
  slow.figures = 1;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(judge(history, slow, i > 0, kEnter, kLeave).severity, Severity::kOk);
  }
  EXPECT_EQ(history.slow, 1);
  judge(history, {}, true, kEnter, kLeave);
  EXPECT_EQ(history.slow, 0) << "the newest row counts";
}

RowFigures row(std::uint64_t network, std::uint32_t lost = 0) {
  Row made;
  made.sent = 10;
  made.lost = lost;
  made.received = made.sent - lost;
  made.network = {made.received, network, network, network, network, network, network};
  made.rtt = made.network;
  return figuresOf(made);
}

TEST(PairJudge, ARelativeThresholdNeedsADistanceToo) {
  const pinglist::Thresholds usual;
  const Baseline baseline = {10'000};
  const Limits kernel = limitsOf(usual, baseline, ClockSource::kKernel);
  EXPECT_FALSE(levelsOf(row(31'000), kernel).slow) << "20 us are the scheduler's";
  EXPECT_TRUE(levelsOf(row(60'000), kernel).slow);
  EXPECT_FALSE(levelsOf(row(60'000), kernel).very_slow);
  EXPECT_TRUE(levelsOf(row(100'000), kernel).very_slow);
  const Limits hardware = limitsOf(usual, baseline, ClockSource::kHardware);
  EXPECT_TRUE(levelsOf(row(31'000), hardware).slow);
}

TEST(PairJudge, WithoutAMedianOnlyAbsoluteThresholdsHold) {
  pinglist::Thresholds thresholds;
  EXPECT_FALSE(levelsOf(row(9'000'000), limitsOf(thresholds, {}, ClockSource::kKernel)).slow);
  thresholds.of[0].warn = {pinglist::Level::Kind::kTime, 5e6};
  EXPECT_TRUE(levelsOf(row(9'000'000), limitsOf(thresholds, {}, ClockSource::kKernel)).slow);
}

TEST(PairJudge, LossIsLossyAndMostlyLossIsDown) {
  const Limits limits = limitsOf({}, {10'000}, ClockSource::kKernel);
  EXPECT_FALSE(levelsOf(row(10'000), limits).lossy);
  EXPECT_TRUE(levelsOf(row(10'000, 1), limits).lossy);
  EXPECT_FALSE(levelsOf(row(10'000, 4), limits).down);
  EXPECT_TRUE(levelsOf(row(10'000, 5), limits).down);
}

TEST(PairJudge, AMedianOfNonsenseIsNoMeasure) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  const Limits limits = limitsOf({}, {kHuge, kHuge, kHuge, kHuge, kHuge}, ClockSource::kKernel);
  EXPECT_FALSE(levelsOf(row(9'000'000), limits).slow);
  const Limits half = limitsOf({}, {kHuge / 2}, ClockSource::kKernel);
  EXPECT_FALSE(levelsOf(row(9'000'000), half).slow);
}

TEST(PairJudge, AnOkPairSaysNothingOfItsNewestWindow) {
  PairHistory history;
  const Limits limits = limitsOf({}, {10'000}, ClockSource::kKernel);
  const Judged once = judge(history, levelsOf(row(10'000, 1), limits), false, kEnter, kLeave);
  EXPECT_EQ(once.severity, Severity::kOk);
  EXPECT_NE(once.figures, 0) << "the cover sees that it may become bad";
  EXPECT_THAT(becauseOf(row(10'000, 1), once, {10'000}), testing::IsEmpty());
  const Judged after = judge(history, levelsOf(row(10'000), limits), false, kEnter, kLeave);
  EXPECT_EQ(after.figures, 0);
}

TEST(PairJudge, APairThatIsOnlyNotForgivenYetIsFading) {
  PairHistory history;
  const Limits limits = limitsOf({}, {10'000}, ClockSource::kKernel);
  const auto judged = [&](std::uint32_t lost) {
    return judge(history, levelsOf(row(10'000, lost), limits), false, kEnter, kLeave).figures;
  };
  constexpr std::uint8_t kLossBit = 1U << static_cast<unsigned>(Figure::kLoss);
  judged(1);
  judged(1);
  EXPECT_EQ(judged(1), kLossBit);
  EXPECT_EQ(judged(0), kLossBit | Judged::kFading) << "it says still why the pair is bad";
  EXPECT_EQ(judged(1), kLossBit);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(judged(0), kLossBit | Judged::kFading);
  EXPECT_EQ(judged(0), 0) << "it is forgiven";
}

TEST(PairJudge, ALossyPairThatIsLateOnceIsFading) {
  PairHistory history;
  const Limits limits = limitsOf({}, {10'000}, ClockSource::kKernel);
  const auto judged = [&](std::uint64_t network, std::uint32_t lost) {
    return judge(history, levelsOf(row(network, lost), limits), false, kEnter, kLeave).figures;
  };
  constexpr std::uint8_t kLossBit = 1U << static_cast<unsigned>(Figure::kLoss);
  constexpr std::uint8_t kNetworkBit = 1U << static_cast<unsigned>(Figure::kNetwork);
  for (int i = 0; i < 3; ++i) judged(10'000, 1);
  EXPECT_EQ(judged(90'000, 0), kLossBit | Judged::kFading) << "one slow window says nothing";
  judged(90'000, 0);
  EXPECT_EQ(judged(90'000, 0), kNetworkBit) << "three of five do";
}

TEST(PairJudge, SaysWhy) {
  const Judged judged{Severity::kVerySlow, 0x21};  // network and loss
  EXPECT_EQ(becauseOf(row(2'400'000, 1), judged, {3000}),
            (std::vector<std::string>{"network_p50 2.4 ms, 800 x the mesh's median", "loss 10 %"}));
}

TEST(PairJudge, WritesNumbersShortly) {
  EXPECT_EQ(timeText(870), "870 ns");
  EXPECT_EQ(timeText(1'250), "1.2 us");
  EXPECT_EQ(timeText(2'400'000), "2.4 ms");
  EXPECT_EQ(timeText(12'340'000'000), "12.3 s");
  EXPECT_EQ(ratioText(2'400'000, 3000), "800");
  EXPECT_EQ(ratioText(5, 0), "5");
  EXPECT_EQ(shareText(5000), "0.5 %");
  EXPECT_EQ(shareText(1'000'000), "100 %");
}

}  // namespace
}  // namespace pingloom::controller::pair_judge_test
