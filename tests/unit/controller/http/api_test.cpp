#include "controller/http/api.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "controller/http/live_frames.h"
#include "unit/controller/http/small_board.h"

namespace pingloom::controller::api_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

struct ApiTest : testing::Test {
  ApiTest() {
    small.publishPlan();
    small.publishReady();
    small.publishFirstSource();
  }
  Json grid(const std::string& probe, const std::string& metric, unsigned status = 200) {
    http::Request request;
    request.query = {{"probe", probe}, {"metric", metric}};
    const auto response = api::grid(small.board, request);
    EXPECT_EQ(response.status, status) << response.body;
    return Json::parse(response.body);
  }
  Json pair(const std::string& path, unsigned status = 200) {
    const auto response = api::pair(small.board, path);
    EXPECT_EQ(response.status, status) << response.body;
    return Json::parse(response.body);
  }
  static std::string reason(const Json& json) { return json["error"]["reason"]; }

  SmallBoard small;
  BurstBoard bursts;
  OrderBoard orders;
  http::ServerCounters counters;
  Collectors collectors{{}, small.board.pageAnomalies(), small.board.collectorRoster()};
};

TEST_F(ApiTest, GridHasValuesAndStates) {
  const Json json = grid("rack", "network_p50");
  EXPECT_EQ(json["probe"], "rack");
  EXPECT_EQ(json["protocol"], "udp");
  EXPECT_EQ(json["metric"], "network_p50");
  EXPECT_EQ(json["unit"], "ns");
  EXPECT_EQ(json["sources"], Json({"10.0.0.1", "10.0.0.2", "10.0.0.3"}));
  EXPECT_EQ(json["source_names"], Json({"gpu \"one\"", "10.0.0.2", "10.0.0.3"}));
  EXPECT_EQ(json["values"][0], Json({nullptr, 5000, 7000}));
  EXPECT_EQ(json["values"][1], Json({nullptr, nullptr, nullptr}));
  EXPECT_EQ(json["states"][0], Json({nullptr, "ok", "loss"}));
  EXPECT_EQ(json["states"][1], Json({"pending", nullptr, "pending"}));
  EXPECT_EQ(json["window"]["start"], "2026-11-21T03:12:00Z");
  EXPECT_EQ(json["window"]["end"], "2026-11-21T03:12:10Z");
}

TEST_F(ApiTest, GridHasSeverities) {
  small.judgeFirstSource({Severity::kNone, Severity::kOk, Severity::kVerySlow});
  const Json json = grid("rack", "network_p50");
  EXPECT_EQ(json["severities"][0], Json({nullptr, "ok", "very slow"}));
  EXPECT_EQ(json["severities"][1], Json({"none", nullptr, "none"}));
  EXPECT_EQ(json["states"][0], Json({nullptr, "ok", "loss"}));
}

TEST_F(ApiTest, TheWorstAreJudgedFirst) {
  small.judgeFirstSource({Severity::kNone, Severity::kSlow, Severity::kOk});
  http::Request request;
  request.query = {{"probe", "rack"}, {"metric", "network_p50"}, {"count", "2"}};
  const Json judged = Json::parse(api::worst(small.board, request).body);
  EXPECT_EQ(judged["sort"], "-severity");
  EXPECT_EQ(judged["pairs"][0]["severity"], "slow");
  EXPECT_EQ(judged["pairs"][0]["state"], "ok");
  EXPECT_EQ(judged["pairs"][1]["state"], "loss") << "it outweighs pairs that are not judged";
  request.query["sort"] = "-state";
  EXPECT_EQ(Json::parse(api::worst(small.board, request).body)["pairs"][0]["state"], "loss");
}

