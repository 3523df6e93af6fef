// The store, the writer and the embedded server against a real redis-server on a Unix socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <map>
#include <sstream>

#include "controller/model/grid_plan.h"
#include "controller/model/state.h"
#include "controller/redis/embedded.h"
#include "controller/redis/writer.h"
#include "unit/controller/support.h"

namespace pingloom::controller::redis_test {
namespace {

using test::eventually;
using test::ip;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr Nanos kWindow = 10 * kSecond;

// What a person with redis-cli sees.
class Cli {
 public:
  explicit Cli(const std::string& socket) { context_.reset(redisConnectUnix(socket.c_str())); }
  bool connected() const { return context_ != nullptr && context_->err == 0; }
  std::vector<std::string> ask(const std::vector<std::string>& words) {
    std::vector<const char*> arguments;
    std::vector<std::size_t> lengths;
    for (const std::string& word : words) {
      arguments.push_back(word.data());
      lengths.push_back(word.size());
    }
    std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
        static_cast<redisReply*>(redisCommandArgv(context_.get(), static_cast<int>(words.size()),
                                                  arguments.data(), lengths.data())),
        freeReplyObject);
    std::vector<std::string> made;
    if (reply != nullptr) append(*reply, made);
    return made;
  }
  std::string one(const std::vector<std::string>& words) {
    const auto all = ask(words);
    return all.empty() ? "" : all.front();
  }

 private:
  static void append(const redisReply& reply, std::vector<std::string>& out) {
    if (reply.type == REDIS_REPLY_INTEGER) out.push_back(std::to_string(reply.integer));
    if (reply.str != nullptr) out.emplace_back(reply.str, reply.len);
    for (std::size_t i = 0; i < reply.elements; ++i) append(*reply.element[i], out);
  }
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, Free> context_;
};

class RedisTest : public testing::Test {
 protected:
  RedisTest() { startServer(); }

  void startServer() {
    auto started = EmbeddedRedis::start({.socket = socket(), .folder = folder_.path()});
    ASSERT_TRUE(started) << started.error().text();
    server_ = std::move(*started);
    ASSERT_TRUE(eventually([&] { return Cli(socket()).one({"PING"}) == "PONG"; }));
  }
  std::filesystem::path socket() const { return folder_ / "redis.sock"; }
  RedisTarget target() const { return {RedisTarget::Kind::kUnix, socket().native(), "", 0}; }
  std::unique_ptr<RedisWriter> startWriter() {
    auto writer = std::make_unique<RedisWriter>(target(), RedisLogin{}, board_);
    EXPECT_TRUE(eventually([&] { return board_.redis()->connected; }));
    return writer;
  }
  Cli cli() { return Cli(socket()); }

  void usePlan(const std::string& probes) {
    plan_ = makeGridPlan(test::pinglistOf(probes), plan_ == nullptr ? 1 : plan_->generation + 1);
    board_.publishPlan(plan_);
  }
  // Every pair of the source answered, in a window that has just ended.
  std::shared_ptr<SourceSnapshot> snapshot(std::uint32_t probe, std::uint32_t source,
                                           std::uint64_t p50 = 4'000, Nanos age = 0) {
    const ProbeGrid& shape = plan_->probes[probe];
    auto rows = std::make_shared<SourceRows>();
    rows->window = kWindow;
    rows->reported_utc = utcNow() - age;
    rows->window_start_utc = rows->reported_utc / kWindow * kWindow - kWindow;
    auto made = std::make_shared<SourceSnapshot>();
    made->states.resize(shape.destinations.size());
    rows->rows.resize(shape.destinations.size());
    for (std::size_t i = 0; i < shape.destinations.size(); ++i) {
      if (!isPair(shape, source, i)) continue;
      Row row;
      row.sent = row.received = 10;
      row.network = {10, p50, p50, p50, p50, p50, p50};
      rows->rows.set(i, row);
      made->states[i] = PairState::kOk;
    }
    made->rows = std::move(rows);
    return made;
  }

