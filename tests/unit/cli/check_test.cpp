#include <gmock/gmock.h>

#include "captured_run.h"
#include "cli/commands.h"
#include "controller_stub.h"

namespace pingloom::cli::check_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using CheckTest = FilesTest;

const char* const kSmall =
    "version: 1\nprobes:\n  - { name: m, protocol: udp, mesh: ['10.0.0.[1-8]'], interval: 100ms "
    "}\n";
const char* const kHuge =
    "version: 1\nprobes:\n  - { name: m, protocol: udp, mesh: ['10.0.[0-39].[1-250]'] }\n";

TEST_F(CheckTest, AValidPinglistAndItsCost) {
  const std::string path = file("p.yaml", kSmall);
  const Captured run = capture(runCheck, {path});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, path +
                         ": valid pinglist\n"
                         "  probes   1\n"
                         "  hosts    8\n"
                         "  pairs    56\n"
                         "  pings    70/s by the busiest host, 10.0.0.1; 560/s by all\n"
                         "  rows     5.6/s at the controller\n"
                         "  history  918.75 KiB a day\n"
                         "  latency  96 series for Prometheus\n");
  EXPECT_EQ(run.err, "");
}

TEST_F(CheckTest, SaysWhatIsBeyondTheLimits) {
  const Captured run = capture(runCheck, {file("p.yaml", kHuge)});
  EXPECT_EQ(run.code, 0) << "costly is not invalid";
  EXPECT_THAT(run.out, HasSubstr("beyond the limits: the controller gets 9999000 rows/s"));
  EXPECT_THAT(run.out, Not(HasSubstr("pings/s, more than"))) << "9999 pings/s a host are allowed";
}

TEST_F(CheckTest, SaysWhichThresholdsAreNotTheUsual) {
  const std::string probes =
      "probes:\n  - { name: a, protocol: udp, mesh: [10.0.0.1, 10.0.0.2] }\n"
      "  - { name: b, protocol: tcp, mesh: [10.0.0.1, 10.0.0.2] }\n";
  const Captured run = capture(
      runCheck,
      {file("p.yaml", "version: 1\ndefaults: { thresholds: { loss: { warn: 2% } } }\n" + probes)});
  EXPECT_THAT(run.out, HasSubstr("  thresholds of a and 1 more: loss warn 2% crit 50%\n"));
}

TEST_F(CheckTest, SaysByWhichLabelLatencyIsRolledUpAndWhatThatCosts) {
  std::string text = "version: 1\ndefaults: { rollup: rack }\nhosts:\n";
  for (int i = 1; i <= 20; ++i) {
    const std::string number = std::to_string(i);
    text += "  h" + number + ": { address: 10.0.0." + number + ", rack: r" + number + " }\n";
  }
  text += "probes:\n  - { name: a, protocol: udp, mesh: ['10.0.0.[1-20]'] }\n";
  const Captured run = capture(runCheck, {file("p.yaml", text)});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("  rollup of a: rack\n"));
  EXPECT_THAT(run.out, HasSubstr("  latency  9984 series for Prometheus\n"));
  EXPECT_THAT(run.out, HasSubstr("beyond the limits: 0 probes and "));
}

TEST_F(CheckTest, WarnsOfMaintenanceThatIsOver) {
  const std::string path = file("p.yaml",
                                "version: 1\nhosts:\n  gpu-7: { address: 10.0.0.7, maintenance: "
                                "2020-01-01T00:00:00Z }\nprobes: []\n");
  const Captured run = capture(runCheck, {path});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("warning: " + path + ":3:44: the maintenance of host 'gpu-7' "));
}

TEST_F(CheckTest, WarnsWithThePlace) {
  const std::string path = file("p.yaml", "mesh:\n  ib:\n    g: [10.0.0.1, 0.0.0.0]\n");
  const Captured run = capture(runCheck, {path});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("warning: " + path + ":3:19: the placeholder 0.0.0.0"));
  EXPECT_THAT(run.out, HasSubstr("probes   1\n"));
}

class CheckMtuTest : public CheckTest {
 protected:
  static std::string pinglist(int payload, const std::string& protocol = "rdma") {
    return "version: 1\nprobes:\n  - { name: big, protocol: " + protocol +
           ", mesh: ['10.0.0.[1-3]'], payload: " + std::to_string(payload) + " }\n";
  }
  Captured check(const std::string& text) {
    return capture(runCheck, {file("p.yaml", text), "--url", controller.url_});
  }

  struct Stub : ControllerStub {
    void TestBody() override {}
    using ControllerStub::seen;
    using ControllerStub::serve;
    using ControllerStub::url_;
  } controller;
};

TEST_F(CheckMtuTest, WarnsOfPingsThatDoNotFitAnEndpoint) {
  controller.serve("GET /api/v1/hosts", R"({"hosts": [
      {"alive": true, "endpoints": [{"address": "10.0.0.1", "mtu": 4096}]},
      {"alive": true, "endpoints": [{"address": "10.0.0.2", "mtu": 1024},
                                    {"address": "10.0.0.3", "mtu": 2048}]},
      {"alive": false, "endpoints": [{"address": "10.0.0.1", "mtu": 256}]}]})");
  const Captured run = check(pinglist(2048));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("warning: probe big: PINGs of 2048 bytes do not fit at 10.0.0.2, "
                                 "where its RDMA endpoint permits 1024 bytes; make `payload` "
                                 "smaller or the MTU larger\n"));
  EXPECT_THAT(check(pinglist(2049)).out, HasSubstr("1024 bytes, nor at 1 more addresses; make"));
  EXPECT_THAT(check(pinglist(1024)).out, Not(HasSubstr("warning")));
  EXPECT_THAT(check(pinglist(2049, "udp")).out, Not(HasSubstr("warning")));
  EXPECT_THAT(check(pinglist(4097)).out, HasSubstr("PINGs of 4097 bytes fit nowhere"));
}

