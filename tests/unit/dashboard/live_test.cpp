#include "controller/http/live.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "../http/raw_client.h"
#include "controller/http/dashboard.h"
#include "controller/http/live_frames.h"
#include "small_board.h"

namespace pingloom::controller {
namespace {

using Json = nlohmann::json;

template <typename T>
T at(const std::string& frame, std::size_t offset) {
  T value;
  std::memcpy(&value, frame.data() + offset, sizeof value);
  return value;
}

// Offsets as docs/http-api.md has them, written out.
TEST(LiveFrames, ARow) {
  SmallBoard small;
  small.publishPlan();
  small.publishFirstSource();
  const auto plan = small.board.plan();
  const std::string frame = liveRow(*plan, 0, 0, small.board.source(0, 0, 1).get());
  ASSERT_EQ(frame.size(), 24 + 3 * 17U);
  EXPECT_EQ(frame[0], 1);                             // version
  EXPECT_EQ(frame[1], 1);                             // a row
  EXPECT_EQ(at<std::uint16_t>(frame, 2), 0);          // probe
  EXPECT_EQ(at<std::uint32_t>(frame, 4), 1U);         // generation
  EXPECT_EQ(at<std::uint32_t>(frame, 8), 0U);         // source
  EXPECT_EQ(at<std::uint32_t>(frame, 12), 3U);        // count
  EXPECT_EQ(at<double>(frame, 16), 1795230730000.0);  // end of the window, ms
  EXPECT_TRUE(std::isnan(at<float>(frame, 24)));      // network p50 of itself
  EXPECT_EQ(at<float>(frame, 28), 5000.0F);
  EXPECT_EQ(at<float>(frame, 32), 7000.0F);
  EXPECT_EQ(at<float>(frame, 40), 5009.0F);     // network p99
  EXPECT_EQ(at<float>(frame, 52), 3.0F);        // rtt p50
  EXPECT_EQ(at<float>(frame, 68), 0.3F);        // loss
  EXPECT_EQ(at<std::uint8_t>(frame, 72), 255);  // not a pair
  EXPECT_EQ(at<std::uint8_t>(frame, 73), 0);    // ok
  EXPECT_EQ(at<std::uint8_t>(frame, 74), 1);    // loss
}

TEST(LiveFrames, ASourceWithoutASnapshotIsPending) {
  SmallBoard small;
  small.publishPlan();
  const std::string frame = liveRow(*small.board.plan(), 1, 1, nullptr);
  ASSERT_EQ(frame.size(), 24 + 2 * 17U);
  EXPECT_TRUE(std::isnan(at<double>(frame, 16)));
  EXPECT_EQ(at<std::uint8_t>(frame, 24 + 2 * 16), 5);
  EXPECT_EQ(at<std::uint8_t>(frame, 24 + 2 * 16 + 1), 255);  // the other address family
}

TEST(LiveFrames, ThePlan) {
  SmallBoard small;
  small.publishPlan();
  const Json json = Json::parse(livePlan(*small.board.plan()));
  EXPECT_EQ(json["type"], "plan");
  EXPECT_EQ(json["generation"], 1);
  EXPECT_EQ(json["states"][4], "agent-down");
  EXPECT_EQ(json["names"], Json({{"10.0.0.1", "gpu \"one\""}}));
  EXPECT_EQ(json["probes"][1]["name"], "storage");
  EXPECT_EQ(json["probes"][1]["destinations"], Json({"10.0.9.1", "fd00::9"}));
  EXPECT_EQ(json["probes"][2]["paths"], 2);
}

struct LiveTest : testing::Test {
  LiveTest() {
    small.publishPlan();
    small.publishReady();
    DashboardOptions options;
    options.listen = *SocketAddress::parse("127.0.0.1:0");
    auto started = Dashboard::start(options, small.board);
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
      if (json["generation"] != 0) return json;
    }
  }

  SmallBoard small;
  std::unique_ptr<Dashboard> dashboard;
};

constexpr int kSources = 3 + 2 + 3;

TEST_F(LiveTest, PlanThenEverySourceThenChanges) {
  http::RawClient client(dashboard->address());
  EXPECT_EQ(openUntilPlan(client)["probes"].size(), 3U);
  std::set<std::pair<int, int>> seen;
  for (int i = 0; i < kSources; ++i) {
    const auto frame = client.frame();
    ASSERT_EQ(frame.opcode, 2);
    seen.insert({at<std::uint16_t>(frame.payload, 2), at<std::uint32_t>(frame.payload, 8)});
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kSources));

  small.publishFirstSource();
  const auto changed = client.frame();
  EXPECT_EQ(at<std::uint16_t>(changed.payload, 2), 0);
  EXPECT_EQ(at<std::uint32_t>(changed.payload, 8), 0U);
  EXPECT_EQ(at<float>(changed.payload, 28), 5000.0F);
}

TEST_F(LiveTest, ANewPlanStartsAnew) {
  http::RawClient client(dashboard->address());
  openUntilPlan(client);
  for (int i = 0; i < kSources; ++i) client.frame();
  small.rack.sources.pop_back();
  small.publishPlan();
  EXPECT_EQ(planFrame(client)["generation"], 2);
  for (int i = 0; i < kSources - 1; ++i) {
    EXPECT_EQ(at<std::uint32_t>(client.frame().payload, 4), 2U);
  }
}

TEST_F(LiveTest, AChangeIsToldOnceHoweverOftenItHappened) {
  http::RawClient client(dashboard->address());
  openUntilPlan(client);
  for (int i = 0; i < kSources; ++i) client.frame();
  for (std::uint64_t network = 1000; network <= 1200; ++network) {
    small.publishSource(0, 1, {SmallBoard::measured(network), Row(), SmallBoard::measured(1)},
                        {PairState::kOk, std::nullopt, PairState::kOk});
  }
  int frames = 0;
  float last = 0;
  while (last != 1200.0F) {
    const auto frame = client.frame();
    ASSERT_EQ(frame.opcode, 2);
    last = at<float>(frame.payload, 24);
    ++frames;
  }
  EXPECT_LT(frames, 100);
}

TEST_F(LiveTest, AViewerThatTalksIsClosed) {
  http::RawClient client(dashboard->address());
  openUntilPlan(client);
  for (int i = 0; i < kSources; ++i) client.frame();
  client.sendText("hello");
  EXPECT_EQ(client.frame().opcode, 8);
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
}  // namespace pingloom::controller
