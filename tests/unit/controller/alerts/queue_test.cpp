#include "controller/alerts/queue.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "unit/controller/alerts/support.h"

namespace pingloom::controller::queue_test {
namespace {

namespace fs = std::filesystem;

struct NotificationQueueTest : testing::Test {
  NotificationQueue open() {
    auto made = NotificationQueue::open(folder.path() / "queue");
    EXPECT_TRUE(made) << made.error().text();
    return std::move(*made);
  }
  static Notification notificationOf(std::uint64_t id, const std::string& key) {
    Notification made;
    made.key = key;
    made.incident = test::incidentOf(id);
    made.made_utc = test::kOpened;
    made.ended = {{Severity::kSlow, test::kOpened}};
    return made;
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder.path() / "queue")) {
      if (entry.is_regular_file()) ++count;
    }
    return count;
  }

  test::TemporaryDirectory folder;
};

TEST_F(NotificationQueueTest, SurvivesARestartInItsOrder) {
  {
    auto queue = open();
    for (int i = 1; i <= 3; ++i) {
      ASSERT_TRUE(queue.add(notificationOf(7, "k" + std::to_string(i)), false));
    }
    queue.remove(queue.front()->number);
  }
  auto queue = open();
  ASSERT_EQ(queue.size(), 2U);
  const auto front = queue.front();
  EXPECT_EQ(front->notification.key, "k2");
  EXPECT_EQ(front->notification.incident.sentence, "gpu-3 is <slow> & more");
  EXPECT_EQ(front->notification.ended, notificationOf(7, "").ended);
  ASSERT_TRUE(queue.add(notificationOf(7, "k4"), false));
  queue.remove(front->number);
  queue.remove(queue.front()->number);
  EXPECT_EQ(queue.front()->notification.key, "k4");
  queue.remove(queue.front()->number);
  EXPECT_FALSE(queue.front());
  EXPECT_EQ(files(), 0U);
}

TEST_F(NotificationQueueTest, AKeyWaitsOnce) {
  auto queue = open();
  ASSERT_TRUE(queue.add(notificationOf(7, "k"), false));
  ASSERT_TRUE(queue.add(notificationOf(7, "k"), false));
  EXPECT_EQ(queue.size(), 1U);
}

TEST_F(NotificationQueueTest, OnlyTheNewestOfAnIncidentWaits) {
  auto queue = open();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(queue.add(notificationOf(7, "a" + std::to_string(i)), true));
    ASSERT_TRUE(queue.add(notificationOf(8, "b" + std::to_string(i)), true));
  }
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.front()->notification.key, "a4");
  EXPECT_EQ(queue.dropped(), 0U);
}

TEST_F(NotificationQueueTest, TheOldestIsDroppedAboveTheBound) {
  auto queue = open();
  for (std::size_t i = 0; i < NotificationQueue::kMax + 3; ++i) {
    ASSERT_TRUE(queue.add(notificationOf(i, "k" + std::to_string(i)), false));
  }
  EXPECT_EQ(queue.size(), NotificationQueue::kMax);
  EXPECT_EQ(queue.dropped(), 3U);
  EXPECT_EQ(queue.front()->notification.key, "k3");
  EXPECT_EQ(files(), NotificationQueue::kMax);
}

TEST_F(NotificationQueueTest, MalformedFilesAreMovedAsideAndCounted) {
  {
    auto queue = open();
    ASSERT_TRUE(queue.add(notificationOf(7, "good"), false));
  }
  const fs::path place = folder.path() / "queue";
  const std::vector<std::string> contents = {"", "[]", "{\"key\":3}", std::string(300'000, 'x'),
                                             "\xff\xfe"};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    std::ofstream(place / ("000000000000010" + std::to_string(i) + ".json")) << contents[i];
  }
  std::ofstream(place / "notes.txt") << "not the queue's";
  auto queue = open();
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.dropped(), contents.size());
  EXPECT_EQ(queue.front()->notification.key, "good");
  EXPECT_TRUE(fs::exists(place / "notes.txt"));
  const auto aside = fs::directory_iterator(place / "malformed");
  EXPECT_EQ(std::distance(fs::begin(aside), fs::end(aside)), 5);
  // A file that goes bad while it waits is skipped too.
  ASSERT_TRUE(queue.add(notificationOf(7, "last"), false));
  std::ofstream(place / "0000000000000001.json") << "broken";
  EXPECT_EQ(queue.front()->notification.key, "last");
  EXPECT_EQ(queue.dropped(), contents.size() + 1);
}

}  // namespace
}  // namespace pingloom::controller::queue_test