TEST_F(CheckMtuTest, AsksOnlyIfThePingsMayBeTooLong) {
  EXPECT_EQ(check(pinglist(256)).code, 0);
  EXPECT_TRUE(controller.seen().empty());
  EXPECT_EQ(check(pinglist(257)).code, 2) << "the controller that was named does not answer it";
  const std::string path = file("p.yaml", pinglist(257));
  ::setenv("PINGLOOM_URL", "http://127.0.0.1:1", 1);
  const Captured run = capture(runCheck, {path});
  ::unsetenv("PINGLOOM_URL");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("note: the path MTUs of the hosts are not checked, because no "
                                 "controller answers ("));
}

TEST_F(CheckTest, AnInvalidPinglistExitsOne) {
  const std::string path = file("p.yaml", "version: 1\nprobess: []\n");
  const Captured run = capture(runCheck, {path});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, path + ":2:1: unknown key 'probess' (did you mean 'probes'?)\n");
}

TEST_F(CheckTest, AnAgentsConfiguration) {
  const std::string good = file("agent.yaml", "controller: 127.0.0.1:20711\nhost: a\n");
  const Captured run = capture(runCheck, {good});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, good + ": valid configuration of an agent\n");
  const std::string bad = file("bad.yaml", "controller: 127.0.0.1:20711\nprot: 3\n");
  const Captured refused = capture(runCheck, {bad});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr(bad + ":2:1: unknown key 'prot'"));
}

TEST_F(CheckTest, AControllersConfiguration) {
  const std::string good = file("controller.yaml", "pinglist: p.yaml\nstate_dir: state\n");
  const Captured run = capture(runCheck, {good});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, good + ": valid configuration of a controller\n");
  const std::string bad = file("bad.yaml", "pinglist: p.yaml\nredsi: embedded\n");
  const Captured refused = capture(runCheck, {bad});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr(bad + ":2:1: unknown key 'redsi' (did you mean 'redis'?)"));
}

TEST_F(CheckTest, ATranslatorsConfiguration) {
  const std::string good = file("translator.yaml", "address: 10.0.0.5\ncollector: 10.0.0.9\n");
  const Captured run = capture(runCheck, {good});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, good + ": valid configuration of a translator\n");
  const std::string bad = file("bad.yaml", "collector: 10.0.0.9\nreporters: [{ id: x }]\n");
  const Captured refused = capture(runCheck, {bad});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr(bad + ":2:"));
}

TEST_F(CheckTest, ACollectorsConfiguration) {
  const std::string good =
      file("collector.yaml", "address: 10.0.0.5\ncontroller: http://10.0.0.9:8080\n");
  const Captured run = capture(runCheck, {good});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, good + ": valid configuration of a collector\n");
  const std::string bad = file("bad.yaml", "address: 10.0.0.5\nagenst: [10.0.0.1]\n");
  const Captured refused = capture(runCheck, {bad});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr(bad + ":2:1: unknown key 'agenst' (did you mean 'agents'?)"));
}

TEST_F(CheckTest, TheLimitsComeFromTheControllersConfiguration) {
  const std::string config =
      file("controller.yaml",
           "pinglist: p.yaml\nstate_dir: state\nlimits: { pings_per_second_per_host: 69 }\n");
  const Captured run = capture(runCheck, {file("p.yaml", kSmall), "--config", config});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("beyond the limits: host 10.0.0.1 sends 70 pings/s, more than the "
                                 "limit pings_per_second_per_host = 69"));
}

TEST_F(CheckTest, FilesThatAreNeither) {
  EXPECT_EQ(capture(runCheck, {file("empty.yaml", "")}).code, 1);
  EXPECT_EQ(capture(runCheck, {file("list.yaml", "- a\n")}).code, 1);
  const Captured other = capture(runCheck, {file("other.yaml", "a: 1\n")});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr(":1:1: neither a pinglist nor a configuration"));
  const Captured near = capture(runCheck, {file("near.yaml", "contoller: a:1\n")});
  EXPECT_EQ(near.code, 1);
  EXPECT_THAT(near.err, HasSubstr("(did you mean 'controller'?)"));
}

TEST_F(CheckTest, WhatItCannotCheckExitsTwo) {
  const Captured missing = capture(runCheck, {directory_ / "none.yaml"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("No such file"));
  EXPECT_EQ(capture(runCheck, {directory_}).code, 2);
  EXPECT_EQ(capture(runCheck, {}).code, 2);
  EXPECT_EQ(capture(runCheck, {"--nonsense"}).code, 2);
  const Captured limits =
      capture(runCheck, {file("p.yaml", kSmall), "--config", directory_ / "none.yaml"});
  EXPECT_EQ(limits.code, 2);
  EXPECT_THAT(limits.err, HasSubstr("No such file"));
}

TEST_F(CheckTest, HelpAndVersion) {
  EXPECT_THAT(capture(runCheck, {"--help"}).out, HasSubstr("Usage: pingloom check FILE"));
  EXPECT_EQ(capture(runCheck, {"--help"}).code, 0);
  EXPECT_EQ(capture(runCheck, {"--version"}).code, 0);
}

}  // namespace
}  // namespace pingloom::cli::check_test
