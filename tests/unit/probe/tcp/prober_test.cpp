// Tests the prober with real sockets on loopback. The test drives the loop: it passes the real time
// or a later one, but never an earlier one.
#include "probe/tcp/prober.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>

#include "common/log.h"
#include "probe/tcp/listener.h"
#include "unit/probe/tcp/loop_fixture.h"

namespace pingloom::probe::tcp::prober_test {
namespace {

using fixture::assignmentOf;
using fixture::host;
using fixture::Rounds;
using fixture::Server;

class Heard : public PingListener {
 public:
  void pingEvent(PingEvent event, const plan::Assignment& /*assignment*/,
                 const IpAddress& destination, Nanos /*after*/) override {
    events.push_back(std::string(name(event)) + " " + destination.text());
  }
  std::vector<std::string> events;
};

class TcpProberTest : public testing::Test {
 protected:
  TcpProberTest() { context.listener = &heard; }
  void use(std::vector<std::shared_ptr<const plan::Assignment>> work) {
    prober.setWork({std::move(work), nullptr}, monotonicNow());
  }
  // Passes the events of real sockets to the prober, with the real time plus `late`.
  int handle(int timeout_ms, Nanos late = 0) {
    return rounds.wait(timeout_ms, [&](std::uint64_t key) {
      const Nanos now = monotonicNow() + late;
      if (late != 0) stalls.tick(now);
      prober.onReady(key, now);
    });
  }
  void handleAll(std::size_t events) {
    for (std::size_t seen = 0; seen < events;) {
      const int ready = handle(2000);
      ASSERT_GT(ready, 0);
      seen += static_cast<std::size_t>(ready);
    }
  }
  std::vector<PairWindow> results() {
    prober.flush(monotonicNow());
    auto closed = queue.takeAll();
    EXPECT_EQ(closed.size(), 1U);
    return closed.empty() ? std::vector<PairWindow>(8) : std::move(closed[0].pairs);
  }

  Heard heard;
  Rounds rounds;
  WindowClock clock{0};
  WindowQueue queue;
  AgentContext context{{}, 0, 0, 0, &clock, &queue};
  StallWatch stalls;
  Prober prober{context, rounds.loop, stalls, 4};
};

class OnePing : public TcpProberTest {
 protected:
  Nanos timeout = 200 * kMillisecond;