TEST_F(ApiTest, SeveritiesAreCounted) {
  small.judgeFirstSource({Severity::kNone, Severity::kOk, Severity::kVerySlow});
  const Json rack = Json::parse(api::probes(small.board).body)["probes"][0];
  EXPECT_EQ(
      rack["severities"],
      Json({{"none", 4}, {"ok", 1}, {"slow", 0}, {"very slow", 1}, {"lossy", 0}, {"down", 0}}));
  EXPECT_EQ(rack["states"]["loss"], 1);
  const Json status = Json::parse(api::status(small.board, counters).body);
  EXPECT_EQ(status["severities"]["very slow"], 1);
  EXPECT_EQ(status["severities"]["none"], 4 + 2 + 6) << "all probes";
  EXPECT_EQ(status["pairs"]["loss"], 1);
}

TEST_F(ApiTest, MetricsOfWhatIsJudged) {
  small.judgeFirstSource({Severity::kNone, Severity::kOk, Severity::kVerySlow});
  auto verdict = std::make_shared<Verdict>();
  verdict->judged_pairs = 2;
  for (const std::uint64_t silence : {0, 0, 3}) {
    Incident incident;
    incident.culprit = {CulpritKind::kHost, "gpu-3"};
    incident.severity = Severity::kVerySlow;
    incident.silenced_by = silence;
    verdict->open.push_back(std::make_shared<const Incident>(std::move(incident)));
  }
  small.board.publishVerdict(verdict);
  const std::string text = api::metrics(small.board, bursts, counters, collectors).body;
  for (const char* line :
       {"\npingloom_pairs{probe=\"rack\",state=\"loss\",severity=\"very slow\"} 1\n",
        "\npingloom_pairs{probe=\"rack\",state=\"ok\",severity=\"ok\"} 1\n",
        "\npingloom_pairs{probe=\"rack\",state=\"pending\",severity=\"none\"} 4\n",
        "\npingloom_incidents_open{kind=\"host\",severity=\"very slow\"} 2\n",
        "\npingloom_judged_pairs 2\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, testing::Not(HasSubstr("severity=\"down\""))) << "no pair has it";
}

TEST_F(ApiTest, GridOfRatios) {
  const Json json = grid("rack", "loss");
  EXPECT_EQ(json["unit"], "ratio");
  EXPECT_EQ(json["values"][0][1], 0);
  EXPECT_DOUBLE_EQ(json["values"][0][2].get<double>(), 0.3);
}

TEST_F(ApiTest, PairsOfDifferentFamiliesAreNone) {
  const Json json = grid("storage", "rtt_p99");
  EXPECT_EQ(json["states"], Json::parse(R"([["pending",null],["pending",null]])"));
  EXPECT_EQ(json["window"], nullptr);
}

// What is in the document before the matrices comes in the order of the lines.
TEST_F(ApiTest, GridIsThisDocument) {
  http::Request request;
  request.query = {{"probe", "storage"}, {"metric", "loss"}};
  small.publishSource(1, 1, {SmallBoard::lossy(1), Row()}, {PairState::kLoss, std::nullopt});
  EXPECT_EQ(api::grid(small.board, request).body,
            R"({"probe":"storage","protocol":"tcp","metric":"loss","unit":"ratio","generation":1,)"
            R"("sources":["10.0.0.1","10.0.0.2"],"source_names":["gpu \"one\"","10.0.0.2"],)"
            R"("destinations":["10.0.9.1","fd00::9"],"destination_names":["10.0.9.1","fd00::9"],)"
            R"("values":[[null,null],[0.1,null]],"states":[["pending",null],["loss",null]],)"
            R"("severities":[["none",null],["none",null]],)"
            R"("window":{"start":"2026-11-21T03:12:00Z","end":"2026-11-21T03:12:10Z"}})"
            "\n");
}

