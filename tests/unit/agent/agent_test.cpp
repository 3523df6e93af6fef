#include "agent/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "../common/fake_service_manager.h"
#include "../common/temporary_directory.h"
#include "common/file.h"
#include "http/server.h"
#include "plan/plan_codec.h"
#include "scripted_router.h"
#include "unit/eventually.h"

namespace pingloom::agent::agent_test {
namespace {

plan::Plan meshPlan() {
  plan::Plan plan;
  for (const auto& [probe_name, protocol] :
       {std::pair{"udp", Protocol::kUdp}, std::pair{"rail0", Protocol::kRdma}}) {
    plan::ProbeSpec probe;
    probe.name = probe_name;
    probe.protocol = protocol;
    probe.sources = probe.destinations = "mesh";
    plan.probes.push_back(probe);
  }
  plan.lists["mesh"] = std::make_shared<const plan::AddressList>(plan::AddressList{
      *IpAddress::parse("10.0.0.1"), *IpAddress::parse("10.0.0.2"), *IpAddress::parse("10.0.0.3")});
  return plan;
}

// Closes a window when told to, and one more when flushed.
class FakeTransport : public probe::Transport {
 public:
  struct Log {
    std::mutex mutex;
    std::vector<probe::Work> works;
    probe::AgentContext context;
    std::vector<std::shared_ptr<const plan::EndpointTable>> tables;
    std::vector<plan::Endpoint> endpoints;
    std::atomic<bool> gone{false};
  };

  FakeTransport(std::shared_ptr<Log> log, const probe::AgentContext& context)
      : log_(std::move(log)), context_(context) {
    log_->context = context;
  }
  ~FakeTransport() override { log_->gone = true; }

  Protocol protocol() const override { return Protocol::kUdp; }
  void setEndpoints(const std::shared_ptr<const plan::EndpointTable>& endpoints) override {
    const std::lock_guard lock(log_->mutex);
    log_->tables.push_back(endpoints);
  }
  std::vector<plan::Endpoint> endpoints() override {
    const std::lock_guard lock(log_->mutex);
    return log_->endpoints;
  }
  void setWork(probe::Work work) override {
    const std::lock_guard lock(log_->mutex);
    if (!work.assignments.empty()) close(*context_.windows, work.assignments.front(), 100);
    log_->works.push_back(std::move(work));
  }
  void startBurst(const std::shared_ptr<const probe::Burst>&) override {}
  std::vector<BurstPing> burstPings() override { return {}; }
  void endBurst() override {}
  void flush() override {
    const std::lock_guard lock(log_->mutex);
    if (log_->works.empty()) return;
    for (const auto& assignment : log_->works.back().assignments) {
      close(*context_.windows, assignment, 101);
    }
  }
  probe::TransportCounters counters() override {
    probe::TransportCounters counters;
    counters.pings_sent = 42;
    counters.dropped[6] = 3;
    return counters;
  }

 private:
  static void close(probe::WindowQueue& queue,
                    const std::shared_ptr<const plan::Assignment>& assignment,
                    std::uint64_t index) {
    probe::ClosedWindow window;
    window.assignment = assignment;
    window.index = index;
    window.pairs.resize(assignment->destinations.size());
    for (probe::PairWindow& pair : window.pairs) pair.sent = pair.lost = 10;
    queue.push(std::move(window));
  }

  std::shared_ptr<Log> log_;
  probe::AgentContext context_;
};

class AgentTest : public testing::Test {
 protected:
  void startAgent() {
    Config config;
    config.controllers = {router.address()};
    config.host = "gpu-001";
    config.addresses = {*IpAddress::parse("10.0.0.1")};
    config.state_dir = directory.path() / "state";
    config.http = SocketAddress{*IpAddress::parse("127.0.0.1"), 0};
    log = std::make_shared<FakeTransport::Log>();
    log->endpoints = first_endpoints;
    auto started = Agent::start(config, [this](const probe::AgentContext& context) {
      std::vector<std::unique_ptr<probe::Transport>> transports;
      transports.push_back(std::make_unique<FakeTransport>(log, context));
      return Result<std::vector<std::unique_ptr<probe::Transport>>>(std::move(transports));
    });
    ASSERT_TRUE(started) << started.error().text();
    agent = std::move(*started);
    thread = std::thread([this] {
      while (agent->run(manager) == ServiceManager::Asked::kReload) agent->reload(next_config);
    });
  }

  void stopAgent() { manager.ask(ServiceManager::Asked::kStop); }

  void TearDown() override {
    if (!thread.joinable()) return;  // only after a failure
    stopAgent();
    joinAgent();
  }

