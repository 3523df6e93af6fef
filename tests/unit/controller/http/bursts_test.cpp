// Bursts over HTTP without a control thread: the test answers the orders itself.
#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "controller/http/api.h"
#include "controller/http/burst_request.h"
#include "controller/http/dashboard.h"
#include "unit/controller/http/small_board.h"
#include "unit/http/raw_client.h"

namespace pingloom::controller::bursts_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

Json fullRequest() {
  return {{"probe", "fabric"}, {"source", "10.0.0.1"}, {"destination", "10.0.0.2"},
          {"path", 2},         {"count", 5},           {"interval_ns", 1'000'000}};
}

struct BurstApiTest : testing::Test {
  BurstApiTest() { small.publishPlan(); }
  static http::Request request(const std::string& body,
                               const std::string& type = "application/json") {
    http::Request made;
    made.method = "POST";
    made.body = body;
    made.content_type = type;
    return made;
  }
  http::Response response(const http::Request& asked) {
    auto answer = api::startBurst(small.board, bursts, asked);
    if (auto* const now = std::get_if<http::Response>(&answer)) return std::move(*now);
    http::Response later;
    std::get<http::Later>(answer)([&](http::Response given) { later = std::move(given); });
    for (const auto& asked_for : bursts.takeAsked()) asked_for.reply(next);
    return later;
  }

  SmallBoard small;
  BurstBoard bursts;
  OrderBoard orders;
  BurstAnswer next{0xABC, {}, {}};
};

TEST_F(BurstApiTest, ReadsWhatIsAskedFor) {
  const auto order = api::burstOrder(
      *small.board.plan(), request(fullRequest().dump(), "Application/JSON; charset=utf-8"));
  ASSERT_TRUE(order) << order.error().body;
  EXPECT_EQ(order->probe, "fabric");
  EXPECT_EQ(order->source.text(), "10.0.0.1");
  EXPECT_EQ(order->destination.text(), "10.0.0.2");
  EXPECT_EQ(order->path, 2U);
  EXPECT_EQ(order->count, 5U);
  EXPECT_EQ(order->interval, kMillisecond);
  EXPECT_EQ(order->timeout, small.fabric.spec.timeout);
}

TEST_F(BurstApiTest, WhatIsNotSaidIsAsUsual) {
  Json json = fullRequest();
  for (const char* key : {"path", "count", "interval_ns"}) json.erase(key);
  const auto several = api::burstOrder(*small.board.plan(), request(json.dump()));
  ASSERT_TRUE(several);
  EXPECT_EQ(several->path, 1U) << "the first of several";
  EXPECT_EQ(several->count, 20U);
  EXPECT_EQ(several->interval, 10 * kMillisecond);
  json["probe"] = "rack";
  EXPECT_EQ(api::burstOrder(*small.board.plan(), request(json.dump()))->path, 0U);
}

