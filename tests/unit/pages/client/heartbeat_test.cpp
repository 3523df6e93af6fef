// What is called before each heartbeat.
#include <gtest/gtest.h>
#include <pingloom/pages.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <pingloom/pages.hpp>
#include <string>
#include <thread>
#include <utility>

#include "client.h"

namespace pingloom::pages::test::heartbeat_test {
namespace {

TEST(Heartbeat, CallsBackEachSecondAndUpdatesValues) {
  Client client("/nonexistent/pages.sock");
  struct Asked {
    pingloom_gauge gauge{};
    std::atomic<int> calls = 0;
  } asked;
  pingloom_metric metric{};
  metric.name = "queue_length";
  ASSERT_EQ(pingloom_gauge_make(client, &metric, &asked.gauge), PINGLOOM_OK);
  pingloom_pages_on_heartbeat(
      client,
      [](void* it) {
        auto& context = *static_cast<Asked*>(it);
        pingloom_gauge_set(context.gauge, 17 + context.calls++);
      },
      &asked);
  ASSERT_TRUE(eventually([&] { return asked.calls >= 2; }));
  pingloom_pages_on_heartbeat(client, nullptr, nullptr);
  const int calls = asked.calls;
  double value = 0;
  const std::uint64_t bits = __atomic_load_n(asked.gauge.slot, __ATOMIC_RELAXED);
  std::memcpy(&value, &bits, sizeof value);
  EXPECT_EQ(value, 17 + calls - 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_EQ(asked.calls, calls) << "it was removed";
}

TEST(Heartbeat, WhoeverRemovesTheCallbackWaitsForItsEnd) {
  Client client("/nonexistent/pages.sock");
  std::atomic<int> state = 0;
  pingloom_pages_on_heartbeat(
      client,
      [](void* it) {
        auto& running = *static_cast<std::atomic<int>*>(it);
        running = 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        running = 2;
      },
      &state);
  ASSERT_TRUE(eventually([&] { return state == 1; }));
  pingloom_pages_on_heartbeat(client, nullptr, nullptr);
  EXPECT_EQ(state, 2);
}

TEST(Heartbeat, ACallbackMayRemoveItself) {
  Client client("/nonexistent/pages.sock");
  struct Once {
    pingloom_pages* pages;
    std::atomic<int> calls = 0;
  } once{client};
  pingloom_pages_on_heartbeat(
      client,
      [](void* it) {
        auto& context = *static_cast<Once*>(it);
        ++context.calls;
        pingloom_pages_on_heartbeat(context.pages, nullptr, nullptr);
      },
      &once);
  ASSERT_TRUE(eventually([&] { return once.calls == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_EQ(once.calls, 1);
}

TEST(Heartbeat, InCppItIsAFunction) {
  std::atomic<int> calls = 0;
  {
    PagesOptions options;
    options.application = "tested";
    options.socket = "/nonexistent/pages.sock";
    pingloom::Pages pages(options);
    pages.onHeartbeat([&calls, text = std::string("kept as long as the pages")] {
      calls += text.empty() ? 100 : 1;
    });
    pingloom::Pages moved = std::move(pages);
    ASSERT_TRUE(eventually([&] { return calls >= 1; }));
  }
  const int before = calls;
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_EQ(calls, before) << "the pages are closed";
  pingloom_pages_on_heartbeat(nullptr, nullptr, nullptr);
}

}  // namespace
}  // namespace pingloom::pages::test::heartbeat_test
