// pingloom silence and pingloom maintenance.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "captured_run.h"
#include "cli/commands.h"
#include "controller_stub.h"

namespace pingloom::cli::silence_command_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using SilenceCommand = ControllerStub;
using MaintenanceCommand = ControllerStub;

constexpr const char* kSilence =
    R"({"id":"3","matchers":{"host":"gpu-3","rack":"r1"},"until":"2030-01-01T00:00:00Z",)"
    R"("by":"ada","comment":"cable"})";

TEST_F(SilenceCommand, adds) {
  serve("POST /api/v1/silences", kSilence, 201);
  const auto run = capture(runSilence, {"add", "host=gpu-3", "rack=r=1", "--for", "120m", "--by",
                                        "ada", "--comment", "cable", "--url", url_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "silence 3 of host=gpu-3 rack=r1 until 2030-01-01T00:00:00Z\n");
  ASSERT_EQ(seen().size(), 1U);
  EXPECT_EQ(json::parse(seen()[0].body), json({{"matchers", {{"host", "gpu-3"}, {"rack", "r=1"}}},
                                               {"duration", "2h"},
                                               {"by", "ada"},
                                               {"comment", "cable"}}));
  EXPECT_EQ(
      capture(runSilence, {"add", "host=a", "--until", "2190-01-01T01:00:00+01:00", "--url", url_})
          .code,
      0);
  EXPECT_EQ(json::parse(seen()[1].body)["until"], "2190-01-01T00:00:00Z");
}

TEST_F(SilenceCommand, wrongUsageAsksNobody) {
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {},
           {"ad"},
           {"add", "--for", "2h"},
           {"add", "host=gpu-3"},
           {"add", "gpu-3", "--for", "2h"},
           {"add", "host=", "--for", "2h"},
           {"add", "host=a", "host=b", "--for", "2h"},
           {"add", "host=a", "--for", "2"},
           {"add", "host=a", "--for", "2h", "--until", "2190-01-01T00:00:00Z"},
           {"add", "host=a", "--until", "2020-01-01T00:00:00Z"},
           {"remove"},
           {"remove", "x/y"}}) {
    std::vector<std::string> arguments = wrong;
    if (arguments.size() > 1) arguments.insert(arguments.end(), {"--url", url_});
    EXPECT_EQ(capture(runSilence, arguments).code, 2) << testing::PrintToString(wrong);
  }
  EXPECT_TRUE(seen().empty());
}

TEST_F(SilenceCommand, listsAndRemoves) {
  serve("GET /api/v1/silences", R"({"silences":[)" + std::string(kSilence) + "]}");
  const auto run = capture(runSilence, {"list", "--url", url_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("3   2030-01-01T00:00:00Z  ada  host=gpu-3 rack=r1  cable\n"));
  EXPECT_EQ(json::parse(capture(runSilence, {"list", "--json", "--url", url_}).out)["silences"][0],
            json::parse(kSilence));
  serve("DELETE /api/v1/silences/3", "{}");
  EXPECT_EQ(capture(runSilence, {"remove", "3", "--url", url_}).out, "silence 3 is removed\n");
  const auto unknown = capture(runSilence, {"remove", "4", "--url", url_});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("pingloom silence remove: "));
  EXPECT_THAT(unknown.err, HasSubstr("answered 404: nothing here"));
}

TEST_F(MaintenanceCommand, beginsAndEnds) {
  serve("POST /api/v1/maintenance", R"({"host":"gpu 7","until":null})", 201);
  const auto run = capture(runMaintenance, {"begin", "gpu 7", "--by", "ada", "--url", url_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "maintenance of gpu 7 until ended\n");
  EXPECT_EQ(json::parse(seen()[0].body), json({{"host", "gpu 7"}, {"by", "ada"}, {"comment", ""}}));
  EXPECT_EQ(capture(runMaintenance, {"begin", "gpu 7", "--for", "90m", "--url", url_}).code, 0);
  EXPECT_EQ(json::parse(seen()[1].body)["duration"], "90m");
  serve("DELETE /api/v1/maintenance/gpu 7", "{}");
  const auto ended = capture(runMaintenance, {"end", "gpu 7", "--url", url_});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "maintenance of gpu 7 is ended\n");
  EXPECT_EQ(capture(runMaintenance, {"end", "gpu-8", "--url", url_}).code, 2);
}

TEST_F(MaintenanceCommand, lists) {
  serve("GET /api/v1/maintenance",
        R"({"maintenance":[{"host":"gpu-7","until":null,"by":"","comment":"","in_pinglist":true},)"
        R"({"host":"gpu-8\u001b","until":"2030-01-01T00:00:00Z","by":"ada","comment":"NIC"}]})");
  const auto run = capture(runMaintenance, {"list", "--url", url_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("gpu-7   ended                 -    pinglist\n"));
  EXPECT_THAT(run.out, HasSubstr("gpu-8?  2030-01-01T00:00:00Z  ada  controller  NIC\n"));
}

}  // namespace
}  // namespace pingloom::cli::silence_command_test