TEST_F(BurstApiTest, BadRequestsSayWhatIsWrong) {
  struct Case {
    std::function<void(Json&)> spoil;
    unsigned status;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {[](Json& json) { json.erase("source"); }, 400, "'source' is missing or not a string"},
      {[](Json& json) { json["probe"] = 7; }, 400, "'probe' is missing or not a string"},
      {[](Json& json) { json["probe"] = "fabrik"; }, 404, "did you mean 'fabric'?"},
      {[](Json& json) { json["source"] = "10.0.0.9"; }, 404, "not a source"},
      {[](Json& json) { json["source"] = "<b>/../x"; }, 404, "<b>"},
      {[](Json& json) { json["destination"] = "10.0.0.1"; }, 404, "not a pair"},
      {[](Json& json) { json["path"] = 0; }, 400, "from 1 to 2"},
      {[](Json& json) { json["path"] = 3; }, 400, "from 1 to 2"},
      {[](Json& json) { json["count"] = 0; }, 400, "from 1 to 100"},
      {[](Json& json) { json["count"] = 101; }, 400, "from 1 to 100"},
      {[](Json& json) { json["count"] = -1; }, 400, "from 1 to 100"},
      {[](Json& json) { json["count"] = 1.5; }, 400, "from 1 to 100"},
      {[](Json& json) { json["count"] = "10"; }, 400, "from 1 to 100"},
      {[](Json& json) { json["interval_ns"] = 999'999; }, 400, "from 1000000 to"},
      {[](Json& json) { json["interval_ns"] = UINT64_MAX; }, 400, "from 1000000 to"},
      {[](Json& json) { json["cuont"] = 3; }, 400, "did you mean 'count'?"},
  };
  for (const Case& one : cases) {
    Json json = fullRequest();
    one.spoil(json);
    const auto refused = response(request(json.dump()));
    EXPECT_EQ(refused.status, one.status) << json;
    EXPECT_THAT(Json::parse(refused.body)["error"]["reason"].get<std::string>(),
                HasSubstr(one.reason));
  }
  EXPECT_EQ(bursts.refused(BurstRefusal::kBadRequest), cases.size());
  EXPECT_TRUE(bursts.takeAsked().empty());
}

TEST_F(BurstApiTest, OnlyAShortJsonDocumentIsRead) {
  const std::string good = fullRequest().dump();
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data; a=application/json"}) {
    EXPECT_EQ(response(request(good, type)).status, 415U) << type;
  }
  EXPECT_EQ(response(request(good + std::string(5000, ' '))).status, 413U);
  for (const std::string& body :
       {std::string(), std::string("[]"), std::string("null"), good.substr(0, 20),
        std::string(4000, '['), std::string("{\"probe\":\"\xff\"}"), good + good}) {
    EXPECT_EQ(response(request(body)).status, 400U) << body.substr(0, 40);
  }
}

TEST_F(BurstApiTest, AnswersWithTheIdOrTheRefusal) {
  const auto begun = response(request(fullRequest().dump()));
  EXPECT_EQ(begun.status, 202U);
  EXPECT_EQ(Json::parse(begun.body)["id"], "0000000000000abc");
  EXPECT_EQ(begun.headers.at(0).second, "/api/v1/bursts/0000000000000abc");
  const std::vector<std::pair<BurstRefusal, unsigned>> statuses = {
      {BurstRefusal::kNoAgent, 409},
      {BurstRefusal::kAgentBusy, 429},
      {BurstRefusal::kTooMany, 429},
      {BurstRefusal::kEnding, 503},
  };
  for (const auto& [refusal, status] : statuses) {
    next = {0, refusal, "because"};
    const auto refused = response(request(fullRequest().dump()));
    EXPECT_EQ(refused.status, status);
    EXPECT_EQ(Json::parse(refused.body)["error"]["reason"], "because");
  }
}

TEST_F(BurstApiTest, TellsWhatHasComeOfIt) {
  BurstSnapshot burst;
  burst.id = 0xABC;
  burst.order = *api::burstOrder(*small.board.plan(), request(fullRequest().dump()));
  burst.host = "gpu \"1\"";
  burst.started_utc = 1'795'230'720 * kSecond;
  BurstPing good{1, PingFate::kReceived};
  good.network = 4000;
  good.rtt = 60'000;
  BurstPing odd{2, PingFate::kReceived};
  odd.anomaly = Anomaly::kStalled;
  BurstPing lost{3, PingFate::kLost};
  lost.late = true;
  burst.pings = {good, odd, lost};
  bursts.publish(std::make_shared<const BurstSnapshot>(burst));
  const auto shown = api::burst(bursts, "0000000000000abc");
  ASSERT_EQ(shown.status, 200U);
  const Json json = Json::parse(shown.body);
  EXPECT_EQ(json["state"], "running");
  EXPECT_EQ(json["reason"], nullptr);
  EXPECT_EQ(json["agent"], "gpu \"1\"");
  EXPECT_EQ(json["path"], 2);
  EXPECT_EQ(json["started"], "2026-11-21T03:12:00Z");
  EXPECT_EQ(json["pings"][0],
            Json::parse(R"({"sequence":1,"result":"received","network_ns":4000,"rtt_ns":60000})"));
  EXPECT_EQ(json["pings"][1]["anomalous"], "stalled");
  EXPECT_EQ(json["pings"][2], Json::parse(R"({"sequence":3,"result":"lost","late":true})"));
  burst.state = BurstState::kFailed;
  burst.reason = "agent gpu has gone";
  bursts.publish(std::make_shared<const BurstSnapshot>(burst));
  EXPECT_EQ(Json::parse(api::burst(bursts, "0000000000000abc").body)["reason"], burst.reason);
  for (const char* id : {"", "abc", "0000000000000abd", "0x00000000000abc", "-000000000000abc",
                         "0000000000000abc0", "../0000000000000a"}) {
    EXPECT_EQ(api::burst(bursts, id).status, 404U) << id;
  }
}

TEST_F(BurstApiTest, OverHttp) {
  DashboardOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  auto dashboard = Dashboard::start(options, small.board, bursts, orders);
  ASSERT_TRUE(dashboard);
  http::RawClient client((*dashboard)->address());
  const auto send = [&](const std::string& method, const std::string& headers) {
    const std::string body = fullRequest().dump();
    client.send(method + " /api/v1/bursts HTTP/1.1\r\nHost: localhost\r\n" + headers +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  send("PUT", "");
  auto refused = client.response();
  EXPECT_EQ(refused.status, 405U);
  EXPECT_THAT(refused.header, HasSubstr("Allow: POST"));
  EXPECT_EQ(client.get("/api/v1/bursts").status, 405U);
  EXPECT_EQ(client.get("/api/v1/bursts/0000000000000abc").status, 404U);
  send("POST", "");
  EXPECT_EQ(client.response().status, 415U);
  send("POST", "Content-Type: application/json\r\nOrigin: http://localhost\r\n");
  std::vector<BurstBoard::Asked> asked;
  while (asked.empty()) asked = bursts.takeAsked();
  asked[0].reply(next);
  EXPECT_EQ(client.response().status, 202U);
  // A client that waits when the thread stops is answered, and its connection ends.
  send("POST", "Content-Type: application/json\r\n");
  while (asked.size() < 2) {
    for (auto& one : bursts.takeAsked()) asked.push_back(std::move(one));
  }
  bursts.stop();
  asked[1].reply({0, BurstRefusal::kEnding, "the controller ends"});
  EXPECT_EQ(client.response().status, 503U);
}

}  // namespace
}  // namespace pingloom::controller::bursts_test
