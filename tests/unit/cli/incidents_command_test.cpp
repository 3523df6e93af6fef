#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "captured_run.h"
#include "cli/commands.h"
#include "cli/incident_report.h"
#include "common/text.h"
#include "controller_stub.h"

namespace pingloom::cli::incidents_command_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using IncidentsCommand = ControllerStub;

json incident() {
  return json::parse(R"({"id":"17","kind":"host","culprit":"gpu-3","severity":"very slow",
    "figure":"network","opened":"2026-11-24T03:12:00Z","updated":"2026-11-24T03:12:50Z",
    "closed":null,"flaps":0,"probes":["rdma"],"pairs":{"bad":46,"judged":46},
    "sentence":"gpu-3 is very slow to all","candidates":[{"kind":"group","culprit":"rack=r1"}],
    "tell":"a probe of rack r1","labels":{"rack":"r1"},"acknowledged":null,"silenced_by":null,
    "evidence":[{"probe":"rdma","source":"10.0.0.3","source_name":"gpu-3","destination":"10.0.0.1",
      "destination_name":"gpu-1","state":"ok","severity":"very slow","because":"network 2.4 ms"}],
    "history":[{"at":"2026-11-24T03:12:00Z","severity":"slow","sentence":"gpu-3 is slow"}]})");
}
json document(const json& open) { return {{"open", open}, {"recent", json::array()}}; }

TEST_F(IncidentsCommand, nothingIsOpen) {
  serve("GET /api/v1/incidents", document(json::array()).dump());
  const auto run = capture(runIncidents, {"--url", url_});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "none\n");
}

TEST_F(IncidentsCommand, openOnesAreATable) {
  serve("GET /api/v1/incidents", document(json::array({incident()})).dump());
  const auto run = capture(runIncidents, {"--url", url_});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out,
            "ID  SINCE (UTC)           SEVERITY   KIND  CULPRIT  PAIRS     SENTENCE\n"
            "17  2026-11-24T03:12:00Z  very slow  host  gpu-3    46 of 46  gpu-3 is very slow to "
            "all\n");
  const auto whole = capture(runIncidents, {"--json", "--url", url_});
  EXPECT_EQ(whole.code, 1);
  EXPECT_EQ(json::parse(whole.out)["open"][0]["id"], "17");
}

TEST_F(IncidentsCommand, silencedOnesAreShownButDoNotCount) {
  json silenced = incident();
  silenced["silenced_by"] = "3";
  serve("GET /api/v1/incidents", document(json::array({silenced})).dump());
  const auto run = capture(runIncidents, {"--url", url_});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("(silenced by 3)"));
}

