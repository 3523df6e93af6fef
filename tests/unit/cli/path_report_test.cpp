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

}  // namespace
}  // namespace pingloom::cli::path_report_test
