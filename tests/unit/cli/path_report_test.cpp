#include "cli/path_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace pingloom::cli::path_report_test {
namespace {

using nlohmann::json;
using testing::Contains;

TEST(FabricReport, SaysWhatAPlanCovers) {
  const json fabric = json::parse(R"({"paths":56,"merged":true,"switches":[],"links":[],"cover":[
    {"probe":"rdma","cover":3,"flows":56,"links":32,"covered":29,"pairs":5,"few":[
      {"from":"leaf0","to":"spine1","flows":0,"state":"chosen"},
      {"from":"spine1","to":"leaf0","flows":1,"state":"no pair"},
      {"from":"leaf2","to":"spine3","flows":2,"state":"at limit"}]}]})");
  const auto lines = fabricLines(fabric);
  EXPECT_THAT(lines, Contains("rdma: 29 of 32 link directions are crossed by at least 3 of its 56 "
                              "flows; 5 pairs are probed for that beside the sample"));
  EXPECT_THAT(lines, Contains("  leaf0 -> spine1 has 0: pairs are chosen for it"));
  EXPECT_THAT(lines, Contains("  spine1 -> leaf0 has 1: no other pair can cross it"));
  EXPECT_THAT(lines, Contains("  leaf2 -> spine3 has 2: its hosts have as many further pairs as "
                              "they may"));
}

TEST(PathReport, ShowsTheConnectionsOfATcpPair) {
  const json paths = json::parse(R"({"probe":"tcp","source":"10.0.0.1","destination":"10.0.0.2",
    "forward":[{"path":0,"state":"partial","end":"silent","traced":"2026-11-21T03:12:09Z",
      "source_port":40001,"hops":[{"router":"10.2.0.1","name":"leaf0","rtt_ns":24000}],
      "since":"2026-11-21T03:12:09Z","changes":0,"before":[
        {"state":"traced","end":"reached","traced":"2026-11-21T03:02:00Z","source_port":40000,
         "hops":[{"router":"10.2.0.1"},{"router":"10.2.0.9"}],"rtt_ns":60000}]}],"return":[]})");
  const auto lines = pathLines(paths, std::nullopt);
  EXPECT_THAT(lines, Contains("  connection from port 40001  partial (silent), traced "
                              "2026-11-21T03:12:09Z"));
  EXPECT_THAT(lines, Contains("    leaf0 10.2.0.1 (24.0 us)"));
  EXPECT_THAT(lines, Contains("  connection from port 40000  traced, traced 2026-11-21T03:02:00Z"));
  EXPECT_THAT(lines, Contains("    10.2.0.1 > 10.2.0.9"));
}

}  // namespace
}  // namespace pingloom::cli::path_report_test
