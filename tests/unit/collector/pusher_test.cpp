#include "collector/push/pusher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "collector/push/remote_write.h"
#include "unit/eventually.h"

namespace pingloom::collector::pusher_test {
namespace {

constexpr char kNobody[] = "http://127.0.0.1:1/write";  // nothing listens there

TEST(Pusher, SendsThoughRenderingTakesLongerThanTheInterval) {
  std::atomic<int> renders = 0;
  PushTarget target;
  target.url = kNobody;
  target.interval = 5 * kMillisecond;
  const Pusher pusher("test", target, std::make_unique<RemoteWrite>("dpu-1"),
                      [&](const Exposition::MakeWriter& make_writer, bool /*exact_histograms*/) {
                        ++renders;
                        std::this_thread::sleep_for(std::chrono::milliseconds(10));
                        const auto out = make_writer();
                        out->gauge("a", "", 1);
                        return out->take();
                      });
  EXPECT_TRUE(test::eventually([&] { return renders > 3; }));
  EXPECT_GE(pusher.figures().requests[PushFigures::kFailed], 1U);
}

}  // namespace
}  // namespace pingloom::collector::pusher_test
