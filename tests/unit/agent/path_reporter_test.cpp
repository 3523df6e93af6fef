#include "agent/path_reporter.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <vector>

#include "wire/path_codec.h"

namespace pingloom::agent::path_reporter_test {
namespace {

class PathReporterTest : public testing::Test {
 protected:
  void trace(std::uint32_t number, Nanos at = 0) {
    TracedPath path;
    path.probe = "fabric";
    path.source = IpAddress::fromV4(1);
    path.destination = IpAddress::fromV4(1000 + number);
    path.traced = at;
    queue_.push(std::move(path));
  }
  bool readable() const {
    pollfd ready = {reporter_.descriptor(), POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  }

  bool connected_ = true;
  std::vector<wire::PathReport> sent_;
  probe::PathQueue queue_;
  PathReporter reporter_{queue_, [this](const wire::PathReport& report) {
                           if (connected_) sent_.push_back(report);
                           return connected_;
                         }};
};

TEST_F(PathReporterTest, TellsEachPathOnceTogetherWithOthers) {
  EXPECT_EQ(reporter_.due(), kNever);
  trace(1);
  EXPECT_TRUE(readable());
  reporter_.run(0);
  EXPECT_FALSE(readable());
  trace(2);
  trace(1);
  reporter_.run(PathReporter::kPause / 2);
  EXPECT_TRUE(sent_.empty());
  reporter_.run(reporter_.due());
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].paths_size(), 2);
  EXPECT_EQ(reporter_.due(), kNever);
}

TEST_F(PathReporterTest, TellsEverythingAgainAfterARegistration) {
  for (std::uint32_t i = 0; i < 600; ++i) trace(i, i < 5 ? 0 : kHour);
  connected_ = false;
  reporter_.run(0);
  reporter_.run(reporter_.due());
  EXPECT_EQ(reporter_.due(), PathReporter::kPause + PathReporter::kRetry);
  connected_ = true;
  reporter_.tellAll(kSecond, kHour);
  for (int i = 0; i < 10 && reporter_.due() != kNever; ++i) reporter_.run(reporter_.due());
  ASSERT_EQ(sent_.size(), 3U);
  EXPECT_EQ(sent_[0].paths_size(), 256);
  EXPECT_EQ(sent_[2].paths_size(), 595 - 512) << "the five old ones are forgotten";
  EXPECT_EQ(reporter_.size(), 595U);
  reporter_.tellAll(kMinute, kHour);
  EXPECT_EQ(reporter_.due(), kMinute);
}

}  // namespace
}  // namespace pingloom::agent::path_reporter_test
