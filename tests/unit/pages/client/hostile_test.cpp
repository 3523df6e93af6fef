// Agents that answer anything else than what they were asked: the library hangs up, says so once,
// comes back later, and the application goes on counting.
#include <dirent.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "client.h"

namespace pingloom::pages::test::hostile_test {
namespace {

struct Hostility {
  const char* name;
  MessageType at;  // what it answers wrongly
  std::function<void(ScriptedAgent&, int socket, const Message&)> answer;
};

Message as(MessageType type, std::uint32_t page, std::size_t bytes, std::vector<int> fds = {}) {
  return {type, page, std::vector<std::uint8_t>(bytes), std::move(fds)};
}

const std::vector<Hostility>& hostilities() {
  using Self = ScriptedAgent;
  static const std::vector<Hostility> all{
      {"short", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         self.sendRaw(socket, {1, 2, 3}, {});
       }},
      {"longest", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         self.sendRaw(socket, std::vector<std::uint8_t>(kMaxMessageBytes + 1, 0x50), {});
       }},
      {"magic", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         auto bytes = bytesOf(as(MessageType::kRegistered, 0, 12));
         bytes[0] ^= 1;
         self.sendRaw(socket, bytes, {});
       }},
      {"version", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         auto bytes = bytesOf(as(MessageType::kRegistered, 0, 12));
         bytes[4] ^= 2;
         self.sendRaw(socket, bytes, {});
       }},
      {"length", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         auto bytes = bytesOf(as(MessageType::kRegistered, 0, 12));
         bytes.pop_back();
         self.sendRaw(socket, bytes, {});
       }},
      {"kind", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         self.answer(socket, as(MessageType::kGranted, 0, 8));
       }},
      {"two_answers", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         self.answer(socket, as(MessageType::kRegistered, 0, 12));
         self.answer(socket, as(MessageType::kRegistered, 0, 12));
       }},
      {"requests", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         self.answer(socket, as(MessageType::kPage, 0, 2));
       }},
      {"unasked_descriptor", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         const UniqueFd fd = memoryFile(4096, true);
         self.answer(socket, as(MessageType::kRegistered, 0, 12, {fd.get()}));
       }},
      {"many_descriptors", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         const UniqueFd fd = memoryFile(4096, true);
         self.answer(socket, as(MessageType::kRegistered, 0, 12, std::vector<int>(8, fd.get())));
       }},
      {"refusal_too_long", MessageType::kRegister,
       [](Self& self, int socket, const Message&) {
         Message no = refusal(Refusal::kQuota, "why");
         no.body[2] = 200;
         self.answer(socket, no);
       }},
      {"other_page", MessageType::kPage,
       [](Self& self, int socket, const Message& message) {
         const UniqueFd fd = memoryFile(4096, true);
         self.answer(socket, as(MessageType::kGranted, message.page + 1, 8, {fd.get()}));
       }},
      {"no_page", MessageType::kPage,
       [](Self& self, int socket, const Message& message) {
         self.answer(socket, as(MessageType::kGranted, message.page, 8));
       }},
      {"not_sealed", MessageType::kPage,
       [](Self& self, int socket, const Message& message) {
         const UniqueFd fd = memoryFile(4096, false);
         self.answer(socket, as(MessageType::kGranted, message.page, 8, {fd.get()}));
       }},
      {"shorter_page", MessageType::kPage,
       [](Self& self, int socket, const Message& message) {
         const UniqueFd fd = memoryFile(4095, true);
         self.answer(socket, as(MessageType::kGranted, message.page, 8, {fd.get()}));
       }},
      {"no_memory_at_all", MessageType::kPage,
       [](Self& self, int socket, const Message& message) {
         self.answer(socket, as(MessageType::kGranted, message.page, 8, {socket}));
       }},
      {"defined_with_page", MessageType::kDefine,
       [](Self& self, int socket, const Message& message) {
         const UniqueFd fd = memoryFile(4096, true);
         self.answer(socket, as(MessageType::kDefined, message.page, 0, {fd.get()}));
       }},
  };
  return all;
}

class Hostile : public testing::TestWithParam<std::size_t> {};

std::size_t openDescriptors() {
  std::size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST_P(Hostile, AgentIsLeftAlone) {
  const Hostility& hostility = hostilities()[GetParam()];
  SocketFolder folder;
  std::atomic<int> asked{0};
  const std::size_t before = openDescriptors();
  {
    ScriptedAgent agent(folder.socket(),
                        [&](ScriptedAgent& self, int socket, const Message& message) {
                          if (message.type != hostility.at) return false;
                          ++asked;
                          hostility.answer(self, socket, message);
                          return true;
                        });
    Client client(folder.socket());
    const auto counter = client.counter("a");
    pingloom_counter_add(counter, 1);
    ASSERT_TRUE(eventually([&] { return client.status().error == PINGLOOM_BAD_AGENT; }));
    // Once it was asked for the page it is given one that was made here, and says no to nothing.
    if (hostility.at != MessageType::kPage) {
      EXPECT_TRUE(eventually([&] { return asked >= 2; })) << "it may be well again";
    }
    EXPECT_EQ(*counter.slot, 1u);
    EXPECT_LT(agent.connections(), 10u) << "not again and again without a pause";
  }
  EXPECT_EQ(openDescriptors(), before) << "descriptors that nobody asked for are closed";
}

INSTANTIATE_TEST_SUITE_P(All, Hostile, testing::Range<std::size_t>(0, hostilities().size()),
                         [](const auto& chosen) {
                           return std::string(hostilities()[chosen.param].name);
                         });

TEST(HostileAgent, ThatNeverReads) {
  SocketFolder folder;
  std::atomic<bool> stop{false};
  ScriptedAgent agent(folder.socket(), [&](ScriptedAgent&, int, const Message& message) {
    while (message.type == MessageType::kDefine && !stop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  });
  Client client(folder.socket());
  for (int i = 0; i < 3000; ++i) {
    pingloom_counter_add(client.counter("counter_" + std::to_string(i)), 1);
  }
  EXPECT_EQ(client.status().metrics, 3000u);
  stop = true;
  EXPECT_TRUE(client.settled());
}

TEST(HostileAgent, ThatDiesBeforeItAnswers) {
  SocketFolder folder;
  Client client(folder.socket());
  const auto counter = client.counter("a");
  for (int i = 0; i < 3; ++i) {
    std::atomic<bool> asked{false};
    ScriptedAgent agent(folder.socket(), [&](ScriptedAgent&, int, const Message&) {
      asked = true;
      return true;
    });
    ASSERT_TRUE(eventually([&] { return asked.load(); }));
    pingloom_counter_add(counter, 1);
  }
  ScriptedAgent agent(folder.socket());
  ASSERT_TRUE(client.settled());
  EXPECT_EQ(load(agent.pages().begin()->second.memory->slots[0]), 3u);
}

}  // namespace
}  // namespace pingloom::pages::test::hostile_test
