// Batches and reports as they come from outside: taken apart, checked, refused.
#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "controller/control/batch_marks.h"
#include "controller/model/batch_frame.h"
#include "controller/model/report_reader.h"
#include "unit/controller/support.h"

namespace pingloom::controller::batch_test {
namespace {

using test::batchOf;
using test::goodRow;
using test::ip;
using test::reportOf;
using testing::HasSubstr;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;
constexpr std::uint64_t kIndex = kUtc / (10 * kSecond) - 1;

wire::Report goodReport() {
  return reportOf("udp", "10.0.0.1", kIndex, {goodRow("10.0.0.2"), goodRow("fd00::2")});
}

TEST(BatchFrame, ComesApartWithoutBeingBuilt) {
  const std::string frame = batchOf({5, 7}, {goodReport(), goodReport()});
  ASSERT_EQ(batchKind(frame), BatchKind::kBatch);
  const auto parts = splitBatch(frame);
  ASSERT_TRUE(parts) << parts.error().text();
  EXPECT_EQ(parts->id, (wire::BatchId{5, 7}));
  ASSERT_EQ(parts->reports.size(), 2U);
  EXPECT_EQ(parts->reports[1], goodReport().SerializeAsString());
  ReportView view;
  ASSERT_TRUE(view.read(parts->reports[0]));
  EXPECT_EQ(view.head().probe(), "udp");
  EXPECT_EQ(view.head().window_index(), kIndex);
  ASSERT_EQ(view.rows().size(), 2U);
  EXPECT_EQ((*view.row(1))->destination, ip("fd00::2").wire());
  EXPECT_EQ((*view.row(0))->destination, ip("10.0.0.2").wire());
}

TEST(BatchFrame, OtherMessagesAreNone) {
  wire::AgentMessage message;
  message.mutable_goodbye()->set_incarnation(1);
  EXPECT_EQ(batchKind(message.SerializeAsString()), BatchKind::kNone);
  EXPECT_EQ(batchKind(""), BatchKind::kNone);
  EXPECT_FALSE(splitBatch(message.SerializeAsString()));
}

TEST(BatchFrame, RefusesHostileFrames) {
  const std::string good = batchOf({5, 7}, {goodReport()});
  const struct {
    const char* what;
    std::string frame;
  } table[] = {
      {"nothing behind the tag", good.substr(0, 1)},
      {"cut short", good.substr(0, good.size() - 1)},
      {"more behind it", good + "x"},
      {"a length that never ends", std::string("\x1a") + std::string(11, '\xff')},
      {"longer than the frame", std::string("\x1a\xff\xff\xff\x7f") + "abc"},
      {"a group", std::string("\x1a\x01\x0b", 3)},
      {"no sequence", batchOf({5, 0}, {})},
      {"no incarnation", batchOf({0, 5}, {})},
      {"sequence beyond what SQLite holds", batchOf({5, ~0ULL}, {})},
      {"incarnation beyond what SQLite holds", batchOf({~0ULL, 5}, {})},
  };
  for (const auto& line : table) EXPECT_FALSE(splitBatch(line.frame)) << line.what;
}

// The identity is what has to be known: then the batch can be acknowledged, and never comes again.
TEST(BatchFrame, WhatIsWrongBehindTheIdentityIsLeftOut) {
  const auto framed = [](const std::string& body) {
    std::string frame = "\x1a";
    std::size_t length = body.size();
    for (; length >= 0x80; length >>= 7) frame += static_cast<char>((length & 0x7f) | 0x80);
    frame += static_cast<char>(length);
    return frame + body;
  };
  const std::string identity = {0x08, 0x05, 0x10, 0x07};  // incarnation 5, sequence 7
  std::string many = identity;
  for (std::size_t i = 0; i <= kMaxReportsInBatch; ++i) many += std::string("\x1a\x00", 2);
  const auto too_many = splitBatch(framed(many));
  ASSERT_TRUE(too_many);
  EXPECT_EQ(too_many->reports.size(), kMaxReportsInBatch);
  EXPECT_THAT(too_many->fault, HasSubstr("too many"));
  const auto broken = splitBatch(framed(identity + std::string("\x1a\x00\x1a\x7f", 4)));
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->id, (wire::BatchId{5, 7}));
  EXPECT_EQ(broken->reports.size(), 1U);
  EXPECT_THAT(broken->fault, HasSubstr("malformed"));
}

TEST(BatchFrame, AnyBytesAreTakenOrRefused) {
  google::protobuf::SetLogHandler(nullptr);  // as the controller does: it would log each of them
  std::mt19937_64 random(11);
  const std::string good = batchOf({5, 7}, {goodReport(), goodReport()});
  ReportView view;
  for (int i = 0; i < 20'000; ++i) {
    std::string frame = good;
    for (int j = 0; j < 3; ++j) frame[random() % frame.size()] = static_cast<char>(random());
    const auto parts = splitBatch(frame);
    if (!parts) continue;
    for (const auto report : parts->reports) {
      if (!view.read(report)) continue;
      (void)readHead(view.head());
      IpAddress destination;
      Row row;
      for (std::size_t j = 0; j < view.rows().size(); ++j) {
        const auto message = view.row(j);
        if (message) (void)readRow(**message, destination, row);
      }
    }
  }
}

TEST(ReportReader, TakesAGoodHead) {
  const auto head = readHead(goodReport());
  ASSERT_TRUE(head) << head.error().text();
  EXPECT_EQ(head->source, ip("10.0.0.1"));
  EXPECT_EQ(head->start_utc, static_cast<Nanos>(kIndex) * 10 * kSecond);
  EXPECT_EQ(head->window, 10 * kSecond);
  EXPECT_EQ(head->clock, ClockSource::kKernel);
}

TEST(ReportReader, RefusesBadHeads) {
  const struct {
    const char* what;
    std::function<void(wire::Report&)> change;
  } table[] = {
      {"no probe", [](auto& r) { r.set_probe(""); }},
      {"a probe name that is none", [](auto& r) { r.set_probe("a:b"); }},
      {"no source", [](auto& r) { r.clear_source(); }},
      {"a source of five bytes", [](auto& r) { r.set_source("12345"); }},
      {"no protocol", [](auto& r) { r.clear_protocol(); }},
      {"a protocol that is none", [](auto& r) { r.set_protocol(wire::ProbeProtocol(9)); }},
      {"no clock", [](auto& r) { r.set_clock(0); }},
      {"a clock that is none", [](auto& r) { r.set_clock(4); }},
      {"a long device", [](auto& r) { r.set_device(std::string(65, 'x')); }},
      {"no window", [](auto& r) { r.set_window_ns(0); }},
      {"a negative window", [](auto& r) { r.set_window_ns(-1); }},
      {"a window of more than an hour", [](auto& r) { r.set_window_ns(kHour + 1); }},
      {"a window at the end of time", [](auto& r) { r.set_window_index(~0ULL); }},
      {"a window of a nanosecond, far away",
       [](auto& r) {
         r.set_window_ns(1);
         r.set_window_index(INT64_MAX);
       }},
  };
  for (const auto& line : table) {
    wire::Report report = goodReport();
    line.change(report);
    EXPECT_FALSE(readHead(report)) << line.what;
  }
}

TEST(ReportReader, AWindowMayBeAheadByNoMoreThanClocksAre) {
  wire::Report report = goodReport();
  report.set_window_index(kIndex + 6);
  EXPECT_FALSE(tooFarAhead(*readHead(report), kUtc));
  report.set_window_index(kIndex + 7);
  EXPECT_TRUE(tooFarAhead(*readHead(report), kUtc));
}

TEST(ReportReader, TakesAGoodRow) {
  IpAddress destination;
  Row row;
  row.anomalous.fill(9);
  wire::Row in = goodRow("10.0.0.2", 9'000);
  in.add_anomalous(0);
  in.add_anomalous(2);
  ASSERT_TRUE(readRow(viewOf(in), destination, row));
  EXPECT_EQ(destination, ip("10.0.0.2"));
  EXPECT_EQ(row.received, 10U);
  EXPECT_EQ(row.network.p50, 9'004U);
  EXPECT_EQ(row.network.count, 10U);
  EXPECT_EQ(row.jitter_ns, 1U);
  EXPECT_EQ(row.anomalous, (std::array<std::uint32_t, kAnomalies>{0, 2, 0, 0}));
  ASSERT_TRUE(readRow(viewOf(test::lossRow("10.0.0.3")), destination, row));
  EXPECT_EQ(row.network.count, 0U) << "nothing of the row before stays";
  EXPECT_FALSE(row.jitter_ns);
  EXPECT_EQ(row.anomalous[1], 0U);
}

TEST(ReportReader, RefusesRowsThatContradictThemselves) {
  const struct {
    const char* what;
    std::function<void(wire::Row&)> change;
  } table[] = {
      {"no destination", [](auto& r) { r.clear_destination(); }},
      {"one more sent than there are verdicts", [](auto& r) { r.set_sent(11); }},
      {"one more verdict than were sent", [](auto& r) { r.set_lost(1); }},
      {"verdicts that add up only modulo 2^32",
       [](auto& r) {
         r.set_lost(~0U);
         r.set_refused(1);
       }},
      {"more ACKs lost than PONGs received", [](auto& r) { r.set_ack_lost(11); }},
      {"more samples than were received",
       [](auto& r) {
         r.set_received(9);
         r.set_lost(1);
       }},
      {"an unknown reason of anomaly",
       [](auto& r) {
         for (int i = 0; i < 5; ++i) r.add_anomalous(0);
       }},
      {"more samples than a set holds",
       [](auto& r) {
         for (int i = 0; i < 65; ++i) r.mutable_rtt()->add_sample_deltas(1);
       }},
      {"a bucket that is none",
       [](auto& r) {
         r.mutable_rtt()->clear_sample_deltas();
         r.mutable_rtt()->add_bucket_deltas(5'000);
         r.mutable_rtt()->add_bucket_counts(1);
       }},
  };
  for (const auto& line : table) {
    wire::Row in = goodRow("10.0.0.2");
    line.change(in);
    IpAddress destination;
    Row row;
    EXPECT_FALSE(readRow(viewOf(in), destination, row)) << line.what;
  }
}

TEST(BatchMarks, SortsWhatArrives) {
  BatchMarks marks({{"a", {5, 3}}});
  using Verdict = BatchMarks::Verdict;
  EXPECT_EQ(marks.verdict("a", {5, 3}), Verdict::kCommitted);
  EXPECT_EQ(marks.verdict("a", {4, 900}), Verdict::kCommitted) << "an older incarnation";
  EXPECT_EQ(marks.verdict("a", {5, 4}), Verdict::kNew);
  EXPECT_EQ(marks.verdict("b", {1, 1}), Verdict::kNew);
  marks.submitted("a", {5, 4});
  marks.submitted("a", {6, 1});
  EXPECT_EQ(marks.verdict("a", {5, 4}), Verdict::kOnTheWay);
  marks.committed("a", {5, 4});
  EXPECT_EQ(marks.verdict("a", {5, 4}), Verdict::kCommitted);
  EXPECT_EQ(marks.verdict("a", {6, 1}), Verdict::kOnTheWay);
  marks.failed("a");
  EXPECT_EQ(marks.verdict("a", {6, 1}), Verdict::kNew) << "it has to come again";
  EXPECT_EQ(marks.committedUpTo("a"), (wire::BatchId{5, 4}));
  EXPECT_EQ(marks.committedUpTo("b"), wire::BatchId{});
}

}  // namespace
}  // namespace pingloom::controller::batch_test
