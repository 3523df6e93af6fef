// Metric pages on devices whose kernel looks for the way to a peer and does not find it: agents and
// collectors that can be reached are served meanwhile.
#include "../pages/test_agent.h"
#include "collector/agent_session.h"
#include "collector/reader_thread.h"
#include "fake_host.h"
#include "rdma/open_device.h"
#include "unit/eventually.h"

namespace pingloom::rdma::verbs::pages_test {
namespace {

using collector::AgentSession;
using collector::AgentView;
using collector::BoardEntry;
using collector::LinkState;
using pages::test::Agent;
using pages::test::Application;

constexpr const char* kNics =
    "device nic_a\nport 1 mtu=1024\ngid 0 127.3.0.1 v2\n"
    "device nic_b\nport 1 mtu=1024\ngid 0 127.3.0.2 v2\n"
    "device nic_c\nport 1 mtu=1024\ngid 0 127.3.0.3 v2\n"
    "device nic_d\nport 1 mtu=1024\ngid 0 127.3.0.4 v2\n";
constexpr Nanos kInterval = kMillisecond;

std::unique_ptr<Device> deviceAt(std::string_view address) {
  auto opened = openVerbsDevice(at(address));
  EXPECT_TRUE(opened) << opened.error().text();
  return std::move(*opened);
}

// An agent with one application, which counts in its first slot.
struct Served {
  Served(std::string_view address, const std::string& host)
      : agent({}, host, 0, 7, deviceAt(address)) {
    app.define(pages::test::RawMetric{});
  }
  Agent agent;
  Application app{*agent.pool};
};

struct Reading {
  Reading(Device& device, const Served& served)
      : session({served.agent.address(), kInterval}, "tester", device, context,
                device.info().gid.address(), std::nullopt, entry) {}
  AgentView view() const { return entry->copy(); }
  bool shows(std::uint64_t count) const {
    const AgentView now = view();
    return now.pages.size() == 1 && !now.pages[0].values.empty() && now.pages[0].values[0] == count;
  }
  net::ZmqContext context;
  std::shared_ptr<BoardEntry> entry = std::make_shared<BoardEntry>();
  AgentSession session;
};

class PagesOnVerbsTest : public FakeVerbsTest {
 protected:
  void SetUp() override { setDevices(kNics); }

  // All on this thread, in turn.
  template <typename Done>
  bool until(const std::vector<Served*>& agents, const std::vector<Reading*>& readings,
             Done&& done) {
    return pingloom::test::eventually(done, [&] {
      for (Served* one : agents) one->agent.work(monotonicNow());
      for (Reading* one : readings) one->session.work(monotonicNow());
    });
  }
};

TEST_F(PagesOnVerbsTest, AnAgentThatIsNotFoundDelaysNoOther) {
  fakeVerbsFault("hold_lookup nic_c 127.3.0.1 1");
  Served lost("127.3.0.1", "lost");
  Served near("127.3.0.2", "near");
  const auto device = deviceAt("127.3.0.3");
  Reading of_lost(*device, lost), of_near(*device, near);
  const auto step = [&](auto&& done) { return until({&lost, &near}, {&of_lost, &of_near}, done); };
  // The agent has found the collector, and has said so.
  ASSERT_TRUE(step([&] { return lost.agent.server->counters().connected == 1; }));
  for (std::uint64_t count = 1; count <= 20; ++count) {
    near.app.page().slots[0] = count;
    ASSERT_TRUE(step([&] { return of_near.shows(count); })) << count;
  }
  EXPECT_EQ(of_near.view().counters.failures, 0U);
  EXPECT_EQ(of_lost.view().counters.connects, 0U);
  EXPECT_EQ(of_lost.view().counters.failures, 0U) << "it is being looked for";
  lost.app.page().slots[0] = 7;
  fakeVerbsFault("hold_lookup nic_c 127.3.0.1 0");
  EXPECT_TRUE(step([&] { return of_lost.shows(7); })) << "it has been found";
}

TEST_F(PagesOnVerbsTest, ACollectorThatIsNotFoundDelaysNoOther) {
  fakeVerbsFault("hold_lookup nic_a 127.3.0.4 1");
  Served served("127.3.0.1", "served");
  const auto near_device = deviceAt("127.3.0.3"), lost_device = deviceAt("127.3.0.4");
  Reading of_near(*near_device, served), of_lost(*lost_device, served);
  const auto step = [&](auto&& done) { return until({&served}, {&of_near, &of_lost}, done); };
  ASSERT_TRUE(step([&] { return served.agent.server->readers() == 2; }));
  for (std::uint64_t count = 1; count <= 20; ++count) {
    served.app.page().slots[0] = count;
    ASSERT_TRUE(step([&] { return of_near.shows(count); })) << count;
  }
  Application later(*served.agent.pool, "later");
  later.define(pages::test::RawMetric{});
  EXPECT_TRUE(step([&] { return of_near.view().pages.size() == 2; })) << "directories are served";
  EXPECT_EQ(served.agent.server->counters().connected, 1U);

  fakeVerbsFault("handle_errno nic_a 127.3.0.4 110");  // ETIMEDOUT
  fakeVerbsFault("hold_lookup nic_a 127.3.0.4 0");
  EXPECT_TRUE(step([&] { return served.agent.server->counters().device > 0; }));
  EXPECT_TRUE(step([&] { return of_lost.view().state == LinkState::kFailed; })) << "it is told why";
  EXPECT_NE(of_lost.view().problem, "");
  fakeVerbsFault("handle_errno nic_a 127.3.0.4 0");
  EXPECT_TRUE(step([&] { return of_lost.view().pages.size() == 2; })) << "it has been found";
  EXPECT_EQ(of_near.view().counters.failures, 0U);
}

TEST_F(PagesOnVerbsTest, ReadersShareADevice) {
  Served one("127.3.0.1", "one"), two("127.3.0.2", "two");
  const IpAddress address = *IpAddress::parse("127.3.0.3");
  const auto devices = openDevices(address, 2, {});
  ASSERT_TRUE(devices) << devices.error().text();
  ASSERT_EQ(devices->size(), 2U);
  collector::Board board;
  std::vector<std::unique_ptr<collector::ReaderThread>> readers;
  for (const Served* served : {&one, &two}) {
    auto reader = collector::ReaderThread::start(
        {readers.size(), address, (*devices)[readers.size()]}, "tester", board);
    ASSERT_TRUE(reader) << reader.error().text();
    readers.push_back(std::move(*reader));
    readers.back()->set({{served->agent.address(), kInterval}});
  }
  const auto shows = [&](const Served& served, std::uint64_t count) {
    for (const auto& entry : board.entries()) {
      const AgentView view = entry->copy();
      if (view.agent != served.agent.address()) continue;
      return view.pages.size() == 1 && !view.pages[0].values.empty() &&
             view.pages[0].values[0] == count && view.counters.failures == 0;
    }
    return false;
  };
  for (std::uint64_t count = 1; count <= 20; ++count) {
    one.app.page().slots[0] = count;
    two.app.page().slots[0] = 100 + count;
    ASSERT_TRUE(until({&one, &two}, {}, [&] {
      return shows(one, count) && shows(two, 100 + count);
    })) << count;
  }
}

}  // namespace
}  // namespace pingloom::rdma::verbs::pages_test
