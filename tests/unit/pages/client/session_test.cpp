// What a session does as time goes by, by a clock of the test's.
#include "pages/client/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "scripted_agent.h"

namespace pingloom::pages::test::session_test {
namespace {

using namespace std::chrono_literals;
using client::Instant;
using client::Page;
using client::PageList;
using client::PageMemory;
using client::Session;
using client::Standing;

class SessionTest : public testing::Test {
 protected:
  SessionTest() { pages_.push_back(std::make_unique<Page>(1, 0, PageMemory::make())); }

  // Until `condition` holds, the clock standing still.
  bool stepUntil(const std::function<bool()>& condition) {
    return eventually([&] {
      session_.step(now_, pages_);
      return condition();
    });
  }
  Standing standing() const { return pages_[0]->standing(); }

  SocketFolder folder_;
  Session session_{folder_.socket(), "tested", {}};
  PageList pages_;
  Instant now_ = std::chrono::steady_clock::now();
};

TEST_F(SessionTest, AsksAgainForAPageThatWasRefused) {
  std::atomic<int> asked{0};
  ScriptedAgent agent(folder_.socket(),
                      [&](ScriptedAgent& self, int socket, const Message& message) {
                        if (message.type != MessageType::kAdopt || ++asked > 1) return false;
                        Message no = refusal(Refusal::kQuota, "no more");
                        no.page = message.page;
                        self.answer(socket, no);
                        return true;
                      });
  ASSERT_TRUE(stepUntil([&] { return standing() == Standing::kRefused; }));
  const auto troubles = session_.takeTroubles();
  ASSERT_EQ(troubles.size(), 1u);
  EXPECT_EQ(troubles[0].error, PINGLOOM_QUOTA);
  EXPECT_EQ(troubles[0].text, "the agent refuses a page: no more");
  now_ += 29s;
  session_.step(now_, pages_);
  EXPECT_EQ(standing(), Standing::kRefused);
  now_ += 2s;
  EXPECT_TRUE(stepUntil([&] { return standing() == Standing::kKnown; }));
}

TEST_F(SessionTest, HangsUpOnAnAgentThatDoesNotAnswer) {
  std::atomic<bool> silent{true};
  ScriptedAgent agent(folder_.socket(),
                      [&](ScriptedAgent&, int, const Message&) -> bool { return silent; });
  session_.step(now_, pages_);
  now_ += 9s;
  session_.step(now_, pages_);
  EXPECT_GE(session_.fd(), 0);
  now_ += 2s;
  session_.step(now_, pages_);
  EXPECT_EQ(session_.fd(), -1);
  const auto troubles = session_.takeTroubles();
  ASSERT_EQ(troubles.size(), 1u);
  EXPECT_EQ(troubles[0].error, PINGLOOM_BAD_AGENT);
  silent = false;
  now_ += 5s;
  EXPECT_TRUE(stepUntil([&] { return standing() == Standing::kKnown; }));
}

TEST_F(SessionTest, ComesBackLaterAndLater) {
  auto longest = 0ms;
  for (int i = 0; i < 12; ++i) {
    session_.step(now_, pages_);
    const auto pause =
        std::chrono::duration_cast<std::chrono::milliseconds>(session_.nextStep(now_) - now_);
    EXPECT_GE(pause, 50ms);
    EXPECT_LE(pause, 5s);
    longest = std::max(longest, pause);
    now_ = session_.nextStep(now_);
  }
  EXPECT_GE(longest, 2500ms);
  // As soon as a connection has been a good one, the next is looked for at once.
  {
    ScriptedAgent agent(folder_.socket());
    ASSERT_TRUE(stepUntil([&] { return standing() == Standing::kKnown; }));
  }
  now_ += 6s;
  ASSERT_TRUE(stepUntil([&] { return !session_.registered(); }));
  EXPECT_LE(session_.nextStep(now_) - now_, 100ms);
  EXPECT_EQ(standing(), Standing::kUnknown);
}

// A page that is granted while the agent goes away is in the next one's hands like all others.
TEST_F(SessionTest, AGrantOfALostConnectionIsKnownToNobody) {
  {
    ScriptedAgent agent(folder_.socket());
    session_.request(2, 0);
    ASSERT_TRUE(stepUntil([&] { return !session_.request().waiting(); }));
    EXPECT_TRUE(session_.request().known);
  }
  ASSERT_TRUE(stepUntil([&] { return !session_.registered(); }));
  EXPECT_EQ(session_.request().state, client::PageRequest::State::kGranted);
  EXPECT_FALSE(session_.request().known);
}

client::Definition definitionOf(const char* name) {
  pingloom_metric metric{};
  metric.name = name;
  client::Definition made;
  EXPECT_TRUE(client::makeDefinition(metric, {PINGLOOM_COUNTER}, {}, {}, &made).ok());
  return made;
}

TEST_F(SessionTest, ARemovalThatIsRefusedIsANewBeginning) {
  ScriptedAgent agent(folder_.socket(),
                      [](ScriptedAgent& self, int socket, const Message& message) {
                        if (message.type != MessageType::kRemove) return false;
                        Message no = refusal(Refusal::kMalformed, "no such message");
                        no.page = message.page;
                        self.answer(socket, no);
                        return true;
                      });
  Page& page = *pages_[0];
  const auto first = page.add(definitionOf("first"));
  page.add(definitionOf("second"));
  ASSERT_TRUE(stepUntil([&] { return page.knownMetrics() == 2; }));
  page.remove(first, now_);
  ASSERT_TRUE(stepUntil([&] { return !session_.registered(); }));
  EXPECT_EQ(session_.takeTroubles().at(0).text,
            "the agent refuses to remove metric first: no such message");
  now_ += 1s;
  ASSERT_TRUE(stepUntil([&] { return page.knownMetrics() == 1; }));
  EXPECT_EQ(agent.connections(), 2u);
  EXPECT_EQ(agent.definitions(), 1u);
}

// The agent is killed before it answers: the next one hears of what is left only.
TEST_F(SessionTest, ARemovalEndsWithItsAgent) {
  Page& page = *pages_[0];
  const auto first = page.add(definitionOf("first"));
  page.add(definitionOf("second"));
  {
    ScriptedAgent agent(folder_.socket(), [](ScriptedAgent&, int, const Message& message) {
      return message.type == MessageType::kRemove;  // which it never answers
    });
    ASSERT_TRUE(stepUntil([&] { return page.knownMetrics() == 2; }));
    page.remove(first, now_);
    session_.step(now_, pages_);
  }
  ASSERT_TRUE(stepUntil([&] { return !session_.registered(); }));
  ScriptedAgent next(folder_.socket());
  now_ += 1s;
  ASSERT_TRUE(stepUntil([&] { return page.knownMetrics() == 1; }));
  EXPECT_EQ(next.definitions(), 1u);
  EXPECT_EQ(page.metric(page.add(definitionOf("third"))).first, 2u) << "the slot rests";
  now_ += client::MetricTable::kRest;
  page.sweep(now_);
  EXPECT_EQ(page.metric(page.add(definitionOf("fourth"))).first, 0u);
}

}  // namespace
}  // namespace pingloom::pages::test::session_test
