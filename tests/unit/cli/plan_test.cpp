#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "captured_run.h"
#include "cli/commands.h"

namespace pingloom::cli::plan_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class PlanTest : public FilesTest {
 protected:
  std::string path_ = file("p.yaml", R"(version: 1
hosts:
  gpu-001: { address: 10.0.0.1 }
  gpu-002: { addresses: { rail0: 10.0.0.2, rail1: 10.1.0.2 } }
  spare: { address: 10.0.0.9 }
probes:
  - { name: mesh, protocol: udp, mesh: [gpu-001, gpu-002/rail0, 10.0.0.3], interval: 200ms }
  - { name: store, protocol: tcp, from: [gpu-002/rail1], to: [10.0.9.1], port: 2049 }
  - { name: ib, protocol: rdma, mesh: [gpu-001, gpu-002/rail0], paths: 8 }
)");
  Captured plan(const std::string& host) { return capture(runPlan, {path_, "--host", host}); }
  json planJson(const std::string& host) {
    const Captured run = capture(runPlan, {path_, "--host", host, "--json"});
    EXPECT_EQ(run.code, 0) << run.err;
    return json::parse(run.out);
  }
};

TEST_F(PlanTest, OfAHostByName) {
  const Captured run = plan("gpu-001");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out,
            "gpu-001: 18 pings/s\n"
            "\n"
            "mesh  udp  from 10.0.0.1 (gpu-001)\n"
            "  2 destinations every 200ms: 10 pings/s\n"
            "    10.0.0.2 (gpu-002/rail0)\n"
            "    10.0.0.3\n"
            "\n"
            "ib  rdma  from 10.0.0.1 (gpu-001)\n"
            "  1 destination every 1s on 8 paths: 8 pings/s\n"
            "  8 flow labels cover 2 equal paths with probability 0.99\n"
            "    10.0.0.2 (gpu-002/rail0)\n"
            "\n"
            "Flow labels that cover k equal paths of the fabric with probability 0.99: "
            "8 for 2, 21 for 4, 51 for 8, 115 for 16, 255 for 32, 557 for 64\n");
}

TEST_F(PlanTest, OfAllAddressesOfAHostOrOfOne) {
  EXPECT_EQ(planJson("gpu-002")["probes"].size(), 3U);
  EXPECT_EQ(planJson("gpu-002/rail1")["probes"].size(), 1U);
  EXPECT_EQ(planJson("10.0.0.2")["probes"].size(), 2U);
  EXPECT_EQ(planJson("::ffff:10.0.0.3")["addresses"], json({"10.0.0.3"}));
}

TEST_F(PlanTest, AsJson) {
  const json store = planJson("gpu-002/rail1")["probes"].at(0);
  EXPECT_EQ(
      store,
      json::parse(
          R"({"probe":"store","protocol":"tcp","source":"10.1.0.2","interval_ns":1000000000,"timeout_ns":500000000,
      "window_ns":10000000000,"traffic_class":0,"port":2049,"pings_per_second":1.0,
      "destination_count":1,"destinations":["10.0.9.1"]})"));
}

TEST_F(PlanTest, SaysWhatPathsCover) {
  const json rdma = planJson("gpu-001")["probes"].at(1);
  EXPECT_EQ(rdma["paths"], 8);
  EXPECT_EQ(rdma["equal_paths_covered"], 2);
  EXPECT_EQ(rdma["pings_per_second"], 8.0);
  EXPECT_THAT(plan("gpu-002/rail1").out, testing::Not(HasSubstr("label"))) << "tcp has none";
}

TEST_F(PlanTest, OfHostsThatProbeNothing) {
  EXPECT_EQ(plan("10.0.9.1").out, "10.0.9.1 probes nothing\n");
  EXPECT_EQ(plan("spare").code, 0);
  EXPECT_EQ(planJson("spare")["probes"], json::array());
}

TEST_F(PlanTest, UnknownHostsExitOne) {
  const Captured run = plan("gpu-01");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("'gpu-01': is not in the pinglist (did you mean 'gpu-001'?)"));
  EXPECT_EQ(plan("10.0.0.77").code, 1);
}

TEST_F(PlanTest, BadFilesAndUsage) {
  EXPECT_EQ(capture(runPlan, {file("bad.yaml", "version: 3\n"), "--host", "a"}).code, 1);
  EXPECT_EQ(capture(runPlan, {directory_ / "none.yaml", "--host", "a"}).code, 2);
  EXPECT_EQ(capture(runPlan, {path_}).code, 2) << "--host is required";
  EXPECT_EQ(capture(runPlan, {path_, "--hots", "a"}).code, 2);
  EXPECT_EQ(capture(runPlan, {"--help"}).code, 0);
}

}  // namespace
}  // namespace pingloom::cli::plan_test