  TemporaryDirectory folder_;
  std::unique_ptr<EmbeddedRedis> server_;
  Board board_;
  std::shared_ptr<const GridPlan> plan_;
};

constexpr const char* kMesh = "  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-3]'] }\n";
constexpr const char* kLatest = "pingloom:latest:udp:10.0.0.1";

TEST_F(RedisTest, WritesRowsIndexExpiryAndEvents) {
  usePlan(kMesh);
  board_.publishSource(0, 0, snapshot(0, 0));
  const auto writer = startWriter();
  auto redis = cli();
  EXPECT_THAT(redis.ask({"SMEMBERS", "pingloom:probes"}), ElementsAre("udp"));
  EXPECT_THAT(redis.ask({"SMEMBERS", "pingloom:sources:udp"}),
              UnorderedElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
  EXPECT_THAT(redis.ask({"HKEYS", kLatest}), UnorderedElementsAre("10.0.0.2", "10.0.0.3"));
  EXPECT_THAT(redis.one({"HGET", kLatest, "10.0.0.3"}),
              testing::AllOf(HasSubstr("\"state\":\"ok\""), HasSubstr("\"p50\":4000")));
  const int left = std::stoi(redis.one({"PTTL", kLatest}));
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 30'001) << "three windows after the report";
  board_.publishSource(0, 0, snapshot(0, 0, 5'000));
  board_.publishSource(0, 2, snapshot(0, 2));
  board_.publishEvents(
      {{1'795'230'720 * kSecond, "udp", ip("10.0.0.1"), ip("10.0.0.2"), PairState::kOk,
        PairState::kAgentDown, 0, Severity::kSlow, Severity::kNone}});
  ASSERT_TRUE(eventually([&] { return redis.one({"XLEN", "pingloom:events"}) == "1"; }));
  EXPECT_THAT(redis.one({"HGET", kLatest, "10.0.0.2"}), HasSubstr("\"p50\":5000"));
  EXPECT_EQ(redis.one({"HLEN", "pingloom:latest:udp:10.0.0.3"}), "2");
  const auto event = redis.ask({"XRANGE", "pingloom:events", "-", "+"});
  EXPECT_THAT(std::vector<std::string>(event.begin() + 1, event.end()),
              ElementsAre("time", "2026-11-21T03:12:00Z", "probe", "udp", "source", "10.0.0.1",
                          "destination", "10.0.0.2", "from", "ok", "to", "agent-down",
                          "severity_from", "slow", "severity", "none"));
}

TEST_F(RedisTest, AChangeOfStateRewritesItsFieldAndDoesNotExtendTheExpiry) {
  usePlan(kMesh);
  auto first = snapshot(0, 0, 4'000, 20 * kSecond);
  board_.publishSource(0, 0, first);
  const auto writer = startWriter();
  auto redis = cli();
  EXPECT_LE(std::stoi(redis.one({"PTTL", kLatest})), 10'001) << "counted from the report";
  auto second = std::make_shared<SourceSnapshot>(*first);
  second->states[1] = PairState::kAgentDown;
  redis.ask({"HSET", kLatest, "10.0.0.3", "untouched"});
  board_.publishSource(0, 0, second);
  ASSERT_TRUE(eventually([&] {
    return redis.one({"HGET", kLatest, "10.0.0.2"}).find("agent-down") != std::string::npos;
  }));
  EXPECT_EQ(redis.one({"HGET", kLatest, "10.0.0.3"}), "untouched") << "only what changed";
  EXPECT_LE(std::stoi(redis.one({"PTTL", kLatest})), 10'001);
}

// docs/redis-keys.md says which comes first: that the hash expires, or that its rows are stale.
TEST(RedisExpiry, RowsAreStaleBeforeTheyLeaveExceptWithShortWindows) {
  for (const Nanos window : {kSecond, 1900 * kMillisecond, 2 * kSecond, 10 * kSecond}) {
    auto plan = makeGridPlan(
        test::pinglistOf("  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-2]'] }\n"), 1);
    const Nanos timeout = plan->probes[0].spec.timeout;
    auto rows = std::make_shared<SourceRows>();
    rows->window = window;
    rows->window_start_utc = 1'000 * kHour;
    const Nanos end = rows->window_start_utc + window;
    rows->reported_utc = end + timeout + kSecond + 50 * kMillisecond;  // as agents report
    rows->rows.resize(2);
    Row row;
    row.sent = row.received = 10;
    rows->rows.set(1, row);
    const auto snapshot =
        std::make_shared<SourceSnapshot>(SourceSnapshot{rows, {std::nullopt, PairState::kOk}});
    RedisKeys store;
    store.forget(plan);
    Commands commands;
    ASSERT_EQ(store.writeSource(0, 0, snapshot, rows->reported_utc, commands), 1U);
    std::istringstream words(commands.bytes().substr(commands.bytes().find("PEXPIRE")));
    std::string word;
    for (int i = 0; i < 4; ++i) words >> word;  // the command, $length, the key, $length
    Nanos left_ms = 0;
    words >> left_ms;
    const Nanos gone = rows->reported_utc + left_ms * kMillisecond;
    EXPECT_EQ(left_ms, 3 * window / kMillisecond + 1);
    EXPECT_EQ(gone > end + staleAfter(window, timeout), window >= 2 * kSecond) << window;
  }
}

TEST_F(RedisTest, WhatHasExpiredIsNotWrittenAgain) {
  usePlan(kMesh);
  auto old = snapshot(0, 0, 4'000, 40 * kSecond);
  board_.publishSource(0, 0, old);
  const auto writer = startWriter();
  auto stale = std::make_shared<SourceSnapshot>(*old);
  stale->states[1] = PairState::kStale;
  board_.publishSource(0, 0, stale);
  board_.publishSource(0, 1, snapshot(0, 1));
  auto redis = cli();
  ASSERT_TRUE(eventually([&] {
    return redis.one({"EXISTS", "pingloom:latest:udp:10.0.0.2"}) == "1";
  }));
  EXPECT_EQ(redis.one({"EXISTS", kLatest}), "0");
}

TEST_F(RedisTest, ARowThatIsGoneFromTheNewestWindowIsRemoved) {
  usePlan(kMesh);
  board_.publishSource(0, 0, snapshot(0, 0));
  const auto writer = startWriter();
  auto next = snapshot(0, 0);
  auto rows = std::make_shared<SourceRows>(*next->rows);
  rows->rows.set(1, Row{});
  next->rows = rows;
  next->states[1] = PairState::kPending;
  board_.publishSource(0, 0, next);
  auto redis = cli();
  EXPECT_TRUE(eventually([&] {
    return redis.ask({"HKEYS", kLatest}) == std::vector<std::string>{"10.0.0.3"};
  }));
}

constexpr const char* kRail = "pingloom:latest:rail:10.0.0.1";

TEST_F(RedisTest, EachPathHasAFieldBesideTheirMerge) {
  usePlan("  - { name: rail, protocol: rdma, mesh: ['10.0.0.[1-3]'], paths: 2 }\n");
  const auto with_paths = [&](std::uint32_t lost_on_second) {
    auto made = snapshot(0, 0);
    auto rows = std::make_shared<SourceRows>(*made->rows);
    auto second = std::make_shared<Rows>(rows->rows);
    Row row = (*second)[1];
    row.lost = lost_on_second;
    row.sent += lost_on_second;
    second->set(1, row);
    rows->paths = {std::make_shared<const Rows>(rows->rows), second};
    made->path_states = {made->states, made->states};
    if (lost_on_second > 0) made->path_states[1][1] = PairState::kLoss;
    made->rows = rows;
    return made;
  };
  board_.publishSource(0, 0, with_paths(0));
  const auto writer = startWriter();
  auto redis = cli();
  EXPECT_THAT(redis.ask({"HKEYS", kRail}),
              UnorderedElementsAre("10.0.0.2", "10.0.0.2#1", "10.0.0.2#2", "10.0.0.3", "10.0.0.3#1",
                                   "10.0.0.3#2"));
  EXPECT_THAT(redis.one({"HGET", kRail, "10.0.0.2#2"}), HasSubstr("\"path\":2}"));
  EXPECT_THAT(redis.one({"HGET", kRail, "10.0.0.2"}), testing::Not(HasSubstr("path")));
  board_.publishSource(0, 0, with_paths(4));
  ASSERT_TRUE(eventually([&] {
    return redis.one({"HGET", kRail, "10.0.0.2#2"}).find("\"lost\":4") != std::string::npos;
  }));
  EXPECT_THAT(redis.one({"HGET", kRail, "10.0.0.2#2"}), HasSubstr("\"state\":\"loss\""));
  EXPECT_THAT(redis.one({"HGET", kRail, "10.0.0.2#1"}), HasSubstr("\"state\":\"ok\""));

  auto merge_only = snapshot(0, 0, 7'000);  // the paths of this window are still to come
  auto rows = std::make_shared<SourceRows>(*merge_only->rows);
  rows->paths.resize(2);
  rows->rows.set(2, Row{});
  merge_only->states[2] = PairState::kPending;
  merge_only->path_states.resize(2);
  merge_only->rows = rows;
  board_.publishSource(0, 0, merge_only);
  ASSERT_TRUE(eventually([&] {
    return redis.one({"HGET", kRail, "10.0.0.2"}).find("7000") != std::string::npos;
  }));
  EXPECT_THAT(redis.ask({"HKEYS", kRail}),
              UnorderedElementsAre("10.0.0.2", "10.0.0.2#1", "10.0.0.2#2"))
      << "10.0.0.3 has gone from the window, with its paths";

  usePlan("  - { name: rail, protocol: rdma, mesh: ['10.0.0.[1-3]'] }\n");
  EXPECT_TRUE(eventually([&] {
    return redis.ask({"HKEYS", kRail}) == std::vector<std::string>{"10.0.0.2"};
  }));
}

TEST_F(RedisTest, WhatLeftThePlanIsRemovedAndNothingElse) {
  auto redis = cli();
  redis.ask({"SET", "pingloom:other", "mine"});
  redis.ask({"SET", "somebody", "else"});
  usePlan(
      "  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-3]'] }\n"
      "  - { name: gone, protocol: udp, mesh: ['10.0.0.[1-3]'] }\n");
  for (std::uint32_t i = 0; i < 3; ++i) {
    board_.publishSource(0, i, snapshot(0, i));
    board_.publishSource(1, i, snapshot(1, i));
  }
  const auto writer = startWriter();
  ASSERT_TRUE(eventually([&] { return redis.one({"DBSIZE"}) == "11"; }));
  usePlan("  - { name: udp, protocol: udp, mesh: ['10.0.0.1', '10.0.0.3', '10.0.0.9'] }\n");
  ASSERT_TRUE(eventually([&] {
    return redis.ask({"SMEMBERS", "pingloom:probes"}) == std::vector<std::string>{"udp"} &&
           redis.one({"SISMEMBER", "pingloom:sources:udp", "10.0.0.9"}) == "1";
  }));
  EXPECT_THAT(
      redis.ask({"KEYS", "*"}),
      UnorderedElementsAre("pingloom:other", "somebody", "pingloom:probes", "pingloom:sources:udp",
                           kLatest, "pingloom:latest:udp:10.0.0.3"));
  EXPECT_THAT(redis.ask({"SMEMBERS", "pingloom:sources:udp"}),
              UnorderedElementsAre("10.0.0.1", "10.0.0.3", "10.0.0.9"));
  EXPECT_THAT(redis.ask({"HKEYS", kLatest}), ElementsAre("10.0.0.3"));
}

TEST_F(RedisTest, WhatAnEarlierControllerLeftIsRemovedByTheIndexOnly) {
  auto redis = cli();
  redis.ask({"SADD", "pingloom:probes", "udp", "left"});
  redis.ask({"SADD", "pingloom:sources:left", "10.0.0.7"});
  redis.ask({"SADD", "pingloom:sources:udp", "10.0.0.1", "10.0.0.8"});
  redis.ask({"HSET", "pingloom:latest:left:10.0.0.7", "a", "b"});
  redis.ask({"HSET", "pingloom:latest:udp:10.0.0.8", "a", "b"});
  redis.ask({"HSET", kLatest, "10.0.0.99", "a destination that has left"});
  redis.ask({"HSET", "pingloom:latest:unindexed:1", "a", "b"});
  usePlan(kMesh);
  const auto writer = startWriter();
  EXPECT_THAT(redis.ask({"KEYS", "*"}),
              UnorderedElementsAre("pingloom:probes", "pingloom:sources:udp",
                                   "pingloom:latest:unindexed:1"));
  EXPECT_EQ(redis.one({"SCARD", "pingloom:sources:udp"}), "3");
}

TEST_F(RedisTest, AnOutageBlocksNothingAndAfterItTheLatestRowsAreWritten) {
  usePlan(kMesh);
  board_.publishSource(0, 0, snapshot(0, 0));
  board_.publishSource(0, 1, snapshot(0, 1));
  const auto writer = startWriter();
  server_.reset();
  ASSERT_TRUE(eventually([&] { return !board_.redis()->connected; }));
  EXPECT_FALSE(board_.redis()->last_error.empty());
  for (std::uint64_t i = 0; i < 1'000; ++i) board_.publishSource(0, 2, snapshot(0, 2, 6'000 + i));
  usePlan("  - { name: udp, protocol: udp, mesh: ['10.0.0.[2-4]'] }\n");
  for (std::uint32_t i = 0; i < 3; ++i) board_.publishSource(0, i, snapshot(0, i, 7'000 + i));
  startServer();
  ASSERT_TRUE(eventually([&] { return board_.redis()->connected; }));
  auto redis = cli();
  EXPECT_THAT(redis.one({"HGET", "pingloom:latest:udp:10.0.0.4", "10.0.0.3"}), HasSubstr(":7002"));
  EXPECT_THAT(redis.one({"HGET", "pingloom:latest:udp:10.0.0.2", "10.0.0.3"}), HasSubstr(":7000"));
  EXPECT_EQ(redis.one({"EXISTS", kLatest}), "0");
  EXPECT_EQ(board_.redis()->reconnects, 1U);
  EXPECT_TRUE(board_.redis()->last_error.empty());
}

TEST_F(RedisTest, AServerThatStandsStillIsAnOutage) {
  usePlan(kMesh);
  const auto writer = startWriter();
  kill(server_->pid(), SIGSTOP);
  board_.publishSource(0, 0, snapshot(0, 0));
  EXPECT_TRUE(eventually([&] { return !board_.redis()->connected; }));
  kill(server_->pid(), SIGCONT);
  EXPECT_TRUE(eventually([&] { return board_.redis()->connected; }));
  EXPECT_EQ(cli().one({"HLEN", kLatest}), "2");
}

// A test's second controller has a board of its own.
TEST_F(RedisTest, ControllersThatShareARedisWriteWhatIsTheirs) {
  constexpr const char* kOther = "pingloom:latest:udp:10.0.0.2";
  usePlan(kMesh);
  Board other;
  other.publishPlan(plan_);
  const auto publish = [&](Board& home, Board& follower, std::uint32_t source, std::uint64_t p50) {
    auto made = snapshot(0, source, p50);
    follower.publishSource(0, source, std::make_shared<SourceSnapshot>(*made));
    made->here = true;
    home.publishSource(0, source, made);
    StateEvent event{0, "udp", ip("10.0.0.1"), ip("10.0.0.3"), PairState::kPending, PairState::kOk};
    follower.publishEvents({event});
    event.here = true;
    home.publishEvents({event});
  };
  const auto trace = [](Board& home, Board& follower, const char* source) {
    TracedPath path;
    path.probe = "udp";
    path.source = ip(source);
    path.destination = ip("10.0.0.3");
    path.traced = utcNow();
    home.publishPath(TracedPath(path));
    follower.publishPath(std::move(path), true);
  };
  auto incident = std::make_shared<Incident>();
  incident->id = 7;
  incident->sentence = "slow";
  incident->updated_utc = utcNow();
  auto verdict = std::make_shared<Verdict>();
  verdict->open = {incident};

  auto redis = cli();
  redis.ask({"SADD", "pingloom:probes", "left"});
  std::atomic<bool> leads = false;
  const auto writer =
      std::make_unique<RedisWriter>(target(), RedisLogin{}, board_, [] { return false; });
  const auto second =
      std::make_unique<RedisWriter>(target(), RedisLogin{}, other, [&] { return leads.load(); });
  ASSERT_TRUE(eventually([&] { return board_.redis()->connected && other.redis()->connected; }));
  publish(board_, other, 0, 4'001);
  publish(other, board_, 1, 4'002);
  // Nobody has an agent for it, as for rows that come from the history.
  redis.ask({"HSET", "pingloom:latest:udp:10.0.0.3", "10.0.0.1", "another's"});
  for (Board* each : {&board_, &other}) {
    each->publishSource(0, 2, snapshot(0, 2));
    each->publishVerdict(verdict);
  }
  trace(board_, other, "10.0.0.1");
  ASSERT_TRUE(eventually([&] {
    return redis.one({"HLEN", kLatest}) == "2" && redis.one({"HLEN", kOther}) == "2" &&
           redis.one({"EXISTS", "pingloom:path:udp:10.0.0.1"}) == "1" &&
           redis.one({"XLEN", "pingloom:events"}) == "2";
  }));
  EXPECT_TRUE(eventually(
      [&] { return board_.redis()->rows_written == 2 && other.redis()->rows_written == 2; }));
  EXPECT_EQ(redis.one({"XLEN", "pingloom:events"}), "2") << "each change once";
  EXPECT_EQ(redis.one({"EXISTS", "pingloom:incidents:open"}), "0") << "nobody leads";
  EXPECT_EQ(redis.one({"SISMEMBER", "pingloom:probes", "left"}), "1");

  leads = true;
  ASSERT_TRUE(eventually([&] { return redis.one({"HLEN", "pingloom:incidents:open"}) == "1"; }));
  EXPECT_EQ(redis.one({"EXISTS", "pingloom:incident:7"}), "1");
  EXPECT_EQ(redis.one({"SISMEMBER", "pingloom:probes", "left"}), "0") << "leaders clean up";
  EXPECT_EQ(redis.one({"XLEN", "pingloom:events"}), "2") << "the leader before has told it";

  // An agent moves, and what the other controller has written of it goes.
  redis.ask({"HSET", kLatest, "10.0.0.99", "old"});
  publish(other, board_, 0, 5'001);
  ASSERT_TRUE(eventually([&] {
    return redis.one({"HGET", kLatest, "10.0.0.2"}).find("5001") != std::string::npos;
  }));
  EXPECT_EQ(redis.one({"HLEN", kLatest}), "2");
  EXPECT_EQ(redis.one({"HGET", "pingloom:latest:udp:10.0.0.3", "10.0.0.1"}), "another's");

  // A connection that is lost makes neither touch what is the other's.
  redis.ask({"HSET", kLatest, "10.0.0.99", "untouched"});
  redis.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  publish(board_, other, 1, 5'002);
  ASSERT_TRUE(eventually([&] {
    return board_.redis()->reconnects == 1 && board_.redis()->connected &&
           redis.one({"HGET", kOther, "10.0.0.1"}).find("5002") != std::string::npos;
  }));
  ASSERT_TRUE(eventually([&] {
    return redis.one({"HLEN", kLatest}) == "2";
  })) << "its own controller has replaced the key";
}

TEST_F(RedisTest, LogsInWithUserAndPasswordFile) {
  auto admin = cli();
  admin.ask({"ACL", "SETUSER", "pingloom", "on", ">secret", "~pingloom:*", "+@all", "-@dangerous"});
  admin.ask({"ACL", "SETUSER", "default", "-@all", "+ping"});
  const auto password = folder_ / "password";
  std::ofstream(password) << "secret\n";
  usePlan(kMesh);
  board_.publishSource(0, 0, snapshot(0, 0));
  {
    const RedisWriter writer(target(), RedisLogin{"pingloom", password}, board_);
    EXPECT_TRUE(eventually([&] { return board_.redis()->connected; }))
        << board_.redis()->last_error;
    EXPECT_EQ(board_.redis()->rows_written, 2U);
  }
  std::ofstream(password) << "wrong\n";
  const auto refused = RedisConnection::connect(target(), {"pingloom", password});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("WRONGPASS"));
  EXPECT_FALSE(RedisConnection::connect(target(), {"pingloom", folder_ / "missing"}));
}

TEST_F(RedisTest, SomebodyElsesKeyIsLeftAlone) {
  auto redis = cli();
  redis.ask({"SET", "pingloom:events", "a string"});
  usePlan(kMesh);
  const auto writer = startWriter();
  board_.publishEvents(
      {{0, "udp", ip("10.0.0.1"), ip("10.0.0.2"), PairState::kOk, PairState::kLoss}});
  board_.publishSource(0, 0, snapshot(0, 0));
  ASSERT_TRUE(eventually([&] { return redis.one({"HLEN", kLatest}) == "2"; }));
  EXPECT_EQ(redis.one({"GET", "pingloom:events"}), "a string");
  EXPECT_TRUE(board_.redis()->connected);
}

TEST_F(RedisTest, AnEmbeddedServerThatDiesIsStartedAgain) {
  const pid_t first = server_->pid();
  kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    server_->run(monotonicNow());
    return server_->pid() > 0 && server_->pid() != first;
  }));
  EXPECT_TRUE(eventually([&] { return Cli(socket()).one({"PING"}) == "PONG"; }));
  EXPECT_EQ(std::filesystem::status(socket()).permissions(), std::filesystem::perms::owner_all);
  const pid_t second = server_->pid();
  server_.reset();
  EXPECT_NE(kill(second, 0), 0) << "it ends with its owner";
}

TEST_F(RedisTest, AnEmbeddedServerEndsWhenItsOwnerIsKilled) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    auto server =
        EmbeddedRedis::start({.socket = folder_ / "other.sock", .folder = folder_.path()});
    const pid_t pid = server ? (*server)->pid() : -1;
    (void)!::write(ends[1], &pid, sizeof pid);
    pause();
  }
  pid_t orphan = -1;
  ASSERT_EQ(::read(ends[0], &orphan, sizeof orphan), ssize_t{sizeof orphan});
  ASSERT_GT(orphan, 0);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !Cli(folder_ / "other.sock").connected(); }));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(RedisEmbedded, SaysWhatToInstall) {
  const TemporaryDirectory folder;
  const auto started = EmbeddedRedis::start({.program = "redis-server-that-is-not-there",
                                             .socket = folder / "redis.sock",
                                             .folder = folder.path()});
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().text(), HasSubstr("install redis-server"));
}

}  // namespace
}  // namespace pingloom::controller::redis_test
