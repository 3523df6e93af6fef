#include "controller/model/row_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "common/vocabulary.h"
#include "controller/model/limits.h"

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
  RowJson(probe, source).append(row, state, out);
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
  RowJson(probe, exampleSource()).append(Row{}, PairState::kOk, out, {.path = 3});
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
  EXPECT_NE(json({}, source, Row{}, PairState::kOk).find(R"("device":"a\"b\\c\nd")"),
            std::string::npos);
}

using Json = nlohmann::ordered_json;

// Takes the extremes and numbers of every length.
std::uint64_t anyNumber(std::mt19937_64& random, unsigned bits = 64) {
  if (random() % 4 == 0) return 0;
  if (random() % 8 == 0) return ~std::uint64_t{0} >> (64 - bits);
  return random() >> (64 - bits + random() % bits);
}

Row anyRow(std::mt19937_64& random) {
  Row row;
  const auto count = [&] { return static_cast<std::uint32_t>(anyNumber(random, 32)); };
  for (const auto member : kRowCounts) row.*member = count();
  row.misfit = count();
  row.skipped = count();
  if (random() % 2 == 0) row.inbound = count();
  for (std::uint32_t& reason : row.anomalous) reason = count();
  for (const auto part : kRowParts) {
    const auto number = [&] { return anyNumber(random); };
    row.*part = {number(), number(), number(), number(), number(), number(), number()};
  }
  if (random() % 2 == 0) row.jitter_ns = anyNumber(random);
  return row;
}

void putPart(Json& out, const char* key, const Summary& part, bool rolled_up) {
  if (part.count == 0) return;
  Json& made = out[key];
  if (!rolled_up) {
    made["min"] = part.min;
    made["mean"] = part.mean;
  }
  made["p50"] = part.p50;
  made["p95"] = part.p95;
  made["p99"] = part.p99;
  made["max"] = part.max;
}

void putCounts(Json& out, const Row& row) {
  out["sent"] = row.sent;
  out["received"] = row.received;
  out["lost"] = row.lost;
  out["refused"] = row.refused;
  out["unreachable"] = row.unreachable;
  out["ack_lost"] = row.ack_lost;
  out["duplicate"] = row.duplicate;
  out["late"] = row.late;
  if (row.misfit != 0) out["misfit"] = row.misfit;
  if (row.skipped != 0) out["skipped"] = row.skipped;
  if (row.inbound) out["inbound"] = *row.inbound;
  out["anomalous"] = Json::object();
  for (std::size_t i = 0; i < kAnomalies; ++i) {
    if (row.anomalous[i] != 0) out["anomalous"][std::string(kAnomalyNames[i])] = row.anomalous[i];
  }
}

// Returns the same object as a library writes it.
std::string expectedJson(const plan::ProbeSpec& probe, const SourceRows& source, const Row& row,
                         PairState state, const RowJsonOptions& options) {
  Json out;
  out["start"] = formatUtc(source.window_start_utc);
  out["end"] = formatUtc(source.endUtc());
  out["state"] = name(state);
  if (options.judged) {
    out["severity"] = name(options.judged->severity);
    if (options.judged->severity >= Severity::kSlow && options.baseline != nullptr) {
      out["because"] = becauseOf(figuresOf(row), *options.judged, *options.baseline);
    }
  }
  putCounts(out, row);
  putPart(out, "network_ns", row.network, options.rolled_up);
  putPart(out, "responder_ns", row.responder, options.rolled_up);
  putPart(out, "prober_ns", row.prober, options.rolled_up);
  putPart(out, "rtt_ns", row.rtt, options.rolled_up);
  if (row.jitter_ns) out["jitter_ns"] = *row.jitter_ns;
  out["clock"] = name(source.clock);
  if (!source.device.empty()) out["device"] = source.device;
  out["protocol"] = name(probe.protocol);
  if (options.path != 0) out["path"] = options.path;
  return out.dump();
}

TEST(RowJson, AnyRowIsWrittenAsALibraryWritesIt) {
  std::mt19937_64 random(5);
  Baseline baseline;
  plan::ProbeSpec probe;
  for (int i = 0; i < 5'000; ++i) {
    const Row row = anyRow(random);
    SourceRows source;
    source.window_start_utc = static_cast<Nanos>(random() % 4'000'000'000) * kSecond +
                              static_cast<Nanos>(random() % 2 * (random() % kSecond));
    source.window = static_cast<Nanos>(1 + random() % kHour);
    source.clock = static_cast<ClockSource>(1 + random() % kClockSourceNames.size());
    const std::size_t device = random() % 3 == 0 ? 0 : random() % 65;
    for (std::size_t at = 0; at < device; ++at) source.device += " \"\\\n/:_z\x01"[random() % 9];
    probe.protocol = static_cast<Protocol>(1 + random() % kProtocolNames.size());
    for (std::uint64_t& figure : baseline) figure = anyNumber(random, 40);
    RowJsonOptions options;
    options.path = random() % 3 == 0 ? static_cast<std::uint32_t>(anyNumber(random, 7)) : 0;
    options.rolled_up = random() % 4 == 0;
    if (random() % 3 != 0) {
      options.judged = Judged{static_cast<Severity>(random() % kSeverityNames.size()),
                              static_cast<std::uint8_t>(random())};
    }
    if (random() % 2 == 0) options.baseline = &baseline;
    const auto state = static_cast<PairState>(random() % kPairStateNames.size());
    std::string out = "before";
    RowJson(probe, source).append(row, state, out, options);
    ASSERT_EQ(out, "before" + expectedJson(probe, source, row, state, options));
  }
}

}  // namespace
}  // namespace pingloom::controller::row_json_test
