// With an agent: what it is told, what it grants, what it refuses.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>

#include "client.h"

namespace pingloom::pages::test::agent_test {
namespace {

TEST(Agent, GrantsThePageOfAMetric) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  Client client(folder.socket());
  const auto counter = client.counter("requests_total");
  pingloom_counter_add(counter, 7);
  ASSERT_TRUE(client.settled());
  const auto pages = agent.pages();
  ASSERT_EQ(pages.size(), 1u);
  const KnownPage& page = pages.begin()->second;
  EXPECT_FALSE(page.adopted);
  ASSERT_EQ(page.definitions.size(), 1u);
  EXPECT_EQ(load(page.memory->slots[0]), 7u);
  EXPECT_EQ(page.memory->header.magic, PINGLOOM_PAGE_MAGIC);
  EXPECT_EQ(page.memory->header.generation, page.generation);
  EXPECT_EQ(page.memory->header.owner, agent.owners().back().owner);
  EXPECT_EQ(page.memory->header.slots, 1u);
  EXPECT_EQ(page.memory->header.schema_version, 1u);
  EXPECT_EQ(client.status().owner, agent.owners().back().owner);
  // string "tested", no labels
  const std::vector<std::uint8_t> registration{6, 't', 'e', 's', 't', 'e', 'd', 0};
  EXPECT_EQ(agent.owners().back().registration, registration);
}

TEST(Agent, HearsTheHeartbeat) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  Client client(folder.socket());
  client.counter("a");
  ASSERT_TRUE(client.settled());
  const pingloom_page* page = agent.pages().begin()->second.memory;
  const std::uint64_t before = load(page->header.heartbeat);
  EXPECT_TRUE(eventually([&] { return load(page->header.heartbeat) >= before + 2; }));
}

TEST(Agent, GetsWhatWasMadeBeforeIt) {
  SocketFolder folder;
  Client client(folder.socket());
  const auto counter = client.counter("requests_total");
  pingloom_counter_add(counter, 5);
  pingloom_group group;
  ASSERT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
  const auto grouped = client.counter("grouped_total", &group);
  pingloom_group_begin(group);
  pingloom_counter_add(grouped, 3);
  pingloom_group_commit(group);
  ScriptedAgent agent(folder.socket());
  ASSERT_TRUE(client.settled());
  const auto pages = agent.pages();
  ASSERT_EQ(pages.size(), 2u);
  for (const auto& [number, page] : pages) {
    EXPECT_TRUE(page.adopted);
    EXPECT_EQ(page.flags, page.memory->header.flags);
    EXPECT_EQ(page.memory->header.generation, page.generation);
    EXPECT_EQ(load(page.memory->slots[0]), page.flags == PINGLOOM_PAGE_GROUPED ? 3u : 5u);
  }
  pingloom_counter_add(counter, 1);
  EXPECT_EQ(load(pages.begin()->second.memory->slots[0]), 6u) << "it is one memory";
  EXPECT_EQ(client.status().error, PINGLOOM_OK);
}

TEST(Agent, RefusesAPage) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket(), [](ScriptedAgent& self, int socket, const Message& message) {
    if (message.type != MessageType::kPage) return false;
    Message no = refusal(Refusal::kQuota, "no more pages");
    no.page = message.page;
    self.answer(socket, no);
    return true;
  });
  Client client(folder.socket());
  const auto inert = client.counter("a", nullptr, PINGLOOM_QUOTA);
  EXPECT_NE(std::string(pingloom_error_text()).find("no more pages"), std::string::npos);
  pingloom_counter_add(inert, 1);
  EXPECT_EQ(client.status().pages, 0u);
  EXPECT_EQ(client.status().refused, 1u);
  EXPECT_EQ(client.status().connected, 1);
}

struct Heard {
  std::mutex mutex;
  std::vector<std::string> texts;
  static void hear(void* context, int error, const char* text) {
    auto& self = *static_cast<Heard*>(context);
    const std::lock_guard lock(self.mutex);
    self.texts.push_back(std::to_string(error) + " " + text);
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex);
    return texts;
  }
};

