#include "controller/verdict/pair_judge.h"

#include <gtest/gtest.h>

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
    EXPECT_EQ(now.figures == 0, now.severity == Severity::kOk);
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

Row row(std::uint64_t network, std::uint32_t lost = 0) {
  Row made;
  made.sent = 10;
  made.lost = lost;
  made.received = made.sent - lost;
  made.network = {made.received, network, network, network, network, network, network};
  made.rtt = made.network;
  return made;
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