  // Starts the ping of the only target.
  void ping(std::uint16_t port, const IpAddress& to, const IpAddress& from = host(200)) {
    auto one = assignmentOf("one", port, {to});
    one->source = from;
    one->probe.timeout = timeout;
    use({one});
    prober.start(monotonicNow() + ProbeSchedule::kMaxStart);
  }
};

TEST_F(OnePing, ConnectsAndTakesTheKernelsTime) {
  const Server server(host(1));
  timeout = 10 * kSecond;
  ping(server.port(), host(1));
  handleAll(1);
  const auto pairs = results();
  EXPECT_EQ(pairs[0].sent, 1U);
  EXPECT_EQ(pairs[0].received, 1U);
  ASSERT_EQ(pairs[0].rtt.count(), 1U);
  ASSERT_EQ(pairs[0].network.count(), 1U);
  EXPECT_LE(pairs[0].network.max(), pairs[0].rtt.max() + kMicrosecond);
  EXPECT_EQ(pairs[0].responder.count() + pairs[0].prober.count(), 0U);
}

TEST_F(OnePing, RefusedIsToldAtOnce) {
  std::uint16_t port = 0;
  { port = Server(host(2)).port(); }
  ping(port, host(2));
  while (handle(50) > 0) {
  }
  const auto pairs = results();
  EXPECT_EQ(pairs[0].refused, 1U);
  EXPECT_EQ(pairs[0].sent, 1U);
  EXPECT_EQ(heard.events, std::vector<std::string>{"refused " + host(2).text()});
}

TEST_F(OnePing, AWrongSourceIsUnreachable) {
  ping(80, host(1), *IpAddress::parse("198.51.100.7"));
  EXPECT_EQ(results()[0].unreachable, 1U);
}

TEST_F(OnePing, NoAnswerIsLostAtTheTimeoutNotBefore) {
  Server server(host(3), 0);
  server.block();
  const Nanos before = monotonicNow();
  ping(server.port(), host(3));
  prober.expire(before + 200 * kMillisecond - 1);
  TransportCounters counters;
  prober.addTo(counters);
  EXPECT_EQ(counters.pings_sent, 1U);
  EXPECT_LE(prober.nextWake(), monotonicNow() + 200 * kMillisecond);
  prober.expire(monotonicNow() + 200 * kMillisecond);
  const auto pairs = results();
  EXPECT_EQ(pairs[0].lost, 1U);
  EXPECT_EQ(pairs[0].late, 0U);
  EXPECT_EQ(pairs[0].sent, 1U);
}

TEST_F(OnePing, AnAnswerAfterTheTimeoutIsLostAndLate) {
  Server server(host(4), 0);
  server.block();
  ping(server.port(), host(4));
  prober.expire(monotonicNow() + 200 * kMillisecond);
  server.unblock();
  handleAll(1);  // the kernel sends its SYN again after a second
  const auto pairs = results();
  EXPECT_EQ(pairs[0].lost, 1U);
  EXPECT_EQ(pairs[0].late, 1U);
  EXPECT_EQ(pairs[0].received, 0U);
  EXPECT_EQ(heard.events,
            (std::vector<std::string>{"lost " + host(4).text(), "late " + host(4).text()}));
}

TEST_F(OnePing, LingersForTheGraceOnly) {
  Server server(host(5), 0);
  server.block();
  ping(server.port(), host(5));
  const Nanos sent = monotonicNow();
  prober.expire(sent + 200 * kMillisecond);
  prober.expire(sent + 200 * kMillisecond + kWindowGrace);
  server.unblock();
  EXPECT_EQ(handle(1200), 0) << "its socket is closed";
  EXPECT_EQ(results()[0].lost, 1U);
}

TEST_F(OnePing, AStallOfThisHostIsAnomalousNotLoss) {
  const Server server(host(6));
  ping(server.port(), host(6));
  ASSERT_EQ(handle(2000, 100 * kMillisecond), 1);
  const auto pairs = results();
  EXPECT_EQ(pairs[0].received, 1U);
  EXPECT_EQ(pairs[0].anomalous[static_cast<std::size_t>(Anomaly::kStalled)], 1U);
  EXPECT_EQ(pairs[0].rtt.count() + pairs[0].network.count(), 0U);
}

TEST_F(OnePing, AnExpiredConnectIsLookedAtBeforeItIsLost) {
  const Server server(host(7));
  ping(server.port(), host(7));
  // The connect has been answered, but the loop handles its timer first.
  ASSERT_EQ(rounds.await(2000), 1);
  prober.expire(monotonicNow() + kSecond);
  const auto pairs = results();
  EXPECT_EQ(pairs[0].lost, 0U);
  EXPECT_EQ(pairs[0].received, 1U);
  EXPECT_EQ(pairs[0].anomalous[static_cast<std::size_t>(Anomaly::kStalled)], 1U);
}

TEST_F(OnePing, NoAnswerInAStallIsDecidedAfterTheGrace) {
  Server server(host(8), 0);
  server.block();
  ping(server.port(), host(8));
  const Nanos sent = monotonicNow();
  stalls.observed(sent, sent + 300 * kMillisecond);
  prober.expire(sent + 300 * kMillisecond);
  prober.expire(sent + 300 * kMillisecond + kWindowGrace);
  const auto pairs = results();
  EXPECT_EQ(pairs[0].lost, 1U);
  EXPECT_EQ(pairs[0].sent, 1U);
}

TEST_F(OnePing, AnAnswerThatNobodyHasReadYetStillCounts) {
  Server server(host(11), 0);
  server.block();
  ping(server.port(), host(11));
  const Nanos sent = monotonicNow();
  stalls.observed(sent, sent + 300 * kMillisecond);
  prober.expire(sent + 300 * kMillisecond);
  server.unblock();
  ASSERT_EQ(rounds.await(5000), 1);  // the second SYN was answered
  prober.expire(monotonicNow() + 300 * kMillisecond + kWindowGrace);
  const auto pairs = results();
  EXPECT_EQ(pairs[0].lost, 1U);
  EXPECT_EQ(pairs[0].late, 1U);
}

TEST_F(OnePing, MeetingItselfIsNoSuccess) {
  // The kernel may choose this port if the target's port is an ephemeral one.
  std::uint16_t port = 0;
  { port = Server(host(9)).port(); }
  UniqueFd self(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_storage storage{};
  const socklen_t size = host(9).toSockaddr(port, storage);
  ASSERT_EQ(bind(self.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  (void)connect(self.get(), reinterpret_cast<sockaddr*>(&storage), size);
  pollfd ready{self.get(), POLLOUT, 0};
  ASSERT_EQ(poll(&ready, 1, 2000), 1);
  EXPECT_EQ(inspectConnect(self.get()).stage, ConnectStage::kRefused);
}

TEST_F(OnePing, APeerThatHangsUpAtOnceWasReached) {
  Server server(host(10));
  ping(server.port(), host(10));
  ASSERT_EQ(rounds.await(2000), 1);
  server.unblock();  // accepts and closes
  handleAll(1);
  EXPECT_EQ(results()[0].received, 1U);
}

TEST_F(TcpProberTest, BeyondTheBoundPingsWait) {
  Server server(host(20), 0);
  server.block();
  std::vector<std::shared_ptr<const plan::Assignment>> work;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    work.push_back(assignmentOf(name, server.port(), {host(20)}));
  }
  use(work);
  const auto sent = [&] {
    for (int i = 0; i < 3; ++i) prober.start(monotonicNow() + kSecond);
    TransportCounters counters;
    prober.addTo(counters);
    return counters.pings_sent;
  };
  const Nanos begin = monotonicNow();
  EXPECT_EQ(sent(), 4U);
  EXPECT_GE(prober.nextWake(), begin + 200 * kMillisecond)
      << "pings that wait for room wake nobody";
  // Expired connects make room, although their late answers are still awaited.
  prober.expire(monotonicNow() + 200 * kMillisecond);
  EXPECT_EQ(sent(), 6U);
}

TEST_F(TcpProberTest, WithoutDescriptorsPingsAreHeldAndTriedAgain) {
  const Server server(host(21));
  use({assignmentOf("held", server.port(), {host(21)})});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(fcntl(STDERR_FILENO, F_DUPFD, 0));
  UniqueFd last(static_cast<int>(none.rlim_cur));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Nanos begin = monotonicNow() + kSecond;
  prober.start(begin);
  prober.start(begin + 10 * kMillisecond);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  TransportCounters counters;
  prober.addTo(counters);
  EXPECT_EQ(counters.pings_sent, 0U);
  EXPECT_EQ(counters.pings_skipped, 0U);
  EXPECT_LE(prober.nextWake(), begin + Prober::kRetry);
  prober.start(begin + Prober::kRetry);
  handleAll(1);
  EXPECT_EQ(results()[0].received, 1U);
}

TEST_F(TcpProberTest, APlanChangeKeepsWhatIsUnderWay) {
  Server server(host(30), 0);
  server.block();
  const Server other(host(31));
  use({assignmentOf("leaves", other.port(), {host(31)}),
       assignmentOf("stays", server.port(), {host(30)})});
  for (int i = 0; i < 3; ++i) prober.start(monotonicNow() + kSecond);
  use({assignmentOf("stays", server.port(), {host(28), host(30)})});
  EXPECT_EQ(handle(50), 0) << "the other's socket is closed";
  prober.expire(monotonicNow() + 200 * kMillisecond);
  const auto pairs = results();
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].sent, 0U);
  EXPECT_EQ(pairs[1].sent, 1U) << "host 30 was target 0 and is target 1";
  EXPECT_EQ(pairs[1].lost, 1U);
}

TEST(Listener, RunningOutOfDescriptorsPausesIt) {
  // UBSan needs a descriptor to check the logger's objects, and there will be none.
  log::init("probe_test", log::Level::kError);
  Rounds rounds;
  std::uint16_t port = 0;
  { port = Server(host(40)).port(); }
  auto listener = Listener::open({host(40), port}, rounds.loop, 0);
  ASSERT_TRUE(listener) << listener.error().text();
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage storage{};
  const socklen_t size = host(40).toSockaddr(port, storage);
  ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(client.get()) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto accepted = listener->acceptReady(0);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(accepted, 0U);
  EXPECT_EQ(rounds.await(0), 0) << "the loop does not spin";
  EXPECT_EQ(listener->nextResume(), Listener::kPause);
  listener->resume(Listener::kPause);
  ASSERT_EQ(rounds.await(2000), 1);
  EXPECT_EQ(listener->acceptReady(0), 1U);
}

}  // namespace
}  // namespace pingloom::probe::tcp::prober_test
