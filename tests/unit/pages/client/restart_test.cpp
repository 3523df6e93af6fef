// The agent restarts while threads write: not one count is lost, no pointer changes.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "client.h"

namespace pingloom::pages::test::restart_test {
namespace {

TEST(Restart, LosesNothing) {
  SocketFolder folder;
  auto agent = std::make_unique<ScriptedAgent>(folder.socket());
  Client client(folder.socket());
  constexpr std::size_t kWriters = 3;
  std::array<pingloom_counter, kWriters> own;
  for (std::size_t i = 0; i < kWriters; ++i) own[i] = client.counter("own_" + std::to_string(i));
  pingloom_metric metric{};
  metric.name = "all";
  pingloom_shared_counter all;
  ASSERT_EQ(pingloom_shared_counter_make(client, &metric, &all), PINGLOOM_OK);

  std::atomic<bool> stop{false};
  std::array<std::uint64_t, kWriters> written{};
  std::vector<std::thread> writers;
  for (std::size_t i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      while (!stop) {
        pingloom_counter_add(own[i], 1);
        pingloom_shared_counter_add(all, 1);
        if (++written[i] % 1000 == 0) std::this_thread::yield();
      }
    });
  }
  std::uint32_t version = 0;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(client.settled());
    agent.reset();
    client.counter("while_there_was_none_" + std::to_string(i));
    agent = std::make_unique<ScriptedAgent>(folder.socket());
    EXPECT_TRUE(client.settled());
    const KnownPage page = agent->pages().begin()->second;
    EXPECT_TRUE(page.adopted);
    EXPECT_EQ(page.memory->header.generation, page.generation);
    const std::uint32_t now =
        __atomic_load_n(&page.memory->header.schema_version, __ATOMIC_ACQUIRE);
    EXPECT_GE(now, version + 5) << "readers look at the schema again";
    version = now;
  }
  stop = true;
  for (auto& writer : writers) writer.join();

  ASSERT_EQ(agent->pages().size(), 1u);
  const pingloom_page* page = agent->pages().begin()->second.memory;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kWriters; ++i) {
    EXPECT_EQ(load(page->slots[i]), written[i]);
    sum += written[i];
  }
  EXPECT_EQ(load(page->slots[kWriters]), sum);
  EXPECT_GT(sum, 0u);
  EXPECT_EQ(agent->definitions(), kWriters + 1 + 4);
}

}  // namespace
}  // namespace pingloom::pages::test::restart_test