TEST_F(ApiTest, GridAsCellsIsAMessageOfTheLiveConnection) {
  small.judgeFirstSource({Severity::kNone, Severity::kOk, Severity::kDown});
  http::Request request;
  request.query = {{"probe", "rack"}, {"metric", "network_p50"}, {"format", "cells"}};
  const auto response = api::grid(small.board, request);
  EXPECT_EQ(response.content_type, "application/octet-stream");
  const auto plan = small.board.plan();
  std::string expected = liveRows({1, 0, 0});
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto snapshot = small.board.source(0, i, plan->generation);
    appendLiveRow(expected, 0, i, snapshot.get(),
                  liveCells(plan->probes[0], *Metric::parse("network_p50"), i, snapshot.get()));
  }
  EXPECT_EQ(response.body, expected);
  request.query["format"] = "xml";
  EXPECT_EQ(api::grid(small.board, request).status, 400U);
}

TEST_F(ApiTest, GridErrorsSayWhatWasMeant) {
  EXPECT_THAT(reason(grid("rack", "netwrk_p50", 400)), HasSubstr("did you mean 'network_p50'?"));
  EXPECT_THAT(reason(grid("rack", "p50", 400)), HasSubstr("responder_p99"));
  EXPECT_THAT(reason(grid("rakc", "loss", 404)), HasSubstr("did you mean 'rack'?"));
  EXPECT_EQ(api::grid(small.board, {}).status, 400U);
}

TEST_F(ApiTest, PairIsTheWholeRowWithNames) {
  const Json json = pair("rack/10.0.0.1/10.0.0.3");
  EXPECT_EQ(json["probe"], "rack");
  EXPECT_EQ(json["source"], "10.0.0.1");
  EXPECT_EQ(json["source_name"], "gpu \"one\"");
  EXPECT_EQ(json["destination_name"], "10.0.0.3");
  EXPECT_EQ(json["state"], "loss");
  EXPECT_EQ(json["sent"], 10);
  EXPECT_EQ(json["lost"], 3);
  EXPECT_EQ(json["network_ns"]["p99"], 7009);
}

TEST_F(ApiTest, APairShowsItsPathsBesideTheirMerge) {
  auto rows = std::make_shared<SourceRows>();
  rows->window = 10 * kSecond;
  rows->rows = {Row(), SmallBoard::lossy(3), SmallBoard::measured(100)};
  rows->paths = {std::make_shared<const Rows>(Rows{Row(), SmallBoard::measured(5000), Row()}),
                 std::make_shared<const Rows>(Rows{Row(), SmallBoard::lossy(3), Row()})};
  auto snapshot = std::make_shared<SourceSnapshot>();
  snapshot->rows = rows;
  snapshot->states = {std::nullopt, PairState::kLoss, PairState::kOk};
  snapshot->path_states = {{std::nullopt, PairState::kOk, std::nullopt},
                           {std::nullopt, PairState::kLoss, std::nullopt}};
  small.board.publishSource(2, 0, snapshot);
  const Json json = pair("fabric/10.0.0.1/10.0.0.2");
  EXPECT_EQ(json["state"], "loss");
  ASSERT_EQ(json["paths"].size(), 2U);
  EXPECT_EQ(json["paths"][0]["path"], 1);
  EXPECT_EQ(json["paths"][0]["state"], "ok");
  EXPECT_EQ(json["paths"][1]["path"], 2);
  EXPECT_EQ(json["paths"][1]["lost"], 3);
  EXPECT_EQ(pair("fabric/10.0.0.1/10.0.0.3")["paths"], Json::array()) << "none in this window";
  EXPECT_FALSE(pair("rack/10.0.0.1/10.0.0.3").contains("paths"));
  EXPECT_EQ(grid("fabric", "loss")["values"][0][1], 0.3) << "the merge";
}

TEST_F(ApiTest, APendingPairHasNoNumbers) {
  EXPECT_EQ(pair("rack/10.0.0.2/10.0.0.1"),
            Json::parse(R"({"probe":"rack","source":"10.0.0.2","source_name":"10.0.0.2",
                            "destination":"10.0.0.1","destination_name":"gpu \"one\"",
                            "protocol":"udp","state":"pending"})"));
}

TEST_F(ApiTest, AnAddressMayBeWrittenInAnyForm) {
  EXPECT_EQ(pair("rack/::ffff:10.0.0.1/10.0.0.2")["source"], "10.0.0.1");
}

