#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "collector/analytics/state_archive.h"
#include "collector/analytics/subspace_detector.h"
#include "curves.h"

namespace pingloom::collector::analytics::detector_state_test {
namespace {

constexpr std::size_t kMetrics = 6;

std::string written(SubspaceDetector& detector) {
  std::string bytes;
  StateArchive archive(bytes);
  archive(detector);
  EXPECT_TRUE(archive.ok());
  return bytes;
}

bool readInto(SubspaceDetector& detector, std::string_view bytes) {
  StateArchive archive(bytes);
  archive(detector);
  return archive.ok() && archive.left() == 0;
}

// Feeds both with the same samples, to a metric of the last of which something is added, and
// compares all verdicts.
void expectSameVerdicts(SubspaceDetector& a, SubspaceDetector& b, Curves& curves, double added) {
  for (int i = 0; i < 330; ++i) {
    auto sample = curves.next();
    if (i >= 300) sample[4] += added;
    const SubspaceVerdict& one = a.observe(sample);
    const SubspaceVerdict& other = b.observe(sample);
    ASSERT_EQ(one.state, other.state) << i;
    ASSERT_EQ(one.changed, other.changed) << i;
    ASSERT_EQ(one.judged, other.judged) << i;
    ASSERT_EQ(one.scores, other.scores) << i;
    ASSERT_EQ(one.top_count, other.top_count) << i;
    ASSERT_EQ(one.top[0].slot, other.top[0].slot) << i;
    ASSERT_EQ(one.top[0].score, other.top[0].score) << i;
    a.fit(2048);
    b.fit(2048);
  }
  EXPECT_EQ(a.fits(), b.fits());
  EXPECT_EQ(a.adopted(), b.adopted());
  EXPECT_EQ(a.anomalies(), b.anomalies());
}

TEST(DetectorState, WhatWasReadGoesOnLikeWhatWasWritten) {
  SubspaceDetector detector(kMetrics, {});
  Curves curves(kMetrics);
  int samples = 0;
  // In the warm-up, with directions only, with a candidate, and with a learned model in charge.
  for (const int until : {100, 450, 1000, 2200, 4500}) {
    for (; samples < until; ++samples) {
      detector.observe(curves.next());
      detector.fit(2048);
    }
    SubspaceDetector read(kMetrics, {});
    ASSERT_TRUE(readInto(read, written(detector))) << until;
    SubspaceDetector original(kMetrics, {});
    ASSERT_TRUE(readInto(original, written(read))) << until;
    EXPECT_EQ(written(original), written(detector)) << until;
    EXPECT_EQ(read.groupState(), detector.groupState()) << until;
    expectSameVerdicts(detector, read, curves, until == 4500 ? 1 : 0);
    samples += 330;
  }
  EXPECT_TRUE(detector.usesLearnedModel());
  EXPECT_GT(detector.anomalies(), 0U);
}

TEST(DetectorState, AFitThatHasBegunBeginsAgain) {
  SubspaceDetector detector(kMetrics, {});
  Curves curves(kMetrics);
  for (std::uint64_t i = 0; i <= SubspaceDetector::kFirstFit; ++i) detector.observe(curves.next());
  detector.fit(64);
  ASSERT_EQ(detector.fits(), 1U);
  SubspaceDetector read(kMetrics, {});
  ASSERT_TRUE(readInto(read, written(detector)));
  EXPECT_TRUE(read.wantsFit());
  read.fit(64);
  EXPECT_EQ(read.fits(), 2U);
}

TEST(DetectorState, WhatIsDamagedIsRefused) {
  SubspaceDetector detector(kMetrics, {});
  Curves curves(kMetrics);
  for (int i = 0; i < 700; ++i) detector.observe(curves.next());
  const std::string bytes = written(detector);
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 50) {
    SubspaceDetector read(kMetrics, {});
    EXPECT_FALSE(readInto(read, std::string_view(bytes).substr(0, size))) << size;
  }
  SubspaceDetector wider(kMetrics + 1, {});
  EXPECT_FALSE(readInto(wider, bytes));
}

// Whatever a damaged number says, the detector that has read it goes on within its bounds.
TEST(DetectorState, ADamagedNumberDoesNoHarm) {
  SubspaceSettings settings;
  settings.learned = false;
  SubspaceDetector detector(kMetrics, settings);
  Curves curves(kMetrics);
  for (int i = 0; i < 700; ++i) detector.observe(curves.next());
  const std::string bytes = written(detector);
  std::size_t taken = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    SubspaceDetector read(kMetrics, settings);
    if (!readInto(read, damaged)) continue;
    ++taken;
    for (int i = 0; i < 3; ++i) read.observe(curves.next());
  }
  EXPECT_GT(taken, 0U);
}

TEST(StateArchive, RefusesWhatIsNoNumberOrNoTruth) {
  double number = 0;
  bool truth = false;
  std::string bytes;
  StateArchive writer(bytes);
  writer(number, truth);
  bytes.back() = 2;
  StateArchive reader(std::string_view{bytes});
  reader(number);
  EXPECT_TRUE(reader.ok());
  reader(truth);
  EXPECT_FALSE(reader.ok());
  const double none = std::nan("");
  bytes.assign(reinterpret_cast<const char*>(&none), sizeof(none));
  StateArchive other(std::string_view{bytes});
  other(number);
  EXPECT_FALSE(other.ok());
}

TEST(StateArchive, TextIsBounded) {
  std::string bytes;
  std::string text = "twelve bytes";
  StateArchive(bytes).text(text, 100);
  StateArchive reader(std::string_view{bytes});
  reader.text(text, 12);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(text, "twelve bytes");
  StateArchive strict(std::string_view{bytes});
  strict.text(text, 11);
  EXPECT_FALSE(strict.ok());
  StateArchive cut(std::string_view{bytes}.substr(0, bytes.size() - 1));
  cut.text(text, 100);
  EXPECT_FALSE(cut.ok());
}

}  // namespace
}  // namespace pingloom::collector::analytics::detector_state_test