TEST(Agent, RefusalsAreToldOnce) {
  SocketFolder folder;
  std::atomic<int> asked{0};
  ScriptedAgent agent(folder.socket(),
                      [&](ScriptedAgent& self, int socket, const Message& message) {
                        if (message.type != MessageType::kRegister) return false;
                        ++asked;
                        self.answer(socket, refusal(Refusal::kNotAllowed, "user 5 may not"));
                        return true;
                      });
  Heard heard;
  Client client(folder.socket(), Heard::hear, &heard);
  const auto counter = client.counter("a");
  pingloom_counter_add(counter, 1);
  ASSERT_TRUE(eventually([&] { return asked >= 3; }));
  ASSERT_EQ(heard.all().size(), 1u);
  EXPECT_EQ(heard.all()[0], "7 the agent refuses this process: user 5 may not");
  EXPECT_EQ(client.status().error, PINGLOOM_REFUSED);
  EXPECT_EQ(client.status().connected, 0);
}

TEST(Agent, RefusesAMetric) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket(), [](ScriptedAgent& self, int socket, const Message& message) {
    if (message.type != MessageType::kDefine || message.body[4] != 1) return false;
    if (message.body[2] != 1) return false;  // the one in slot 1
    Message no = refusal(Refusal::kMetric, "not this one");
    no.page = message.page;
    self.answer(socket, no);
    return true;
  });
  Client client(folder.socket());
  client.counter("a");
  client.counter("b");
  client.counter("c");
  ASSERT_TRUE(eventually([&] { return client.status().known_metrics == 2; }));
  EXPECT_EQ(std::string(client.status().error_text), "the agent refuses metric b: not this one");
  EXPECT_EQ(agent.pages().begin()->second.memory->header.schema_version, 2u);
  EXPECT_EQ(agent.pages().begin()->second.memory->header.slots, 3u);
}

// It answers a request for a page only when the library has given up waiting.
TEST(Agent, MayBeSlow) {
  SocketFolder folder;
  std::atomic<int> asked{0};
  ScriptedAgent agent(folder.socket(), [&](ScriptedAgent&, int, const Message& message) {
    if (message.type == MessageType::kPage) {
      ++asked;
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
    }
    return false;
  });
  Client client(folder.socket());
  const auto counter = client.counter("a");
  pingloom_group group;
  EXPECT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
  pingloom_counter_add(counter, 1);
  ASSERT_TRUE(eventually([&] { return agent.connections() == 1 && agent.definitions() == 1; }));
  EXPECT_TRUE(eventually([&] { return agent.owners().back().released.size() == 1; }));
  std::uint64_t sum = 0;
  for (const auto& [number, page] : agent.pages()) sum += load(page.memory->slots[0]);
  EXPECT_EQ(sum, 1u);
  EXPECT_EQ(asked, 1) << "who waited in vain does not wait again for the next page";
}

TEST(Agent, ItsDescriptorsAreNotForOtherPrograms) {
  std::set<int> before;
  constexpr int kMax = 256;
  for (int fd = 0; fd < kMax; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) before.insert(fd);
  }
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  Client client(folder.socket());
  client.counter("a");
  ASSERT_TRUE(client.settled());
  int opened = 0;
  for (int fd = 0; fd < kMax; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || before.count(fd) != 0) continue;
    ++opened;
    EXPECT_NE(flags & FD_CLOEXEC, 0) << fd;
  }
  EXPECT_GE(opened, 3) << "an eventfd, a socket, a page";
}

TEST(Agent, TakesManyPagesAndMetrics) {
  SocketFolder folder;
  Client client(folder.socket());
  for (int i = 0; i < 2000; ++i) {
    pingloom_counter_add(client.counter("counter_" + std::to_string(i)), 1);
  }
  ScriptedAgent agent(folder.socket());
  ASSERT_TRUE(client.settled());
  EXPECT_EQ(agent.definitions(), 2000u);
  std::uint64_t sum = 0;
  for (const auto& [number, page] : agent.pages()) {
    for (const std::uint64_t& slot : page.memory->slots) sum += load(slot);
  }
  EXPECT_EQ(sum, 2000u);
}

}  // namespace
}  // namespace pingloom::pages::test::agent_test
