#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "captured_run.h"
#include "cli/commands.h"
#include "cli/event_report.h"
#include "cli/path_report.h"
#include "controller_stub.h"

namespace pingloom::cli::events_command_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using EventsCommand = ControllerStub;

json change(std::uint64_t flows) {
  json made = json::parse(R"({"at":"2026-11-21T03:12:00.5Z","probe":"rdma","of":"10.0.0.1",
    "of_name":"gpu-1","source":"10.0.0.1","source_name":"gpu-1","destination":"10.0.0.2",
    "destination_name":"gpu-2","path":3,"hop":2,"before":[{"router":"10.1.0.1"},
    {"router":"10.2.0.1","name":"spine1"}],"after":[{"router":"10.1.0.1"},{"router":null}]})");
  made["flows"] = flows;
  return made;
}
json event() {
  return json::parse(R"({"at":"2026-11-21T03:12:01Z","window":null,"probe":"rdma",
    "source":"10.0.0.1","source_name":"gpu-1","destination":null,"destination_name":null,
    "from":"ok","to":"loss","severity_from":"ok","severity":"lossy","pairs":7})");
}

TEST_F(EventsCommand, StatesAndPathsAreOneTable) {
  serve("GET /api/v1/history/events", json{{"events", {event()}}}.dump());
  serve("GET /api/v1/history/paths", json{{"changes", {change(1)}}}.dump());
  const auto run = capture(runEvents, {"--url", url_, "--src", "10.0.0.01", "--probe", "a b"});
  EXPECT_EQ(run.code, 2) << "no address";
  const auto shown = capture(runEvents, {"--url", url_, "--src", "10.0.0.1", "--probe", "a b"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.out,
            "UTC                     PROBE  CHANGE              PAIRS OR FLOWS\n"
            "2026-11-21T03:12:00.5Z  rdma   hop 2: spine1 -> ?  gpu-1 -> gpu-2 path 3\n"
            "2026-11-21T03:12:01Z    rdma   ok -> lossy         7 pairs from gpu-1\n");
  EXPECT_EQ(seen().back().query.at("source"), "10.0.0.1");
  EXPECT_EQ(seen().back().query.at("probe"), "a b");
}

TEST_F(EventsCommand, NothingIsNone) {
  serve("GET /api/v1/history/events", json{{"events", json::array()}}.dump());
  serve("GET /api/v1/history/paths", json{{"changes", json::array()}}.dump());
  EXPECT_EQ(capture(runEvents, {"--url", url_}).out, "none\n");
}

TEST(EventReport, ManyFlowsAreCounted) {
  EXPECT_THAT(eventLines(json::array(), json::array({change(1200)})).back(),
              HasSubstr("1200 flows from gpu-1, such as gpu-1 -> gpu-2 path 3"));
  json all = change(9);
  all["of"] = nullptr;
  all["of_name"] = nullptr;
  EXPECT_THAT(eventLines(json::array(), json::array({all})).back(),
              HasSubstr("9 flows, such as gpu-1"));
  json short_path = change(1);
  short_path["after"] = json::array();
  EXPECT_EQ(pathChangeText(short_path), "hop 2: spine1 -> the end");
}

TEST(EventReport, APairsPathsHaveTheirPast) {
  const json paths = {{"probe", "rdma"},
                      {"source_name", "gpu-1"},
                      {"destination_name", "gpu-2"},
                      {"forward", json::array()},
                      {"return", json::array()},
                      {"forward_changes", {change(1), change(40)}}};
  EXPECT_THAT(
      pathLines(paths, 4),
      ElementsAre("rdma: gpu-1 -> gpu-2", "  not traced (yet)",
                  "  changes in the last 24 hours, the newest first:",
                  "    2026-11-21T03:12:00.5Z  hop 2: spine1 -> ?  maybe this pair: 40 flows from "
                  "gpu-1, such as gpu-1 -> gpu-2 path 3",
                  "rdma: gpu-2 -> gpu-1", "  not traced (yet)"));
  EXPECT_THAT(pathLines(paths, std::nullopt),
              testing::Contains("    2026-11-21T03:12:00.5Z  hop 2: spine1 -> ?  path 3"));
}

}  // namespace
}  // namespace pingloom::cli::events_command_test