TEST_F(ApiTest, PairErrorsHaveReasons) {
  EXPECT_THAT(reason(pair("rakc/10.0.0.1/10.0.0.2", 404)), HasSubstr("did you mean 'rack'?"));
  EXPECT_THAT(reason(pair("rack/10.0.0.9/10.0.0.2", 404)), HasSubstr("not a source"));
  EXPECT_THAT(reason(pair("rack/10.0.0.1/10.0.0.9", 404)), HasSubstr("not a destination"));
  EXPECT_THAT(reason(pair("rack/10.0.0.1/10.0.0.1", 404)), HasSubstr("not a pair"));
  EXPECT_THAT(reason(pair("storage/10.0.0.1/fd00::9", 404)), HasSubstr("not a pair"));
  EXPECT_THAT(reason(pair("rack/one/10.0.0.2", 404)), HasSubstr("one"));
  for (const char* path : {"", "rack", "rack/10.0.0.1", "rack/10.0.0.1/10.0.0.2/x", "//"}) {
    EXPECT_EQ(api::pair(small.board, path).status, 404U) << path;
  }
}

TEST_F(ApiTest, Status) {
  const Json json = Json::parse(api::status(small.board, counters).body);
  EXPECT_EQ(json["ready"], true);
  EXPECT_EQ(json["pinglist"]["generation"], 1);
  EXPECT_EQ(json["pinglist"]["hash"], "0000000000000abc");
  EXPECT_EQ(json["pinglist"]["error"], nullptr);
  EXPECT_EQ(json["pinglist"]["warnings"].size(), 1U);
  EXPECT_EQ(json["agents"],
            Json({{"known", 1}, {"alive", 1}, {"plan_current", 1}, {"error_counters_moved", 1}}));
  EXPECT_EQ(json["pairs"]["ok"], 1);
  EXPECT_EQ(json["pairs"]["loss"], 1);
  EXPECT_EQ(json["pairs"]["pending"], 4 + 2 + 6);
  EXPECT_EQ(json["control"]["refused_by_reason"]["duplicate_host"], 5);
  EXPECT_EQ(json["redis"]["connected"], true);
}

TEST_F(ApiTest, StatusShowsARejectedPinglist) {
  auto control = std::make_shared<ControlStatus>();
  control->pinglist_error = "pinglist.yaml:7:3: unknown key 'intervall'";
  small.board.publishControl(control);
  const Json json = Json::parse(api::status(small.board, counters).body);
  EXPECT_EQ(json["pinglist"]["error"], "pinglist.yaml:7:3: unknown key 'intervall'");
}

TEST_F(ApiTest, HostsWithThoseThatAreMissing) {
  const Json json = Json::parse(api::hosts(small.board).body);
  ASSERT_EQ(json["hosts"].size(), 1U);
  EXPECT_EQ(json["hosts"][0]["host"], "one");
  EXPECT_EQ(json["hosts"][0]["incarnation"], "1795230720123456789");
  EXPECT_EQ(json["hosts"][0]["addresses"][0]["name"], "gpu \"one\"");
  EXPECT_EQ(json["hosts"][0]["endpoints"],
            Json::parse(R"([{"address":"10.0.0.1","device":"mlx5_0","clock":"hardware",
                             "gid":"::ffff:10.0.0.1","lid":null,"qpn":4711,"mtu":null,
                             "since":null}])"));
  EXPECT_EQ(json["hosts"][0]["page_owners"],
            Json::parse(R"({"owners":[{"application":"queue","pid":41,"uid":1000,"pages":2,
                                       "metrics":30}],"left_out":7})"));
  EXPECT_EQ(json["hosts"][0]["plan"], "0000000000000abc");
  EXPECT_EQ(json["hosts"][0]["plan_in_force"], "0000000000000abc");
  EXPECT_EQ(json["unregistered"].size(), 2U);
  EXPECT_EQ(json["unregistered"][0]["address"], "10.0.0.2");
}