  void joinAgent() {
    thread.join();
    agent.reset();
  }

  // Plays a controller that accepts everything until `done`; the batches' reports are kept.
  bool serve(const std::function<bool()>& done, const plan::Plan* plan = nullptr) {
    return test::eventually(
        [&] {
          while (auto message = router.receive()) take(*message, plan);
          return done();
        },
        [&] {
          pollfd descriptor{router.descriptor(), POLLIN, 0};
          ::poll(&descriptor, 1, 20);
        });
  }

  void take(const ScriptedRouter::Message& message, const plan::Plan* plan) {
    const wire::AgentMessage& body = message.body;
    if (!body.has_registration() && message.from == ignored_peer) return;
    if (body.has_registration()) {
      peer = message.from;
      registrations.push_back(body.registration());
      batches.clear();
      goodbye = false;
      router.send(message.from, registeredMessage(committed.incarnation, committed.sequence));
      if (plan != nullptr) {
        wire::ControllerMessage update;
        *update.mutable_plan() = plan::encode(*plan, nullptr);
        router.send(message.from, update);
      }
    } else if (body.has_heartbeat()) {
      heartbeats.push_back(body.heartbeat());
      router.send(message.from, replyMessage(body.heartbeat().agent_mono_ns(), utcNow()));
    } else if (body.has_batch()) {
      batches.push_back(body.batch());
      committed = {body.batch().incarnation(), body.batch().sequence()};
      router.send(message.from, ackMessage(committed.incarnation, committed.sequence));
    } else if (body.has_goodbye()) {
      goodbye = true;
    }
  }

  test::TemporaryDirectory directory;
  ScriptedRouter router;
  // The endpoint of this address as the transport was told last.
  std::uint32_t qpnOf(const char* address) {
    const std::lock_guard lock(log->mutex);
    if (log->tables.empty()) return 0;
    const auto found = log->tables.back()->find(*IpAddress::parse(address));
    return found == log->tables.back()->end() ? 0 : found->second.qpn;
  }

