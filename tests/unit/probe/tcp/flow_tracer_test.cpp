// Tests the tracer with real sockets on loopback, where the first SYN reaches the destination.
#include "probe/tcp/flow_tracer.h"

#include <gtest/gtest.h>

#include <optional>

#include "probe/path_queue.h"
#include "probe/stall_watch.h"
#include "unit/probe/tcp/loop_fixture.h"

namespace pingloom::probe::tcp::flow_tracer_test {
namespace {

using fixture::host;

class TcpFlowTracerTest : public testing::Test {
 protected:
  TcpFlowTracerTest() { context.paths = &paths; }

  void use(std::uint16_t port, const plan::AddressList& targets) {
    prober.setWork({{fixture::assignmentOf("mesh", port, targets)}, nullptr}, monotonicNow());
    tracer.workChanged();
  }
  // The next path that is traced, or nothing after ten seconds.
  std::optional<TracedPath> next() {
    const Nanos until = monotonicNow() + 10 * kSecond;
    while (monotonicNow() < until) {
      tracer.elapse(monotonicNow());
      rounds.wait(20, [&](std::uint64_t key) { tracer.onReady(key, monotonicNow()); });
      auto found = paths.takeAll();
      if (!found.empty()) return std::move(found[0]);
    }
    return std::nullopt;
  }
  // A port of host(200) that nobody uses.
  static std::uint16_t freePort() { return fixture::Server(host(200)).port(); }

  fixture::Rounds rounds;
  WindowClock clock{0};
  WindowQueue queue;
  PathQueue paths;
  AgentContext context{{}, 0, 0, 0, &clock, &queue};
  StallWatch stalls;
  Prober prober{context, rounds.loop, stalls, 4};
  FlowTracer tracer{context, rounds.loop, prober};
};

TEST_F(TcpFlowTracerTest, TracesAnUnansweredConnectFromItsPort) {
  const fixture::Server server(host(1));
  use(server.port(), {host(1)});
  const auto first = next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->end, PathEnd::kReached);
  EXPECT_NE(first->source_port, 0);
  const std::uint16_t port = freePort();
  tracer.silent(0, 0, port, monotonicNow());
  const auto second = next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->source_port, port);
  EXPECT_EQ(second->end, PathEnd::kReached);
  EXPECT_TRUE(second->one_connection);
}

TEST_F(TcpFlowTracerTest, TakesAnotherPortIfAProgramHasIt) {
  const fixture::Server server(host(1));
  use(server.port(), {host(1)});
  ASSERT_TRUE(next());
  const fixture::Server other(host(200));  // it listens there
  tracer.silent(0, 0, other.port(), monotonicNow());
  const auto traced = next();
  ASSERT_TRUE(traced);
  EXPECT_NE(traced->source_port, other.port());
  EXPECT_EQ(traced->end, PathEnd::kReached);
}

TEST_F(TcpFlowTracerTest, ATraceInProgressKeepsItsPort) {
  fixture::Server server(host(1), 0);
  server.block();
  use(server.port(), {host(1)});
  tracer.elapse(monotonicNow());  // this SYN gets no answer
  tracer.silent(0, 0, freePort(), monotonicNow());
  server.unblock();
  const auto traced = next();  // by the second SYN
  ASSERT_TRUE(traced);
  EXPECT_EQ(traced->end, PathEnd::kReached);
  EXPECT_NE(traced->source_port, 0);
  rounds.wait(100, [&](std::uint64_t) { ADD_FAILURE() << "nothing else is traced"; });
  tracer.elapse(monotonicNow());
  EXPECT_TRUE(paths.takeAll().empty());
}

TEST_F(TcpFlowTracerTest, FollowsAPlanChange) {
  const fixture::Server server(host(1));
  use(server.port(), {host(2)});
  tracer.elapse(monotonicNow());
  use(server.port(), {host(1)});
  const auto traced = next();
  ASSERT_TRUE(traced);
  EXPECT_EQ(traced->destination, host(1));
}

}  // namespace
}  // namespace pingloom::probe::tcp::flow_tracer_test