http::Request ofHost(const std::string& host) {
  http::Request request;
  request.query["host"] = host;
  return request;
}

TEST_F(ApiTest, AHostsCountersThatMovedComeFirst) {
  const Json json = Json::parse(api::counters(small.board, ofHost("one")).body);
  EXPECT_EQ(json["host"], "one");
  EXPECT_EQ(json["known_since"], "1970-01-01T00:00:01Z");
  ASSERT_EQ(json["counters"].size(), 3U);
  EXPECT_EQ(json["counters"][0]["counter"], "symbol_error_total");
  EXPECT_EQ(json["counters"][0]["kind"], "error");
  EXPECT_EQ(json["counters"][0]["port"], 1);
  EXPECT_EQ(json["counters"][0]["total"], 1211);
  EXPECT_EQ(json["counters"][0]["moved"], 1204);
  EXPECT_EQ(json["counters"][1]["counter"], "np_cnp_packets_sent_total");
  EXPECT_EQ(json["counters"][2], Json::parse(R"({"device":"eth0","port":null,"kind":"error",
      "counter":"receive_errs_total","total":0,"moved":0,"last_moved":null})"));
  EXPECT_EQ(Json::parse(api::hosts(small.board).body)["hosts"][0]["error_counters_moved"], 1);
  auto hosts = std::make_shared<Hosts>(*small.board.hosts());
  hosts->emplace_back().host = "untold/1";
  small.board.publishHosts(hosts);
  const Json untold = Json::parse(api::counters(small.board, ofHost("untold/1")).body);
  EXPECT_EQ(untold["known_since"], nullptr);
  EXPECT_EQ(untold["counters"], Json::array());
  EXPECT_EQ(Json::parse(api::hosts(small.board).body)["hosts"][1]["error_counters_moved"], nullptr);
  EXPECT_EQ(api::counters(small.board, ofHost("nobody")).status, 404U);
  EXPECT_EQ(api::counters(small.board, {}).status, 400U);
}

TEST_F(ApiTest, AHostHasTheLabelsThatAllOfItsAddressesHave) {
  const std::vector<std::pair<std::string, IpAddress>> two = {{"rail0", small.ip("10.0.0.1")},
                                                              {"rail1", small.ip("10.0.0.3")}};
  small.named_hosts = {{"one", two, {{"rack", "r<1>"}}},
                       {"two", {{"", small.ip("10.0.0.2")}}, {{"rack", "r2"}}}};
  small.publishPlan();
  auto hosts = std::make_shared<Hosts>(*small.board.hosts());
  hosts->front().addresses = {small.ip("10.0.0.1"), small.ip("10.0.0.3"), small.ip("10.0.7.7")};
  small.board.publishHosts(hosts);
  const Json json = Json::parse(api::hosts(small.board).body);
  const Json& host = json["hosts"][0];
  EXPECT_EQ(host["labels"], Json({{"rack", "r<1>"}}));
  EXPECT_EQ(host["addresses"][0]["labels"], Json({{"rack", "r<1>"}, {"rail", "rail0"}}));
  EXPECT_EQ(host["addresses"][1]["labels"]["rail"], "rail1");
  EXPECT_EQ(host["addresses"][2]["labels"], Json::object()) << "the pinglist does not have it";
  EXPECT_EQ(json["unregistered"][0]["labels"], Json({{"rack", "r2"}}));
}

TEST_F(ApiTest, AHostThatIsBehindSaysWithWhichPlan) {
  auto hosts = std::make_shared<Hosts>(*small.board.hosts());
  hosts->front().plan_hash = 0xDEF;
  hosts->emplace_back().host = "new";
  small.board.publishHosts(hosts);
  const Json json = Json::parse(api::hosts(small.board).body);
  EXPECT_EQ(json["hosts"][0]["plan"], "0000000000000def");
  EXPECT_EQ(json["hosts"][1]["plan"], nullptr) << "none";
  EXPECT_EQ(json["hosts"][1]["plan_in_force"], "0000000000000abc");
}

