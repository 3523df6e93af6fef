#include "controller/http/live.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "controller/http/dashboard.h"
#include "controller/http/live_frames.h"
#include "unit/controller/http/small_board.h"
#include "unit/http/raw_client.h"

namespace pingloom::controller::live_test {
namespace {

using Json = nlohmann::json;

template <typename T>
T at(const std::string& frame, std::size_t offset) {
  T value;
  std::memcpy(&value, frame.data() + offset, sizeof value);
  return value;
}

Metric metric(const char* name) { return *Metric::parse(name); }

// Offsets as docs/http-api.md has them, written out.
TEST(LiveFrames, ARow) {
  SmallBoard small;
  small.publishPlan();
  small.publishFirstSource();
  const auto plan = small.board.plan();
  const auto snapshot = small.board.source(0, 0, 1);
  std::string frame = liveRows({1, 7, 9});
  appendLiveRow(frame, 0, 0, snapshot.get(),
                liveCells(plan->probes[0], metric("network_p50"), 0, snapshot.get()));
  ASSERT_EQ(frame.size(), 32 + 3 * 2U);
  EXPECT_EQ(frame[0], 5);                             // version
  EXPECT_EQ(frame[1], 1);                             // a row
  EXPECT_EQ(at<std::uint32_t>(frame, 4), 1U);         // generation
  EXPECT_EQ(at<std::uint32_t>(frame, 8), 7U);         // watch
  EXPECT_EQ(at<std::uint32_t>(frame, 12), 9U);        // sequence
  EXPECT_EQ(at<double>(frame, 16), 1795230730000.0);  // end of the window, ms
  EXPECT_EQ(at<std::uint32_t>(frame, 24), 0U);        // source
  EXPECT_EQ(at<std::uint16_t>(frame, 28), 0);         // probe
  EXPECT_EQ(at<std::uint8_t>(frame, 32), 255);        // not a pair
  EXPECT_EQ(at<std::uint8_t>(frame, 33), 0);          // ok
  EXPECT_EQ(at<std::uint8_t>(frame, 34), 1);          // loss
  EXPECT_EQ(at<std::uint8_t>(frame, 35), 0);          // not measured
  EXPECT_EQ(at<std::uint8_t>(frame, 36), 55);         // 5 us
  EXPECT_EQ(at<std::uint8_t>(frame, 37), 60);         // 7 us
}

std::uint8_t codeOf(const char* figure, const Row& row) {
  return liveValue(metric(figure), RowPacker().pack(row));
}

TEST(LiveFrames, Values) {
  Row row = SmallBoard::measured(5000);
  EXPECT_EQ(liveValue(metric("network_p50"), PackedRow()), 0);
  EXPECT_EQ(codeOf("network_p50", row), 55);
  EXPECT_EQ(codeOf("jitter", row), 0);
  EXPECT_EQ(codeOf("loss", row), 1);
  row.network.p50 = 3;  // below the scale
  EXPECT_EQ(codeOf("network_p50", row), 1);
  row.network.p50 = 100 * kSecond;  // beyond it
  EXPECT_EQ(codeOf("network_p50", row), 255);
  row.sent = 1'000'000;
  row.lost = 1;
  EXPECT_EQ(codeOf("loss", row), 2);  // little, but not none
  row.lost = row.sent;
  EXPECT_EQ(codeOf("loss", row), 255);
}

// As docs/http-api.md has it: 100 ns * 10^(8 (c - 1) / 254), and half a step to either side.
TEST(LiveFrames, EveryCodeIsTheNearestToItsTime) {
  for (int code = 2; code < 255; ++code) {
    for (const double off : {-0.49, 0.0, 0.49}) {
      Row row = SmallBoard::measured(0);
      row.network.p50 =
          static_cast<std::uint64_t>(std::lround(100 * std::pow(10, 8 * (code - 1 + off) / 254)));
      if (row.network.p50 < 1000) continue;  // whole nanoseconds are too coarse there
      EXPECT_EQ(codeOf("network_p50", row), code) << row.network.p50;
    }
  }
}

// As docs/http-api.md has it: 10^(4 (c - 2) / 253 - 4), and half a step to either side.
TEST(LiveFrames, EveryCodeIsTheNearestToItsRatio) {
  Row row = SmallBoard::measured(0);
  row.sent = 1'000'000'000;
  for (int code = 3; code < 255; ++code) {
    for (const double off : {-0.49, 0.0, 0.49}) {
      row.lost = static_cast<std::uint32_t>(
          std::lround(row.sent * std::pow(10, 4 * (code - 2 + off) / 253 - 4)));
      EXPECT_EQ(codeOf("loss", row), code) << row.lost;
    }
  }
}

TEST(LiveRows, AreMadeAnewForAnotherSnapshotAndMetric) {
  SmallBoard small;
  small.publishPlan();
  small.publishFirstSource();
  const auto plan = small.board.plan();
  LiveRows rows;
  const auto cells = [&](const char* name) {
    const auto snapshot = small.board.source(0, 0, 1);
    const std::string& kept = rows.cells(*plan, metric(name), 0, 0, snapshot);
    EXPECT_EQ(kept, liveCells(plan->probes[0], metric(name), 0, snapshot.get()));
    return kept;
  };
  const std::string first = cells("network_p50");
  EXPECT_EQ(cells("network_p50"), first);
  EXPECT_NE(cells("loss"), first);
  small.publishSource(0, 0, {Row(), SmallBoard::measured(9000), SmallBoard::measured(9000)},
                      {std::nullopt, PairState::kOk, PairState::kOk});
  EXPECT_NE(cells("network_p50"), first);
}

TEST(LiveFrames, ASourceWithoutASnapshotIsPending) {
  SmallBoard small;
  small.publishPlan();
  std::string frame = liveRows({});
  appendLiveRow(frame, 1, 1, nullptr,
                liveCells(small.board.plan()->probes[1], metric("loss"), 1, nullptr));
  ASSERT_EQ(frame.size(), 32 + 2 * 2U);
  EXPECT_TRUE(std::isnan(at<double>(frame, 16)));
  EXPECT_EQ(at<std::uint8_t>(frame, 32), 5);
  EXPECT_EQ(at<std::uint8_t>(frame, 33), 255);  // the other address family
}

TEST(LiveFrames, ThePlan) {
  SmallBoard small;
  small.publishPlan();
  const Json json = Json::parse(livePlan(*small.board.plan(), 1ULL << 63));
  EXPECT_EQ(json["type"], "plan");
  EXPECT_EQ(json["epoch"], "9223372036854775808");
  EXPECT_EQ(json["generation"], 1);
  EXPECT_EQ(json["states"][4], "agent-down");
  EXPECT_EQ(json["names"], Json({{"10.0.0.1", "gpu \"one\""}}));
  EXPECT_EQ(json["probes"][1]["name"], "storage");
  EXPECT_EQ(json["probes"][1]["destinations"], Json({"10.0.9.1", "fd00::9"}));
  EXPECT_EQ(json["probes"][2]["paths"], 2);
  EXPECT_EQ(json["probes"][0]["thresholds"]["loss"], Json({{"warn", "1%"}, {"crit", nullptr}}));
  EXPECT_EQ(json["probes"][1]["thresholds"]["anomalous"], Json({{"warn", "20%"}, {"crit", "50%"}}));
}

TEST(LiveFrames, ThePlanHasTheLabelsOfHosts) {
  auto pinglist = std::make_shared<pinglist::Pinglist>();
  const auto ip = [](const char* text) { return SmallBoard::ip(text); };
  pinglist->hosts = {
      {"a", {{"rail0", ip("10.0.0.1")}, {"rail1", ip("10.1.0.1")}}, {{"rack", "r\"1"}}},
      {"b", {{"", ip("10.0.0.2")}}, {{"rail", "own"}}}};
  GridPlan plan;
  plan.pinglist = pinglist;
  const Json labels = Json::parse(livePlan(plan, 1))["labels"];
  EXPECT_EQ(labels["rack"], Json({{"10.0.0.1", "r\"1"}, {"10.1.0.1", "r\"1"}}));
  EXPECT_EQ(labels["rail"],
            Json({{"10.0.0.1", "rail0"}, {"10.0.0.2", "own"}, {"10.1.0.1", "rail1"}}));
}

struct LiveTest : testing::Test {
  LiveTest() {
    small.publishPlan();
    small.publishReady();
    DashboardOptions options;
    options.listen = *SocketAddress::parse("127.0.0.1:0");
    auto started = Dashboard::start(options, small.board, bursts, orders);
    EXPECT_TRUE(started) << started.error().text();
    dashboard = std::move(*started);
  }
  // Skips the empty plan of the moment before the dashboard has read the board.
  Json openUntilPlan(http::RawClient& client) {
    EXPECT_EQ(client.openWebSocket("/api/v1/live").status, 101U);
    return planFrame(client);
  }
  static Json planFrame(http::RawClient& client) {
    for (;;) {
      const auto frame = client.frame();
      if (frame.opcode != 1) return {};
      Json json = Json::parse(frame.payload);
      if (json["type"] == "plan" && json["generation"] != 0) return json;
    }
  }

