#include "collector/agent_session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "../pages/test_agent.h"
#include "unit/eventually.h"

namespace pingloom::collector::agent_session_test {
namespace {

using pages::PagePool;
using pages::PageServer;
using pages::test::Agent;
using pages::test::Application;
using pages::test::RawMetric;

constexpr Nanos kInterval = 5 * kMillisecond;

// Agents and collectors of one thread, in turn. Time is real but for what is skipped.
class Loop {
 public:
  Nanos now() const { return monotonicNow() + skipped_; }
  void skip(Nanos time) { skipped_ += time; }
  void add(Agent& agent) { agents_.push_back(&agent); }
  void remove(Agent& agent) { std::erase(agents_, &agent); }
  void add(AgentSession& session) { sessions_.push_back(&session); }
  void remove(AgentSession& session) { std::erase(sessions_, &session); }
  void step() {
    for (Agent* agent : agents_) agent->work(now());
    for (AgentSession* session : sessions_) {
      if (session->nextWake() <= now()) session->work(now());
    }
    for (AgentSession* session : sessions_) session->work(now());
  }
  template <typename Done>
  bool until(Done&& done) {
    return pingloom::test::eventually(done, [this] { step(); });
  }
  // Not in time alone: what is under way has to come to its end on a busy machine too.
  void run(Nanos time) {
    constexpr int kMinSteps = 100;
    const Nanos end = monotonicNow() + time;
    for (int steps = 0; steps < kMinSteps || monotonicNow() <= end; ++steps) step();
  }

 private:
  Nanos skipped_ = 0;
  std::vector<Agent*> agents_;
  std::vector<AgentSession*> sessions_;
};

class AgentSessionTest : public testing::Test {
 protected:
  struct Reader {
    Reader(Loop& in, const std::string& agent, rdma::Device& on)
        : loop(in),
          session({agent, kInterval}, "tester", on, context, on.info().gid.address(), std::nullopt,
                  entry) {
      loop.add(session);
    }
    ~Reader() { loop.remove(session); }
    AgentView view() const { return entry->copy(); }
    const PageView* find(const AgentView& view, std::uint64_t generation) const {
      for (const PageView& page : view.pages) {
        if (page.info->generation == generation) return &page;
      }
      return nullptr;
    }
    PageState state(std::uint64_t generation) const {
      const AgentView now = view();
      const PageView* page = find(now, generation);
      return page == nullptr ? PageState::kUnread : page->state;
    }
    std::uint64_t value(std::uint64_t generation, std::size_t slot = 0) const {
      const AgentView now = view();
      const PageView* page = find(now, generation);
      return page == nullptr || page->values.size() <= slot ? 0 : page->values[slot];
    }

    Loop& loop;
    net::ZmqContext context;
    std::shared_ptr<BoardEntry> entry = std::make_shared<BoardEntry>();
    AgentSession session;
  };
  std::unique_ptr<Reader> read(const std::string& agent) {
    return std::make_unique<Reader>(loop, agent, *device);
  }
  // How often a reader connects that hangs while its range is taken away: twice, by a READ with the
  // dead key, unless it is told of the fresh range first.
  std::uint64_t connectsAfterAMissedMove() {
    Agent agent;
    loop.add(agent);
    Application app(*agent.pool);
    app.define(RawMetric{});
    auto reader = read(agent.address());
    EXPECT_TRUE(loop.until([&] { return reader->state(app.generation()) == PageState::kFresh; }));
    loop.run(100 * kMillisecond);  // nothing is asked any more
    loop.remove(reader->session);  // it hangs
    for (std::size_t i = 0; i < PagePool::kSparePlaces + 5; ++i) Application(*agent.pool).leave();
    EXPECT_TRUE(loop.until([&] { return agent.pool->retiring(); }));
    loop.run(50 * kMillisecond);
    EXPECT_TRUE(agent.pool->retiring()) << "it may read still";
    loop.skip(PageServer::kMaxMove);
    EXPECT_TRUE(loop.until([&] { return !agent.pool->retiring(); }));
    loop.add(reader->session);
    app.page().slots[0] = 9;
    EXPECT_TRUE(loop.until([&] { return reader->value(app.generation()) == 9; }));
    loop.remove(agent);
    return reader->view().counters.connects;
  }