TEST_F(ApiTest, Probes) {
  const Json json = Json::parse(api::probes(small.board).body);
  ASSERT_EQ(json["probes"].size(), 3U);
  EXPECT_EQ(json["probes"][0]["name"], "rack");
  EXPECT_EQ(json["probes"][0]["pairs"], 6);
  EXPECT_EQ(json["probes"][0]["states"]["loss"], 1);
  EXPECT_EQ(json["probes"][0]["port"], nullptr);
  EXPECT_EQ(json["probes"][0]["thresholds"]["network"], Json({{"warn", "3x"}, {"crit", "10x"}}));
  EXPECT_EQ(json["probes"][0]["thresholds"]["loss"], Json({{"warn", "1%"}, {"crit", nullptr}}));
  EXPECT_EQ(json["probes"][0]["thresholds"].size(), 7U);
  EXPECT_EQ(json["probes"][1]["port"], 2049);
  EXPECT_EQ(json["probes"][2]["paths"], 2);
}

TEST_F(ApiTest, MetricsHaveEveryState) {
  const auto response = api::metrics(small.board, bursts, counters, collectors);
  EXPECT_THAT(response.content_type, HasSubstr("version=0.0.4"));
  for (const char* line :
       {"\npingloom_controller_agents_alive 1\n",
        "\npingloom_controller_pairs{probe=\"rack\",protocol=\"udp\",state=\"loss\"} 1\n",
        "\npingloom_controller_pairs{probe=\"storage\",protocol=\"tcp\",state=\"agent-down\"} 0\n",
        "\npingloom_controller_refusals_total{reason=\"duplicate_host\"} 5\n",
        "\npingloom_controller_pinglist_last_reload_successful 1\n",
        "\npingloom_controller_redis_connected 1\n",
        "\npingloom_controller_redis_rows_written_total 12\n",
        "\nprocess_resident_memory_bytes "}) {
    EXPECT_THAT(response.body, HasSubstr(line));
  }
}

TEST_F(ApiTest, ReadyOnlyWithRedisAndAPinglist) {
  EXPECT_EQ(api::readiness(small.board, true).status, 200U);
  const SmallBoard empty;
  const auto response = api::readiness(empty.board, true);
  EXPECT_EQ(response.status, 503U);
  const Json json = Json::parse(response.body);
  EXPECT_EQ(json["reasons"], Json({"no pinglist is in force", "redis is not connected"}));
  EXPECT_EQ(reason(json), "no pinglist is in force; redis is not connected");
  EXPECT_EQ(api::health().status, 200U);
}

TEST_F(ApiTest, ReadinessAndTheListTellTheRole) {
  EXPECT_EQ(Json::parse(api::controllers(small.board).body)["role"], "alone");
  EXPECT_FALSE(Json::parse(api::readiness(small.board, true).body).contains("role"));
  ClusterStatus status;
  status.name = "a";
  status.session = 17;
  status.epoch = 4;
  status.leads = true;
  status.lease_until_mono = monotonicNow() + kMinute;
  status.members = {{"a", "a:20711", "10.0.0.5:8080", 7, 0, kSecond, 17, true}};
  small.board.publishCluster(std::make_shared<const ClusterStatus>(status));
  EXPECT_EQ(Json::parse(api::readiness(small.board, true).body)["role"], "leader");
  const Json list = Json::parse(api::controllers(small.board).body);
  EXPECT_EQ(list["epoch"], 4);
  EXPECT_EQ(list["controllers"][0]["agents"], 7);
  EXPECT_EQ(list["controllers"][0]["leader"], true);
  status.lease_until_mono = monotonicNow();
  small.board.publishCluster(std::make_shared<const ClusterStatus>(status));
  const auto lapsed = api::readiness(small.board, true);
  EXPECT_EQ(lapsed.status, 503U);
  EXPECT_EQ(Json::parse(lapsed.body)["role"], "outside");
  EXPECT_EQ(Json::parse(api::controllers(small.board).body)["role"], "outside");
  status.session = 0;
  status.leads = false;
  status.error = "the database is away";
  small.board.publishCluster(std::make_shared<const ClusterStatus>(status));
  const auto outside = api::readiness(small.board, true);
  EXPECT_EQ(outside.status, 503U);
  EXPECT_EQ(Json::parse(outside.body)["role"], "outside");
  EXPECT_EQ(Json::parse(outside.body)["reasons"],
            Json({"the lease among the controllers: the database is away"}));
}

