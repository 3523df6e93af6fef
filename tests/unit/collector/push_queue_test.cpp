#include "collector/push/push_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/push/otlp.h"
#include "collector/push/remote_write.h"

namespace pingloom::collector::push_queue_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<PushRequest> requests(std::initializer_list<std::string> bodies) {
  std::vector<PushRequest> made;
  for (const std::string& body : bodies) made.push_back({body, "", 10, 7 * kSecond});
  return made;
}
http::ClientResponse status(unsigned code, Nanos retry_after = 0, std::string body = "") {
  return {code, "", std::move(body), retry_after};
}

const RemoteWrite kFormat("dpu-1");

TEST(PushQueue, SendsInOrder) {
  PushQueue queue(kFormat);
  EXPECT_EQ(queue.due(0), nullptr);
  EXPECT_EQ(queue.dueAt(), INT64_MAX);
  queue.add(requests({"first", "second"}));
  EXPECT_EQ(queue.figures().waiting_samples, 20U);
  EXPECT_EQ(queue.figures().oldest, 7 * kSecond);
  EXPECT_EQ(queue.due(0)->body, "first");
  EXPECT_EQ(queue.answered(status(200), 0), "");
  EXPECT_EQ(queue.due(0)->body, "second");
  EXPECT_EQ(queue.answered(status(204), 0), "");
  EXPECT_EQ(queue.due(0), nullptr);
  const PushFigures figures = queue.figures();
  EXPECT_EQ(figures.samples[PushFigures::kSent], 20U);
  EXPECT_EQ(figures.bytes_sent, 11U);
  EXPECT_EQ(figures.oldest, 0);
}

TEST(PushQueue, RepeatsWithGrowingPauses) {
  PushQueue queue(kFormat);
  queue.add(requests({"first", "second"}));
  EXPECT_THAT(queue.answered(status(503), 0), HasSubstr("answers 503; what is pushed waits"));
  EXPECT_EQ(queue.due(kSecond - 1), nullptr);
  ASSERT_NE(queue.due(kSecond), nullptr);
  EXPECT_EQ(queue.due(kSecond)->body, "first");
  EXPECT_EQ(queue.answered(status(503), kSecond), "") << "the reason was logged";
  EXPECT_EQ(queue.dueAt(), 3 * kSecond);
  queue.answered(tl::unexpected(Error{"url", "refused"}), 3 * kSecond);
  EXPECT_EQ(queue.dueAt(), 7 * kSecond);
  queue.answered(status(200), 7 * kSecond);
  EXPECT_EQ(queue.dueAt(), 0);
  EXPECT_EQ(queue.figures().requests[PushFigures::kFailed], 3U);
  EXPECT_EQ(queue.figures().requests[PushFigures::kSent], 1U);
}

TEST(PushQueue, WaitsAsLongAsTheReceiverAsks) {
  PushQueue queue(kFormat);
  queue.add(requests({"first"}));
  queue.answered(status(429, 20 * kSecond), 0);
  EXPECT_EQ(queue.dueAt(), 20 * kSecond);
  queue.answered(status(429, 24 * kHour), 20 * kSecond);
  EXPECT_EQ(queue.dueAt(), 20 * kSecond + PushQueue::kMaxRetryAfter);
  queue.answered(status(503, 1), 0);
  EXPECT_EQ(queue.dueAt(), 4 * kSecond) << "no less than the pause";
}

TEST(PushQueue, DropsWhatIsRefused) {
  PushQueue queue(kFormat);
  queue.add(requests({"first", "second", "third"}));
  EXPECT_THAT(queue.answered(status(400, 0, "out of\norder"), 0),
              HasSubstr("answers 400: out of order; what it refuses is dropped"));
  EXPECT_EQ(queue.due(0)->body, "second");
  EXPECT_THAT(queue.answered(status(301), kMinute), HasSubstr("redirects are not followed"));
  EXPECT_THAT(queue.answered(status(401), 2 * kMinute), HasSubstr("'token: FILE'"));
  EXPECT_EQ(queue.due(0), nullptr);
  EXPECT_EQ(queue.figures().samples[PushFigures::kRefused], 30U);
}

TEST(PushQueue, CountsWhatIsRejectedInPart) {
  PushQueue queue(kFormat);
  queue.add(requests({"first", "second", "third"}));
  EXPECT_THAT(queue.answered(status(200), 0, {3, "too\nold"}), HasSubstr("a part: too old"));
  EXPECT_EQ(queue.answered(status(200), 0, {UINT64_MAX, "too\nold"}), "") << "it was logged";
  EXPECT_EQ(queue.answered(status(200), kMinute), "") << "it took the others meanwhile";
  EXPECT_EQ(queue.figures().samples[PushFigures::kSent], 17U);
  EXPECT_EQ(queue.figures().samples[PushFigures::kRefused], 13U);
  EXPECT_EQ(queue.figures().requests[PushFigures::kSent], 3U);
}

TEST(PushQueue, TheFormatSaysWhatIsRepeated) {
  const auto repeated = [](const PushFormat& format) {
    std::vector<unsigned> found;
    for (const unsigned code : {400U, 408U, 429U, 500U, 501U, 502U, 503U, 504U, 505U}) {
      PushQueue queue(format);
      queue.add(requests({"first"}));
      queue.answered(status(code), 0);
      if (queue.figures().requests[PushFigures::kFailed] == 1) found.push_back(code);
    }
    return found;
  };
  EXPECT_THAT(repeated(kFormat), ElementsAre(429, 500, 501, 502, 503, 504, 505));
  EXPECT_THAT(repeated(Otlp("dpu-1")), ElementsAre(429, 502, 503, 504));
}

TEST(PushQueue, LogsEachKindOnceAndAtMostOneLinePerMinute) {
  PushQueue queue(kFormat);
  queue.add(requests({"1", "2", "3", "4", "5", "6", "7", "8"}));
  EXPECT_THAT(queue.answered(status(400, 0, "sample 1 is old"), 0), HasSubstr("sample 1"));
  EXPECT_EQ(queue.answered(status(400, 0, "sample 2 is old"), 2 * kMinute), "") << "the same kind";
  EXPECT_EQ(queue.answered(status(200), 3 * kMinute), "") << "it was never away";
  EXPECT_THAT(queue.answered(status(503), 3 * kMinute), HasSubstr("503"));
  EXPECT_EQ(queue.answered(status(400), 4 * kMinute - 1), "") << "too early";
  EXPECT_EQ(queue.answered(status(200), 4 * kMinute - 1), "") << "too early";
  EXPECT_EQ(queue.answered(status(503), 4 * kMinute), "") << "it has not worked for a minute";
  EXPECT_EQ(queue.answered(status(200), 4 * kMinute), "the receiver takes what is pushed again");
  EXPECT_EQ(queue.answered(status(200), 6 * kMinute), "");
  EXPECT_THAT(queue.answered(tl::unexpected(Error{"url", "refused"}), 7 * kMinute),
              HasSubstr("refused; what is pushed waits"));
  EXPECT_EQ(queue.due(INT64_MAX)->body, "8");
}

TEST(PushQueue, DropsTheOldestWhenItIsFull) {
  PushQueue queue(kFormat, 10);
  queue.add(requests({"first", "second", "third"}));
  EXPECT_EQ(queue.due(0)->body, "third") << "second and third have 11 bytes";
  const PushFigures figures = queue.figures();
  EXPECT_EQ(figures.requests[PushFigures::kDropped], 2U);
  EXPECT_EQ(figures.waiting_samples, 10U);
}

}  // namespace
}  // namespace pingloom::collector::push_queue_test