  std::shared_ptr<FakeTransport::Log> log;
  std::unique_ptr<Agent> agent;
  test::FakeServiceManager manager;
  Config next_config;  // before a reload is asked for
  std::thread thread;
  std::vector<wire::Register> registrations;
  std::vector<wire::Heartbeat> heartbeats;
  std::vector<wire::Batch> batches;
  wire::BatchId committed;
  std::vector<plan::Endpoint> first_endpoints;
  std::string peer;
  std::string ignored_peer;  // an agent that ended: what it had under way is lost
  bool goodbye = false;
};

TEST_F(AgentTest, ProbesByThePlanReportsAndEndsOrderly) {
  startAgent();
  const plan::Plan plan = meshPlan();
  ASSERT_TRUE(serve([&] { return batches.size() == 1; }, &plan));
  ASSERT_EQ(batches[0].reports_size(), 1);
  EXPECT_EQ(batches[0].reports(0).probe(), "udp");
  EXPECT_EQ(batches[0].reports(0).window_index(), 100U);
  EXPECT_EQ(batches[0].reports(0).rows_size(), 2);
  EXPECT_EQ(batches[0].sequence(), 1U);
  EXPECT_EQ(batches[0].incarnation(), registrations[0].incarnation());
  {
    const std::lock_guard lock(log->mutex);
    ASSERT_EQ(log->works.size(), 1U);
    ASSERT_EQ(log->works[0].assignments.size(), 1U) << "of its protocol";
    EXPECT_EQ(log->works[0].known_sources->size(), 3U);
    EXPECT_EQ(log->context.incarnation, static_cast<std::uint32_t>(registrations[0].incarnation()));
  }
  stopAgent();
  ASSERT_TRUE(serve([&] { return goodbye; }));
  joinAgent();
  ASSERT_EQ(batches.size(), 2U) << "the open window is flushed";
  EXPECT_EQ(batches[1].sequence(), 2U);
  EXPECT_EQ(batches[1].reports(0).window_index(), 101U);
  EXPECT_TRUE(log->gone);
  ASSERT_FALSE(heartbeats.empty());
  EXPECT_EQ(heartbeats[0].status().pings_sent(), 42U);
  EXPECT_EQ(heartbeats[0].status().refused_packets(), 3U);
}

TEST_F(AgentTest, ARestartedAgentProbesAtOnceAndDeliversWhatIsLeft) {
  startAgent();
  const plan::Plan plan = meshPlan();
  ASSERT_TRUE(serve([&] { return batches.size() == 1; }, &plan));
  const std::uint64_t first_incarnation = batches[0].incarnation();
  stopAgent();
  joinAgent();  // nobody takes its last batch: it stays in the spool
  ignored_peer = peer;

  startAgent();
  {
    const std::lock_guard lock(log->mutex);
    ASSERT_EQ(log->works.size(), 1U) << "by the kept plan, without the controller";
  }
  ASSERT_TRUE(serve([&] { return registrations.size() == 2 && batches.size() == 2; }));
  EXPECT_EQ(registrations.back().plan_hash(), plan::hash(plan));
  EXPECT_EQ(batches[0].incarnation(), first_incarnation);
  EXPECT_EQ(batches[0].sequence(), 2U);
  EXPECT_GT(batches[1].incarnation(), first_incarnation);
  EXPECT_EQ(batches[1].sequence(), 1U);
  stopAgent();
  ASSERT_TRUE(serve([&] { return goodbye; }));
  joinAgent();
}

TEST_F(AgentTest, IsReadyWhenItProbesByAPlan) {
  startAgent();
  ASSERT_TRUE(serve([&] { return !registrations.empty() && !manager.status().empty(); }));
  EXPECT_FALSE(manager.ready());
  EXPECT_EQ(manager.status(), "waiting for the controller: there is no plan yet");
  const plan::Plan plan = meshPlan();
  wire::ControllerMessage update;
  *update.mutable_plan() = plan::encode(plan, nullptr);
  router.send(peer, update);
  ASSERT_TRUE(serve([&] { return manager.ready(); }));
  EXPECT_EQ(manager.status(), "probing");
}

TEST_F(AgentTest, AReloadLeadsToAnotherController) {
  startAgent();
  ASSERT_TRUE(serve([&] { return !registrations.empty(); }));
  ScriptedRouter other;
  next_config.controllers = {other.address()};
  manager.ask(ServiceManager::Asked::kReload);
  std::optional<ScriptedRouter::Message> message;
  EXPECT_TRUE(serve([&] { return (message = other.receive()).has_value(); }));
  ASSERT_TRUE(message && message->body.has_registration());
  EXPECT_EQ(message->body.registration().host(), "gpu-001");
}

TEST_F(AgentTest, AControllerThatNeedsOtherKeysWaitsForARestart) {
  ScriptedRouter other;
  startAgent();
  ASSERT_TRUE(serve([&] { return !heartbeats.empty(); }));
  next_config.controllers = {other.address()};
  KeysConfig& keys = next_config.keys.emplace();
  keys.secret = "agent.key";
  keys.controller = {net::CurvePair::generate().public_key};
  manager.ask(ServiceManager::Asked::kReload);
  const auto heard = heartbeats.size();
  EXPECT_TRUE(serve([&] { return heartbeats.size() > heard + 1; }));
  EXPECT_FALSE(other.receive()) << "it could not speak with that one";
}

plan::Endpoint endpointOf(const char* address, std::uint32_t qpn) {
  plan::Endpoint made;
  made.address = *IpAddress::parse(address);
  made.gid[15] = 1;
  made.qpn = qpn;
  made.device = "soft";
  return made;
}

TEST_F(AgentTest, RegistersEndpointsGivesTheTableToTransportsAndKeepsIt) {
  first_endpoints = {endpointOf("10.0.0.1", 17), endpointOf("10.9.9.9", 18)};
  startAgent();
  ASSERT_TRUE(serve([&] { return !heartbeats.empty(); }));
  ASSERT_EQ(registrations[0].endpoints_size(), 1) << "10.9.9.9 is no address of this agent";
  EXPECT_EQ(registrations[0].endpoints(0).qpn(), 17U);
  EXPECT_EQ(qpnOf("10.0.0.1"), 0U) << "no table is no empty table";
  wire::ControllerMessage message;
  wire::EndpointUpdate& update = *message.mutable_endpoints();
  update.set_controller(9);
  update.set_version(4);
  plan::encode(endpointOf("10.0.0.2", 20), *update.add_changed());
  router.send(peer, message);
  ASSERT_TRUE(serve([&] { return qpnOf("10.0.0.2") == 20; }));
  EXPECT_EQ(qpnOf("10.0.0.1"), 17U) << "its own it knows without the controller";
  {
    const std::lock_guard lock(log->mutex);
    log->endpoints = {endpointOf("10.0.0.1", 99)};
  }
  log->context.endpoints_changed();  // from a transport's thread
  ASSERT_TRUE(serve([&] { return registrations.size() == 2; }));
  EXPECT_EQ(registrations[1].endpoints(0).qpn(), 99U);
  EXPECT_EQ(registrations[1].endpoints_version(), 4U);
  EXPECT_EQ(qpnOf("10.0.0.1"), 99U);
  stopAgent();
  ASSERT_TRUE(serve([&] { return goodbye; }));
  joinAgent();

  first_endpoints = {endpointOf("10.0.0.1", 123)};
  startAgent();  // nobody answers it
  EXPECT_EQ(qpnOf("10.0.0.2"), 20U) << "from the disk";
  EXPECT_EQ(qpnOf("10.0.0.1"), 123U);
  stopAgent();
  joinAgent();
}

TEST_F(AgentTest, TwoAgentsCannotShareAStateDirectory) {
  startAgent();
  Config config;
  config.controllers = {router.address()};
  config.state_dir = directory.path() / "state";
  const auto second = Agent::start(
      config,
      [](const probe::AgentContext&) -> Result<std::vector<std::unique_ptr<probe::Transport>>> {
        ADD_FAILURE() << "must not get that far";
        return makeError("", "");
      });
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), testing::HasSubstr("another pingloom-agent"));
  stopAgent();
  joinAgent();
}