TEST(Api, ABrokenNameDoesNotSpoilADocument) {
  SmallBoard small;
  small.rack.spec.name = "rack";
  small.publishPlan();
  auto hosts = std::make_shared<Hosts>();
  hosts->emplace_back();
  hosts->back().host = "bad \xff name";
  small.board.publishHosts(std::move(hosts));
  EXPECT_FALSE(Json::parse(api::hosts(small.board).body).is_discarded());
}

struct FabricApiTest : ApiTest {
  FabricApiTest() {
    for (std::uint32_t path = 1; path <= 3; ++path) {
      TracedPath traced;
      traced.probe = "rdma";
      traced.source = IpAddress::fromV4(0x0A000001);
      traced.destination = IpAddress::fromV4(0x0A000002);
      traced.path = path;
      traced.end = PathEnd::kReached;
      const std::uint32_t spine = path < 3 ? 0 : 1;
      for (const std::uint32_t router : {0x0A020000U, 0x0A020100U + spine, 0x0A020200U}) {
        traced.hops.push_back({IpAddress::fromV4(router), 1000});
      }
      small.board.publishPath(std::move(traced));
    }
    SwitchNames names;
    names[IpAddress::fromV4(0x0A020000)] = {"leaf0", 1};
    names[IpAddress::fromV4(0x0A020100)] = {"spine0", 2};
    names[IpAddress::fromV4(0x0A020101)] = {"spine1", 2};
    names[IpAddress::fromV4(0x0A020200)] = {"leaf1", 1};
    small.board.publishFabric(
        mapFabric(small.board.paths().all(), small.board.paths().version(), names));
  }
  Json flows(std::map<std::string, std::string> query, unsigned status = 200) {
    http::Request request;
    request.query = std::move(query);
    const auto response = api::fabricFlows(small.board, request);
    EXPECT_EQ(response.status, status) << response.body;
    return Json::parse(response.body);
  }
};

TEST_F(FabricApiTest, ListsTheFlowsOfALinkAndASwitch) {
  const Json link = flows({{"from", "leaf0"}, {"to", "spine0"}});
  EXPECT_EQ(link["flows"], 2);
  EXPECT_EQ(link["listed"][1]["path"], 2);
  EXPECT_EQ(link["listed"][0]["source"], "10.0.0.1");
  EXPECT_EQ(flows({{"from", "spine0"}, {"to", "leaf0"}})["flows"], 0);
  EXPECT_EQ(flows({{"from", "leaf0"}, {"to", "leaf1"}})["flows"], 0) << "not neighbours";
  EXPECT_EQ(flows({{"switch", "spine1"}})["flows"], 1);
  EXPECT_EQ(flows({{"switch", "leaf1"}})["flows"], 3);
  EXPECT_EQ(flows({{"switch", "nothing"}})["flows"], 0);
}

TEST_F(FabricApiTest, RefusesQuestionsThatNameNeitherLinkNorSwitch) {
  EXPECT_THAT(reason(flows({}, 400)), HasSubstr("name a switch, or a link with from and to"));
  flows({{"from", "leaf0"}}, 400);
  flows({{"switch", "leaf0"}, {"to", "spine0"}}, 400);
}

}  // namespace
}  // namespace pingloom::controller::api_test
