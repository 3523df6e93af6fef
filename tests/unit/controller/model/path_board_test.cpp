#include "controller/model/path_board.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "controller/model/path_json.h"

namespace pingloom::controller::path_board_test {
namespace {

IpAddress host(std::uint32_t number) { return IpAddress::fromV4(0x0A010000 + number); }

// A trace at second `at`; router 0 did not answer.
TracedPath trace(Nanos at, std::initializer_list<std::uint32_t> routers,
                 PathEnd end = PathEnd::kReached, std::uint32_t destination = 2,
                 std::uint32_t path = 1) {
  TracedPath made;
  made.probe = "fabric";
  made.source = host(1);
  made.destination = host(destination);
  made.path = path;
  made.end = end;
  made.traced = at * kSecond;
  for (const std::uint32_t number : routers) {
    made.hops.push_back(
        {number == 0 ? IpAddress() : IpAddress::fromV4(0x0A020000 + number), 1000 * number});
  }
  return made;
}

TEST(PathBoard, KnowsThePathsOfAPairByNumber) {
  PathBoard board;
  for (const std::uint32_t path : {3U, 1U, 2U}) {
    EXPECT_FALSE(board.take(trace(10, {1, 2}, PathEnd::kReached, 2, path)).changed);
  }
  board.take(trace(10, {1, 3}, PathEnd::kReached, 3));
  const KnownPaths paths = board.ofPair("fabric", host(1), host(2));
  ASSERT_EQ(paths.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(paths[i]->path.path, i + 1);
  EXPECT_EQ(board.ofPair("fabric", host(1), host(3)).size(), 1U);
  EXPECT_TRUE(board.ofPair("other", host(1), host(2)).empty());
  EXPECT_TRUE(board.ofPair("fabric", host(2), host(1)).empty());
  EXPECT_EQ(board.all().size(), 4U);
}

TEST(PathBoard, TellsAChangeAndKeepsWhatWasBefore) {
  PathBoard board;
  board.take(trace(10, {1, 2, 3}));
  const std::uint64_t version = board.version();
  EXPECT_FALSE(board.take(trace(20, {1, 2, 3})).changed);
  EXPECT_EQ(board.version(), version);
  for (std::uint32_t i = 0; i < 12; ++i) {
    EXPECT_TRUE(board.take(trace(30 + i, {1, 4 + i, 3})).changed);
  }
  EXPECT_GT(board.version(), version);
  const auto known = board.all()[0];
  EXPECT_EQ(known->since_utc, 41 * kSecond);
  EXPECT_EQ(known->changes, 12U);
  ASSERT_EQ(known->before.size(), KnownPath::kMaxBefore);
  EXPECT_EQ(known->before[0].traced, 40 * kSecond);
}

TEST(PathBoard, ARouterThatDoesNotAnswerOnceIsNoChange) {
  PathBoard board;
  board.take(trace(10, {1, 2, 3}));
  EXPECT_FALSE(board.take(trace(20, {1, 0, 3})).changed);
  EXPECT_EQ(board.all()[0]->path.hops[1].router, IpAddress::fromV4(0x0A020002));
  EXPECT_EQ(board.all()[0]->path.traced, 20 * kSecond);
  EXPECT_TRUE(board.take(trace(30, {1, 0, 4})).changed);
}

TEST(PathBoard, KeepsTheWayOfAFlowThatStops) {
  PathBoard board;
  board.take(trace(10, {1, 2, 3}));
  const auto stopped = board.take(trace(20, {1}, PathEnd::kSilent));
  EXPECT_FALSE(stopped.changed);
  ASSERT_TRUE(stopped.known->broken);
  EXPECT_EQ(stopped.known->broken->hops.size(), 1U);
  EXPECT_EQ(stopped.known->path.hops.size(), 3U);
  EXPECT_FALSE(board.take(trace(30, {1, 2, 3})).known->broken);
  EXPECT_TRUE(board.take(trace(40, {1, 9}, PathEnd::kSilent)).changed) << "another way";
}

TEST(PathBoard, AnotherConnectionTakesItsOwnPath) {
  PathBoard board;
  const auto connection = [](TracedPath traced, std::uint16_t port) {
    traced.one_connection = true;
    traced.source_port = port;
    return traced;
  };
  board.take(connection(trace(10, {1, 2, 3}), 40'000));
  const auto other = board.take(connection(trace(20, {1}, PathEnd::kSilent), 40'001));
  EXPECT_FALSE(other.changed);
  EXPECT_FALSE(other.known->broken) << "nobody knows where it goes on";
  EXPECT_EQ(other.known->path.source_port, 40'001);
  EXPECT_EQ(other.known->changes, 0U);
  ASSERT_EQ(other.known->before.size(), 1U);
  EXPECT_EQ(other.known->before[0].source_port, 40'000);
  EXPECT_TRUE(board.take(connection(trace(30, {1, 4, 3}), 40'001)).changed) << "the same one moved";
}

TEST(PathBoard, NotesOtherConnectionsOnceAMinute) {
  PathBoard board;
  const auto take = [&](Nanos at, std::uint16_t port, std::uint32_t spine) {
    TracedPath traced = trace(at, {1, spine, 3});
    traced.one_connection = true;
    traced.source_port = port;
    board.take(std::move(traced));
    return board.version();
  };
  const std::uint64_t first = take(100, 1, 2);
  const std::uint64_t second = take(110, 2, 4);
  EXPECT_GT(second, first);
  EXPECT_EQ(take(120, 3, 2), second);
  EXPECT_GT(take(200, 4, 4), second);
}

TEST(PathBoard, IgnoresWhatIsToldAgain) {
  PathBoard board;
  board.take(trace(10, {1, 2, 3}));
  EXPECT_EQ(board.take(trace(10, {1, 2, 3})).known, nullptr);
  EXPECT_EQ(board.take(trace(5, {1, 4, 3})).known, nullptr);
  board.take(trace(20, {1}, PathEnd::kSilent));
  EXPECT_EQ(board.take(trace(15, {1, 2, 3})).known, nullptr);
}

TEST(PathBoard, ForgetsWhatIsNotTracedAnyMore) {
  PathBoard board;
  board.take(trace(10, {1, 2, 3}));
  board.take(trace(100, {1, 2, 3}, PathEnd::kReached, 3));
  board.forget(10 * kSecond + PathBoard::kForgetAfter);
  EXPECT_EQ(board.size(), 2U);
  board.forget(11 * kSecond + PathBoard::kForgetAfter);
  ASSERT_EQ(board.size(), 1U);
  EXPECT_EQ(board.all()[0]->path.destination, host(3));
}

TEST(PathJson, SaysHowMuchIsKnown) {
  PathBoard board;
  board.take(trace(10, {1, 0, 3}));
  board.take(trace(20, {1}, PathEnd::kSilent));
  const RouterNames names = [](const IpAddress& router) {
    return router == IpAddress::fromV4(0x0A020003) ? std::string("leaf1") : std::string();
  };
  EXPECT_EQ(pathJson(*board.all()[0], names, false),
            R"({"path":1,"state":"partial","end":"reached","traced":"1970-01-01T00:00:10Z",)"
            R"("hops":[{"router":"10.2.0.1","rtt_ns":1000},{"router":null},)"
            R"({"router":"10.2.0.3","name":"leaf1","rtt_ns":3000}],"rtt_ns":0,)"
            R"("since":"1970-01-01T00:00:10Z","changes":0,)"
            R"("broken":{"state":"partial","end":"silent","traced":"1970-01-01T00:00:20Z",)"
            R"("hops":[{"router":"10.2.0.1","rtt_ns":1000}]}})");
}

}  // namespace
}  // namespace pingloom::controller::path_board_test