  SmallBoard small;
  BurstBoard bursts;
  OrderBoard orders;
  std::unique_ptr<Dashboard> dashboard;
};

constexpr int kRow = 1;
constexpr int kSync = 2;

int type(const http::RawFrame& frame) { return at<std::uint8_t>(frame.payload, 1); }

// The sources of "rack" that come until the viewer is in sync, and the sequence it is in sync with.
std::pair<std::multiset<std::uint32_t>, std::uint32_t> untilSync(http::RawClient& client) {
  std::multiset<std::uint32_t> sources;
  for (;;) {
    const auto frame = client.frame();
    if (frame.opcode == 1) continue;  // the verdict
    if (frame.opcode != 2) return {sources, 0};
    if (type(frame) == kSync) return {sources, at<std::uint32_t>(frame.payload, 12)};
    constexpr std::size_t kRowBytes = 16 + 2 * 3;  // of "rack"
    EXPECT_EQ((frame.payload.size() - 16) % kRowBytes, 0U);
    for (std::size_t row = 16; row + kRowBytes <= frame.payload.size(); row += kRowBytes) {
      sources.insert(at<std::uint32_t>(frame.payload, row + 8));
    }
  }
}

TEST_F(LiveTest, EverySourceOfWhatIsWatchedThenChanges) {
  http::RawClient client(dashboard->address());
  EXPECT_EQ(openUntilPlan(client)["probes"].size(), 3U);
  client.sendText("watch rack network_p50");
  EXPECT_EQ(untilSync(client).first, (std::multiset<std::uint32_t>{0, 1, 2}));
  small.publishSource(1, 0, {Row(), Row()}, {PairState::kOk, std::nullopt});  // nobody watches that
  small.publishFirstSource();
  EXPECT_EQ(untilSync(client).first, std::multiset<std::uint32_t>{0});
  client.sendText("watch storage loss");
  const auto frame = client.frame();
  EXPECT_EQ(type(frame), kRow);
  EXPECT_EQ(at<std::uint32_t>(frame.payload, 8), 2U);   // the second watch
  EXPECT_EQ(at<std::uint16_t>(frame.payload, 28), 1U);  // probe
}

TEST_F(LiveTest, WhoWasAwayGetsWhatChanged) {
  std::string epoch;
  std::uint32_t sequence = 0;
  {
    http::RawClient client(dashboard->address());
    epoch = openUntilPlan(client)["epoch"];
    client.sendText("watch rack network_p50");
    sequence = untilSync(client).second;
    small.publishFirstSource();
    EXPECT_GT(untilSync(client).second, sequence);
  }
  http::RawClient again(dashboard->address());
  openUntilPlan(again);
  again.sendText("watch rack network_p50 " + epoch + " 1 " + std::to_string(sequence));
  EXPECT_EQ(untilSync(again).first, std::multiset<std::uint32_t>{0});
  again.sendText("watch rack network_p50 " + epoch + "0 1 " + std::to_string(sequence));
  EXPECT_EQ(untilSync(again).first.size(), 3U);  // another controller's numbers mean nothing
  again.sendText("watch rack network_p50 " + epoch + " 1 4000000000");
  EXPECT_EQ(untilSync(again).first.size(), 3U);
}

TEST_F(LiveTest, ANewPlanStartsAnew) {
  http::RawClient client(dashboard->address());
  openUntilPlan(client);
  client.sendText("watch rack network_p50");
  untilSync(client);
  small.rack.sources.pop_back();
  small.publishPlan();
  EXPECT_EQ(planFrame(client)["generation"], 2);
  EXPECT_EQ(untilSync(client).first, (std::multiset<std::uint32_t>{0, 1}));
}

TEST_F(LiveTest, AChangeIsToldOnceHoweverOftenItHappened) {
  http::RawClient client(dashboard->address());
  openUntilPlan(client);
  client.sendText("watch rack network_p50");
  untilSync(client);
  for (std::uint64_t network = 1000; network <= 1200; ++network) {
    small.publishSource(0, 1, {SmallBoard::measured(network), Row(), SmallBoard::measured(1)},
                        {PairState::kOk, std::nullopt, PairState::kOk});
  }
  small.publishSource(0, 1, {SmallBoard::measured(9'000'000), Row(), Row()},
                      {PairState::kOk, std::nullopt, PairState::kOk});
  const Row last = SmallBoard::measured(9'000'000);
  int frames = 0;
  for (;; ++frames) {
    const auto frame = client.frame();
    ASSERT_EQ(frame.opcode, 2);
    if (type(frame) == kRow && at<std::uint8_t>(frame.payload, 35) == codeOf("network_p50", last)) {
      break;
    }
  }
  EXPECT_LT(frames, 100);
}

TEST_F(LiveTest, AViewerThatTalksNonsenseIsClosed) {
  for (const std::string& nonsense :
       {std::string("hello"), std::string(), std::string("watch rack"),
        std::string("watch rack speed"), std::string("watch rack loss 1"),
        std::string("watch rack loss 1 2 3 4"), std::string("watch rack loss 1 -2 x"),
        "watch " + std::string(300, 'r') + " loss"}) {
    http::RawClient client(dashboard->address());
    openUntilPlan(client);
    client.sendText(nonsense);
    auto frame = client.frame();
    while (frame.opcode == 1) frame = client.frame();  // the verdict may be under way
    EXPECT_EQ(frame.opcode, 8) << nonsense;
  }
}

// As the dashboard has it, but for the time that a viewer is given.
TEST(Live, AViewerThatWatchesNothingIsClosedWhereThereIsAPlan) {
  SmallBoard small;
  const auto live = std::make_shared<Live>(small.board);
  http::ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  options.limits.idle_timeout = 200 * kMillisecond;
  const auto server = http::Server::start(
      options, [](const http::Request&) { return http::Response{}; }, {{"/live", live}});
  ASSERT_TRUE(server) << server.error().text();
  live->start(small.board, (*server)->tasks());
  http::RawClient silent((*server)->address());
  http::RawClient watching((*server)->address());
  for (auto* client : {&silent, &watching}) {
    ASSERT_EQ(client->openWebSocket("/live").status, 101U);
  }
  const auto& unused = options.counters->refused[static_cast<std::size_t>(http::Refusal::kUnused)];
  const auto pongs = [&](int count, std::uint64_t until) {
    for (int i = 0; i < count && unused != until; ++i) {
      for (auto* client : {&silent, &watching}) client->sendPong();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  watching.sendText("watch rack loss");
  pongs(30, 1);
  EXPECT_EQ(unused, 0U) << "there is nothing to watch yet";
  small.publishPlan();
  pongs(100, 1);
  EXPECT_EQ(unused, 1U);
  pongs(30, 2);
  EXPECT_EQ(unused, 1U) << "the other one said what it watches";
}

TEST_F(LiveTest, AProbeThatIsNotThereYetIsWaitedFor) {
  http::RawClient client(dashboard->address());
  openUntilPlan(client);
  client.sendText("watch rail9 loss");
  small.rack.spec.name = "rail9";
  small.publishPlan();
  EXPECT_EQ(planFrame(client)["generation"], 2);
  EXPECT_EQ(untilSync(client).first.size(), 3U);
}

TEST_F(LiveTest, TheDashboardRoutes) {
  const std::vector<std::pair<std::string, unsigned>> table = {
      {"/api/v1/status", 200},
      {"/api/v1/hosts", 200},
      {"/api/v1/probes", 200},
      {"/api/v1/grid?probe=rack&metric=loss", 200},
      {"/api/v1/pairs/rack/10.0.0.1/10.0.0.2", 200},
      {"/metrics", 200},
      {"/healthz", 200},
      {"/-/healthy", 200},
      {"/readyz", 200},
      {"/-/ready", 200},
      {"/api/v1/live", 426},
      {"/api/v1/nothing", 404},
      {"/", 404},  // this dashboard was given no files
  };
  http::RawClient client(dashboard->address());
  for (const auto& [target, status] : table) EXPECT_EQ(client.get(target).status, status) << target;
  client.send("DELETE /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto refused = client.response();
  EXPECT_EQ(refused.status, 405U);
  EXPECT_THAT(refused.header, testing::HasSubstr("Allow: GET, HEAD"));
}

TEST_F(LiveTest, TheBoardOutlivesTheDashboardAndItsViewers) {
  http::RawClient client(dashboard->address());
  openUntilPlan(client);
  dashboard.reset();
  small.publishFirstSource();
  small.publishPlan();
}

}  // namespace
}  // namespace pingloom::controller::live_test