TEST_F(IncidentsCommand, oneWithItsEvidence) {
  serve("GET /api/v1/incidents/17", incident().dump());
  const auto run = capture(runIncidents, {"17", "--url", url_});
  EXPECT_EQ(run.code, 1);
  for (const char* part : {"gpu-3 is very slow to all\n", "or it is      group rack=r1\n",
                           "to tell       a probe of rack r1\n", "labels        rack=r1\n",
                           "rdma   gpu-3   gpu-1        ok     very slow  network 2.4 ms\n",
                           "2026-11-24T03:12:00Z  slow      gpu-3 is slow\n"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  json closed = incident();
  closed["closed"] = "2026-11-24T03:20:00Z";
  serve("GET /api/v1/incidents/17", closed.dump());
  EXPECT_EQ(capture(runIncidents, {"17", "--url", url_}).code, 0);
  EXPECT_EQ(capture(runIncidents, {"18", "--url", url_}).code, 2);
}

TEST_F(IncidentsCommand, pastOnes) {
  serve("GET /api/v1/history/incidents", R"({"incidents":[]})");
  EXPECT_EQ(capture(runIncidents, {"--past", "--from", "2026-11-24T01:00:00+01:00", "--to",
                                   "2026-11-24T04:00:00Z", "-n", "7", "--url", url_})
                .code,
            0);
  ASSERT_EQ(seen().size(), 1U);
  EXPECT_EQ(seen()[0].query.at("from"), "2026-11-24T00:00:00Z");
  EXPECT_EQ(seen()[0].query.at("to"), "2026-11-24T04:00:00Z");
  EXPECT_EQ(seen()[0].query.at("limit"), "7");
}

TEST_F(IncidentsCommand, acknowledges) {
  json acknowledged = incident();
  acknowledged["acknowledged"] = {{"by", "ada"}, {"comment", "cable"}, {"at", nullptr}};
  serve("POST /api/v1/incidents/17", acknowledged.dump());
  const auto run = capture(
      runIncidents, {"ack", "17", "--by", "ada", "--comment", "it's the \"cable\"", "--url", url_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("gpu-3 is very slow to all (acknowledged by ada)"));
  EXPECT_EQ(capture(runIncidents, {"ack", "17", "--undo", "--url", url_}).code, 0);
  ASSERT_EQ(seen().size(), 2U);
  EXPECT_EQ(json::parse(seen()[0].body),
            json({{"acknowledge", true}, {"by", "ada"}, {"comment", "it's the \"cable\""}}));
  const json undone = json::parse(seen()[1].body);
  EXPECT_EQ(undone["acknowledge"], false);
  EXPECT_NE(undone["by"], "") << "the login name";
}

TEST_F(IncidentsCommand, refusalsAreErrors) {
  serve("POST /api/v1/incidents/17", R"({"error":"a token of the role operate is needed"})", 403);
  const auto run = capture(runIncidents, {"ack", "17", "--url", url_});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("answered 403: a token of the role operate is needed"));
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"../silences"},
                                             {"ack"},
                                             {"ack", "-1"},
                                             {"ack", "17", "--comment", "\xff"},
                                             {"17", "--past"},
                                             {"--watch", "--past"},
                                             {"--from", "2026-11-24T03:12:00Z"},
                                             {"--past", "--from", "yesterday"},
                                             {"--past", "-n", "0"}}) {
    EXPECT_EQ(capture(runIncidents, wrong).code, 2) << wrong[0];
  }
  EXPECT_EQ(seen().size(), 1U) << "wrong usage asks nobody";
}

// Whatever a controller sends, no control character reaches the terminal.
TEST_F(IncidentsCommand, hostileAnswers) {
  json hostile = incident();
  const std::string bad = "\x1b[2J\r\x07";
  for (const char* member : {"id", "kind", "culprit", "severity", "sentence", "opened", "tell"}) {
    hostile[member] = bad;
  }
  hostile["probes"] = json::array({bad});
  hostile["labels"] = {{bad, bad}};
  hostile["candidates"] = json::array({{{"kind", bad}, {"culprit", bad}}});
  hostile["evidence"][0]["because"] = bad;
  hostile["acknowledged"] = {{"by", bad}, {"comment", bad}, {"at", bad}};
  const std::string lines = join(incidentTable(json::array({hostile})), "\n") +
                            join(incidentDetails(hostile), "\n") + incidentSummary(hostile);
  EXPECT_THAT(lines, Not(testing::ContainsRegex("[\x01-\x09\x0b-\x1f]")));
  for (const char* odd : {"null", "3", "[]", "[[]]", R"({"open":[3,null,[]]})", R"({"open":{}})",
                          R"({"evidence":7,"labels":[1],"probes":{"a":[]},"history":"x"})"}) {
    const json parsed = json::parse(odd);
    EXPECT_THAT(incidentDetails(parsed), Not(IsEmpty())) << odd;
    EXPECT_THAT(incidentTable(parsed), ElementsAre(testing::_)) << odd;
    EXPECT_EQ(countAttention(parsed), 0U) << odd;
    serve("GET /api/v1/incidents", odd);
    EXPECT_EQ(capture(runIncidents, {"--url", url_}).code, 0) << odd;
  }
}

TEST(IncidentChanges, opensChangesAndCloses) {
  IncidentChanges changes;
  const auto kinds = [&changes](const json& open) {
    std::vector<std::string> made;
    for (const IncidentChange& change : changes.of(document(open))) made.push_back(change.what);
    return made;
  };
  EXPECT_THAT(kinds(json::array({incident()})), ElementsAre("open"));
  json more = incident();
  more["pairs"]["bad"] = 47;
  EXPECT_THAT(kinds(json::array({more})), IsEmpty()) << "numbers change all the time";
  more["severity"] = "down";
  EXPECT_THAT(kinds(json::array({more})), ElementsAre("changed"));
  EXPECT_THAT(kinds(json::array()), ElementsAre("closed"));
  EXPECT_THAT(kinds(json::array()), IsEmpty());
}

}  // namespace
}  // namespace pingloom::cli::incidents_command_test