  std::unique_ptr<rdma::Device> device = pages::test::freshDevice();
  Loop loop;
};

TEST_F(AgentSessionTest, ReadsWhatApplicationsWrite) {
  Agent agent;
  loop.add(agent);
  Application app(*agent.pool, "shop", 0, 77);
  app.define(RawMetric{});
  app.page().slots[0] = 41;
  auto reader = read(agent.address());
  ASSERT_TRUE(loop.until([&] { return reader->value(app.generation()) == 41; }));
  app.page().slots[0] = 42;
  ASSERT_TRUE(loop.until([&] { return reader->value(app.generation()) == 42; }));
  Application later(*agent.pool, "later");
  later.define(RawMetric{});
  later.page().slots[0] = 7;
  ASSERT_TRUE(loop.until([&] { return reader->value(later.generation()) == 7; }));
  later.define(RawMetric{.first = 1, .name = "more"});
  later.page().slots[1] = 8;
  ASSERT_TRUE(loop.until([&] { return reader->value(later.generation(), 1) == 8; }));
  app.leave();
  ASSERT_TRUE(loop.until([&] { return reader->view().pages.size() == 1; }));
  const AgentView view = reader->view();
  EXPECT_EQ(view.state, LinkState::kReading);
  EXPECT_EQ(view.host, "host-a");
  EXPECT_EQ(view.counters.failures + view.counters.foreign + view.counters.corrupt, 0U);
  EXPECT_EQ(view.pages[0].info->application, "later");
}

TEST_F(AgentSessionTest, WhatIsRemovedEndsAndItsSlotIsAnothersLater) {
  Agent agent;
  loop.add(agent);
  Application app(*agent.pool);
  const RawMetric first{.name = "first"};
  const RawMetric second{.first = 1, .name = "second"};
  app.define(first);
  app.define(second);
  app.page().slots[0] = 41;
  app.page().slots[1] = 42;
  auto reader = read(agent.address());
  ASSERT_TRUE(loop.until([&] { return reader->value(app.generation(), 1) == 42; }));
  app.remove(first);
  const auto names = [&] {
    std::string shown;
    const AgentView now = reader->view();
    for (const PageView& page : now.pages) {
      for (std::size_t i = 0; i < page.info->schema.size(); ++i) {
        if (!page.has(i)) continue;
        const pages::Metric& metric = page.info->schema[i];
        shown += metric.name + "=" + std::to_string(page.values[metric.first_slot]) + " ";
      }
    }
    return shown;
  };
  ASSERT_TRUE(loop.until([&] { return names() == "second=42 "; })) << names();
  app.page().slots[0] = 0;
  app.define({.name = "third"}, monotonicNow() + pages::PageSchema::kRest);
  app.page().slots[0] = 1;
  bool early = false;
  ASSERT_TRUE(loop.until([&] {
    const std::string now = names();
    early = early || (now.find("third") != std::string::npos && now != "second=42 third=1 ");
    return now == "second=42 third=1 ";
  })) << names();
  EXPECT_FALSE(early) << "what was read before is not its value";
  EXPECT_EQ(reader->view().counters.failures, 0U);
}

TEST_F(AgentSessionTest, FreshRangesAreFollowedWithoutAFailure) {
  Agent agent;
  loop.add(agent);
  Application app(*agent.pool);
  app.define(RawMetric{});
  auto reader = read(agent.address());
  auto other = read(agent.address());
  std::uint64_t written = 0;
  for (int ranges = 0; ranges < 5; ++ranges) {
    const std::uint64_t epoch = agent.pool->epoch();
    for (std::size_t i = 0; i < PagePool::kSparePlaces + 5; ++i) Application(*agent.pool).leave();
    ASSERT_TRUE(loop.until([&] { return agent.pool->epoch() > epoch; }));
    app.page().slots[0] = ++written;
    ASSERT_TRUE(loop.until([&] {
      return reader->value(app.generation()) == written &&
             other->value(app.generation()) == written && !agent.pool->retiring();
    }));
  }
  for (const auto* one : {reader.get(), other.get()}) {
    EXPECT_EQ(one->view().counters.failures, 0U);
    EXPECT_EQ(one->view().counters.connects, 1U);
  }
}

TEST_F(AgentSessionTest, AReaderThatDoesNotMoveLosesTheOldRange) {
  constexpr int kTries = 20;  // on a machine that is not busy the READ is always first
  for (int i = 0; i < kTries; ++i) {
    if (connectsAfterAMissedMove() == 2) return;
  }
  FAIL() << "the old key is not dead";
}

TEST_F(AgentSessionTest, ASilentReaderLosesItsEndpointAndComesBack) {
  Agent agent;
  loop.add(agent);
  Application app(*agent.pool);
  app.define(RawMetric{});
  auto reader = read(agent.address());
  ASSERT_TRUE(loop.until([&] { return reader->state(app.generation()) == PageState::kFresh; }));
  loop.run(100 * kMillisecond);  // until nothing that it has asked is under way
  loop.remove(reader->session);
  loop.skip(PageServer::kPatience);
  EXPECT_TRUE(loop.until([&] { return agent.server->readers() == 0; }));
  loop.add(reader->session);
  app.page().slots[0] = 3;
  ASSERT_TRUE(loop.until([&] { return reader->value(app.generation()) == 3; }));
  EXPECT_EQ(reader->view().counters.connects, 2U);
}

TEST_F(AgentSessionTest, LargeDirectoriesComeInPieces) {
  Agent agent;
  loop.add(agent);
  std::vector<std::unique_ptr<Application>> apps;
  RawMetric metric{.help = std::string(500, 'x')};
  for (char c = 'a'; c < 'p'; ++c) {
    metric.labels.emplace_back(std::string(1, c), std::string(250, 'x'));
  }
  for (int i = 0; i < 20; ++i) {
    apps.push_back(std::make_unique<Application>(*agent.pool));
    for (metric.first = 0; metric.first < 50; ++metric.first) apps.back()->define(metric);
    apps.back()->page().slots[49] = static_cast<std::uint64_t>(i) + 1;
  }
  auto reader = read(agent.address());
  ASSERT_TRUE(loop.until([&] {
    for (int i = 0; i < 20; ++i) {
      if (reader->value(apps[static_cast<std::size_t>(i)]->generation(), 49) !=
          static_cast<std::uint64_t>(i) + 1) {
        return false;
      }
    }
    return true;
  }));
  EXPECT_GT(reader->view().counters.directories, 3U);
}

TEST_F(AgentSessionTest, AWriterThatNeverStopsIsNeverReadTorn) {
  Agent agent;
  loop.add(agent);
  Application app(*agent.pool, "busy", PINGLOOM_PAGE_GROUPED);
  for (std::uint16_t slot = 0; slot < 400; ++slot) {
    app.define(RawMetric{.first = slot, .name = "m" + std::to_string(slot)});
  }
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    auto* sequence = &app.page().header.sequence;
    for (std::uint64_t count = 1; !stop; ++count) {
      __atomic_store_n(sequence, 2 * count - 1, __ATOMIC_RELAXED);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      for (std::size_t slot = 0; slot < 400; ++slot) {
        __atomic_store_n(&app.page().slots[slot], count, __ATOMIC_RELAXED);
      }
      __atomic_store_n(sequence, 2 * count, __ATOMIC_RELEASE);
      // Sometimes there is time to read it.
      if (count % 4096 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  auto reader = read(agent.address());
  std::uint64_t checked = 0;
  EXPECT_TRUE(loop.until([&] {
    const AgentView view = reader->view();
    const PageView* page = reader->find(view, app.generation());
    if (page == nullptr || page->values.empty()) return false;
    for (const std::uint64_t value : page->values) EXPECT_EQ(value, page->values[0]);
    const bool read_while_written = view.counters.reading.torn_retries > 0;
    return (++checked > 10'000 && read_while_written) || testing::Test::HasFailure();
  }));
  stop = true;
  writer.join();
}

TEST_F(AgentSessionTest, AGroupThatIsNeverCommittedIsTornAndNothingElseIs) {
  Agent agent;
  loop.add(agent);
  Application stuck(*agent.pool, "stuck", PINGLOOM_PAGE_GROUPED);
  Application good(*agent.pool, "good", PINGLOOM_PAGE_GROUPED);
  stuck.define(RawMetric{});
  good.define(RawMetric{});
  stuck.page().header.sequence = 1;
  good.page().slots[0] = 5;
  auto reader = read(agent.address());
  ASSERT_TRUE(loop.until([&] { return reader->value(good.generation()) == 5; }));
  EXPECT_EQ(reader->state(stuck.generation()), PageState::kTorn);
  EXPECT_GT(reader->view().counters.torn, 0U);
}

TEST_F(AgentSessionTest, WhatAnApplicationWritesInItsHeaderHarmsItAlone) {
  Agent agent;
  loop.add(agent);
  Application bad(*agent.pool, "bad");
  Application good(*agent.pool, "good");
  bad.define(RawMetric{});
  good.define(RawMetric{});
  good.page().slots[0] = 5;
  auto reader = read(agent.address());
  ASSERT_TRUE(loop.until([&] { return reader->state(bad.generation()) == PageState::kFresh; }));
  const pingloom_page_header kept = bad.page().header;
  const auto corrupt = [&] {
    const bool seen =
        loop.until([&] { return reader->state(bad.generation()) == PageState::kCorrupt; });
    bad.page().header = kept;
    return seen && loop.until([&] { return reader->state(bad.generation()) == PageState::kFresh; });
  };
  bad.page().header.magic = 1;
  EXPECT_TRUE(corrupt());
  bad.page().header.version = 2;
  EXPECT_TRUE(corrupt());
  bad.page().header.slots = 505;
  EXPECT_TRUE(corrupt());
  bad.page().header.generation = good.generation();
  EXPECT_TRUE(corrupt()) << "another one's generation";
  std::memset(&bad.page(), 0, sizeof bad.page());
  EXPECT_TRUE(corrupt());
  bad.page().header.slots = 400;  // more than it has defined
  loop.run(30 * kMillisecond);
  const AgentView view = reader->view();
  EXPECT_EQ(reader->find(view, bad.generation())->values.size(), 1U);
  EXPECT_EQ(reader->value(good.generation()), 5U);
  EXPECT_EQ(view.counters.failures, 0U);
}

TEST_F(AgentSessionTest, AnOwnerWithoutSignsOfLifeIsStaleUntilItHasThem) {
  Agent agent;
  loop.add(agent);
  Application app(*agent.pool);
  app.define(RawMetric{});
  auto reader = read(agent.address());
  ASSERT_TRUE(loop.until([&] { return reader->state(app.generation()) == PageState::kFresh; }));
  loop.skip(kStaleAfter);
  ASSERT_TRUE(loop.until([&] { return reader->state(app.generation()) == PageState::kStale; }));
  EXPECT_EQ(reader->view().counters.stale, 1U);
  ++app.page().header.heartbeat;
  ASSERT_TRUE(loop.until([&] { return reader->state(app.generation()) == PageState::kFresh; }));
}

TEST_F(AgentSessionTest, AnAgentThatComesBackIsReadAgain) {
  auto agent = std::make_unique<Agent>();
  const std::uint16_t port = agent->server->address().port;
  const std::string address = agent->address();
  loop.add(*agent);
  auto reader = read(address);
  {
    Application app(*agent->pool);
    app.define(RawMetric{});
    ASSERT_TRUE(loop.until([&] { return reader->state(app.generation()) == PageState::kFresh; }));
  }
  loop.remove(*agent);
  agent.reset();
  ASSERT_TRUE(loop.until([&] { return reader->view().state == LinkState::kFailed; }));
  Agent second({}, "host-a", port, 8);
  loop.add(second);
  Application app(*second.pool, "second");
  app.define(RawMetric{});
  app.page().slots[0] = 6;
  ASSERT_TRUE(loop.until([&] { return reader->value(app.generation()) == 6; }));
  EXPECT_EQ(reader->view().incarnation, 8U);
  EXPECT_TRUE(reader->view().problem.empty());
}

TEST_F(AgentSessionTest, OneThatCannotBeReachedIsReportedAndDelaysNobody) {
  Agent agent;
  loop.add(agent);
  Application app(*agent.pool);
  app.define(RawMetric{});
  auto dead = read("127.0.0.1:1");
  auto reader = read(agent.address());
  ASSERT_TRUE(loop.until([&] { return reader->state(app.generation()) == PageState::kFresh; }));
  loop.skip(ControlLink::kPatience);
  ASSERT_TRUE(loop.until([&] { return dead->view().state == LinkState::kFailed; }));
  EXPECT_FALSE(dead->view().problem.empty());
  // While it waits nothing of it is polled: a failed one must not keep the thread awake.
  const Nanos next = dead->session.nextWake();
  EXPECT_GT(next, loop.now() - kMillisecond);
}

TEST_F(AgentSessionTest, AnIdThatIsNoneIsRefused) {
  Agent agent({}, "evil\"\nhost");
  loop.add(agent);
  auto reader = read(agent.address());
  ASSERT_TRUE(loop.until([&] { return reader->view().state == LinkState::kFailed; }));
  EXPECT_TRUE(reader->view().host.empty());
}

}  // namespace
}  // namespace pingloom::collector::agent_session_test