TEST(AgentMetrics, ShowWhatIsKnown) {
  Figures figures;
  figures.host = "gpu-001";
  figures.registered = true;
  figures.spool.dropped = 5;
  TransportFigures udp;
  udp.protocol = "udp";
  udp.pings_sent = 42;
  udp.dropped[6] = 3;
  Distribution lateness;
  lateness.add(2000);
  udp.lateness = lateness.summary();
  figures.transports = {udp};
  const std::string text = metricsText(figures);
  for (const char* line :
       {"pingloom_agent_info{version=\"", "pingloom_agent_pings_sent_total{protocol=\"udp\"} 42\n",
        "pingloom_agent_packets_dropped_total{protocol=\"udp\",reason=\"nonce\"} 3\n",
        "pingloom_agent_controller_connected 1\n", "pingloom_agent_spool_dropped_batches_total 5\n",
        "pingloom_agent_send_lateness_seconds{protocol=\"udp\",statistic=\"p99\"} 2e-06\n"}) {
    EXPECT_THAT(text, testing::HasSubstr(line));
  }
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("controller_round_trip")))
      << "what is not known is absent";
}

TEST(AgentMetrics, ShowWhatThePagesRefused) {
  Figures figures;
  EXPECT_THAT(metricsText(figures), testing::Not(testing::HasSubstr("pingloom_agent_pages")));
  figures.pages.emplace();
  figures.pages->pages = 7;
  figures.pages->owners = 3;
  figures.pages->readers = 2;
  figures.pages->registration.refused[static_cast<std::size_t>(pages::Refusal::kQuota)] = 4;
  figures.pages->registration.connections_refused = 5;
  figures.pages->server.version = 6;
  const std::string text = metricsText(figures);
  for (const char* line :
       {"pingloom_agent_pages 7\n", "pingloom_agent_pages_owners 3\n",
        "pingloom_agent_pages_readers 2\n",
        "pingloom_agent_pages_refused_total{reason=\"quota\"} 4\n",
        "pingloom_agent_pages_refused_total{reason=\"unavailable\"} 0\n",
        "pingloom_agent_pages_connections_refused_total 5\n",
        "pingloom_agent_pages_control_refused_total{reason=\"version\"} 6\n",
        "pingloom_agent_pages_control_refused_total{reason=\"malformed\"} 0\n"}) {
    EXPECT_THAT(text, testing::HasSubstr(line));
  }
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("reason=\"\""))) << "there is no Refusal 0";
}

TEST(Lateness, IsOfTheLastMinuteOrTwo) {
  LatenessWindow window;
  Distribution late;
  late.add(5'000'000);
  Distribution prompt;
  prompt.add(1000);
  window.add(late, 1000 * kSecond);
  EXPECT_EQ(window.summary().max, 5'000'000U);
  window.add(prompt, 1061 * kSecond);
  EXPECT_EQ(window.summary().max, 5'000'000U);
  window.add(prompt, 1122 * kSecond);
  EXPECT_EQ(window.summary().max, 1000U);
}

TEST(OwnAddresses, BridgesOfContainersAreNotTheMachines) {
  EXPECT_TRUE(behindBridge("docker0"));
  EXPECT_TRUE(behindBridge("br-0123456789ab"));
  EXPECT_TRUE(behindBridge("virbr0"));
  EXPECT_FALSE(behindBridge("br-ex"));
  EXPECT_FALSE(behindBridge("eth0"));
  EXPECT_FALSE(behindBridge("ib0"));
  for (const IpAddress& address : machineAddresses()) {
    EXPECT_FALSE(address.isLoopback() || address.isLinkLocal()) << address.text();
  }
}

}  // namespace
}  // namespace pingloom::agent::agent_test
