#include "controller/model/row_json.h"

#include <gtest/gtest.h>

#include <random>

namespace pingloom::controller::row_json_test {
namespace {

Row exampleRow() {
  Row row;
  row.sent = 10;
  row.received = 9;
  row.lost = 1;
  row.ack_lost = 2;
  row.duplicate = 3;
  row.late = 4;
  row.anomalous[1] = 5;
  row.anomalous[3] = 6;
  row.network = {7, 4'071, 4'300, 4'210, 5'000, 5'100, 5'102};
  row.rtt = {9, 20'000, 21'000, 20'900, 22'000, 22'100, 18'446'744'073'709'551'615U};
  row.jitter_ns = 87;
  return row;
}

SourceRows exampleSource() {
  SourceRows source;
  source.window_start_utc = 1'795'230'720 * kSecond;
  source.window = 10 * kSecond;
  source.device = "mlx5_0";
  return source;
}

std::string json(const plan::ProbeSpec& probe, const SourceRows& source, const Row& row,
                 PairState state) {
  std::string out;
  appendRowJson(probe, source, row, state, out);
  return out;
}

TEST(RowJson, HasEveryFieldInItsPlaceAndLeavesOutWhatWasNotMeasured) {
  plan::ProbeSpec probe;
  probe.protocol = Protocol::kUdp;
  EXPECT_EQ(json(probe, exampleSource(), exampleRow(), PairState::kLoss),
            R"({"start":"2026-11-21T03:12:00Z","end":"2026-11-21T03:12:10Z","state":"loss",)"
            R"("sent":10,"received":9,"lost":1,"refused":0,"unreachable":0,)"
            R"("ack_lost":2,"duplicate":3,"late":4,"anomalous":{"no_timestamp":5,"clock_step":6},)"
            R"("network_ns":{"min":4071,"mean":4300,"p50":4210,"p95":5000,"p99":5100,"max":5102},)"
            R"("rtt_ns":{"min":20000,"mean":21000,"p50":20900,"p95":22000,"p99":22100,)"
            R"("max":18446744073709551615},)"
            R"("jitter_ns":87,"clock":"kernel","device":"mlx5_0","protocol":"udp"})");
}

TEST(RowJson, NamesThePathOfSeveral) {
  plan::ProbeSpec probe;
  probe.protocol = Protocol::kRdma;
  std::string out;
  appendRowJson(probe, exampleSource(), Row{}, PairState::kOk, out, 3);
  EXPECT_TRUE(out.ends_with(R"("protocol":"rdma","path":3})")) << out;
}

TEST(RowJson, LeavesOutEmptyPartsAndAnUnknownDevice) {
  Row row;
  row.sent = row.unreachable = 3;
  SourceRows source = exampleSource();
  source.device.clear();
  plan::ProbeSpec probe;
  probe.protocol = Protocol::kTcp;
  EXPECT_EQ(json(probe, source, row, PairState::kAgentDown),
            R"({"start":"2026-11-21T03:12:00Z","end":"2026-11-21T03:12:10Z","state":"agent-down",)"
            R"("sent":3,"received":0,"lost":0,"refused":0,"unreachable":3,)"
            R"("ack_lost":0,"duplicate":0,"late":0,"anomalous":{},)"
            R"("clock":"kernel","protocol":"tcp"})");
}

TEST(RowJson, NothingInADeviceNameEndsTheString) {
  SourceRows source = exampleSource();
  source.device = "a\"b\\c\nd";
  EXPECT_NE(json({}, source, Row{}, PairState::kOk).find(R"("device":"a\"b\\c\u000ad")"),
            std::string::npos);
}

TEST(RowJson, WritesTimesAsFormatUtcDoes) {
  std::mt19937_64 random(5);
  SourceRows source = exampleSource();
  for (int i = 0; i < 2'000; ++i) {
    // To the year 2260, whole seconds and milliseconds; all leap days of that time are near.
    const auto seconds = static_cast<Nanos>(random() % 9'151'488'000);
    source.window_start_utc =
        seconds * kSecond + (i % 2 == 0 ? 0 : static_cast<Nanos>(random() % 1000) * kMillisecond);
    const std::string out = json({}, source, Row{}, PairState::kOk);
    const std::string expected = "{\"start\":\"" + formatUtc(source.window_start_utc) + "\"";
    ASSERT_EQ(out.substr(0, expected.size()), expected);
  }
  for (const Nanos day :
       std::initializer_list<Nanos>{951'782'400, 951'868'800, 4'107'542'400, 1'709'164'800}) {
    source.window_start_utc = day * kSecond;
    EXPECT_NE(json({}, source, Row{}, PairState::kOk).find(formatUtc(day * kSecond)),
              std::string::npos);
  }
}

}  // namespace
}  // namespace pingloom::controller::row_json_test
