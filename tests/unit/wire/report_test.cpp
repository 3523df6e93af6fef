#include "wire/report.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "wire/report_reader.h"
#include "wire/report_reply.h"
#include "wire/report_writer.h"

namespace pingloom::wire::report_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes kKey = {10, 0, 0, 1, 7};
const Bytes kValue = {0xAA, 0xBB, 0xCC};
const Bytes kFive = {0, 0, 0, 0, 0, 0, 0, 5};

ReportItem keyWrite() {
  ReportItem report;
  report.table = 0x0102;
  report.key = kKey;
  report.value = kValue;
  return report;
}

ReportItem increment() {
  ReportItem report;
  report.operation = ReportOperation::kKeyIncrement;
  report.table = 3;
  report.key = std::span(kKey).first(4);
  report.value = kFive;
  return report;
}

ReportHead exampleHead() {
  ReportHead head;
  head.flags = kReportKeeps;
  head.reporter = 0x01020304;
  head.incarnation = 0xA1B2C3D4;
  head.sequence = 7;
  head.skipped = 2;
  head.oldest_utc = 0x1122334455667788;
  return head;
}

Bytes datagramOf(const std::vector<ReportItem>& reports) {
  std::array<std::uint8_t, kMaxReportDatagram> buffer;
  buffer.fill(0xEE);
  ReportWriter writer(buffer);
  for (const ReportItem& report : reports) writer.add(report);
  const auto bytes = writer.finish(exampleHead());
  return {bytes.begin(), bytes.end()};
}

ReportRefusal opened(const Bytes& bytes) {
  ReportReader reader;
  return reader.open(bytes);
}

// Returns why the first report of an acceptable datagram is refused.
ReportRefusal firstRefusal(const Bytes& bytes) {
  ReportReader reader;
  EXPECT_EQ(reader.open(bytes), ReportRefusal::kNone);
  EXPECT_TRUE(reader.next());
  return reader.refusal();
}

// The example of docs/report-format.md.
TEST(Report, HasTheDocumentedBytes) {
  const Bytes want = {0x50, 0x54, 1,    4,    0,    2,    0,    0x48,  // head
                      1,    2,    3,    4,    0xA1, 0xB2, 0xC3, 0xD4,  //
                      0,    0,    0,    7,    0,    0,    0,    2,     //
                      0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,  //
                      1,    5,    1,    2,    5,    0,    0,    3,     // key-write
                      10,   0,    0,    1,    7,    0,    0,    0,     //
                      0xAA, 0xBB, 0xCC, 0,                             //
                      3,    5,    0,    3,    4,    0,    0,    8,     // increment by 5
                      10,   0,    0,    1,                             //
                      0,    0,    0,    0,    0,    0,    0,    5};
  EXPECT_EQ(datagramOf({keyWrite(), increment()}), want);
}

TEST(Report, ReadsWhatWasWritten) {
  const auto bytes = datagramOf({keyWrite(), increment()});
  ReportReader reader;
  ASSERT_EQ(reader.open(bytes), ReportRefusal::kNone);
  EXPECT_EQ(reader.head().reports, 2);
  EXPECT_EQ(reader.head().length, bytes.size());
  EXPECT_EQ(reader.head().reporter, 0x01020304U);
  EXPECT_EQ(reader.head().incarnation, 0xA1B2C3D4U);
  EXPECT_EQ(reader.head().sequence, 7U);
  EXPECT_EQ(reader.head().skipped, 2U);
  EXPECT_EQ(reader.head().oldest_utc, 0x1122334455667788U);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.refusal(), ReportRefusal::kNone);
  EXPECT_EQ(reader.report().table, 0x0102);
  EXPECT_EQ(Bytes(reader.report().key.begin(), reader.report().key.end()), kKey);
  EXPECT_EQ(Bytes(reader.report().value.begin(), reader.report().value.end()), kValue);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.report().operation, ReportOperation::kKeyIncrement);
  EXPECT_EQ(reader.increment(), 5U);
  EXPECT_FALSE(reader.next());
}

TEST(Report, FillsADatagramAndNoMore) {
  std::array<std::uint8_t, kMaxReportDatagram> buffer{};
  ReportWriter writer(buffer);
  while (writer.hasRoom(kKey.size(), kValue.size())) writer.add(keyWrite());
  EXPECT_EQ(writer.reports(), (kMaxReportDatagram - kReportHeadBytes) / 20);
  EXPECT_LE(writer.bytes(), buffer.size());
  ReportReader reader;
  ASSERT_EQ(reader.open(writer.finish({})), ReportRefusal::kNone);
  unsigned seen = 0;
  while (reader.next()) ++seen;
  EXPECT_EQ(seen, writer.reports());
  writer.clear();
  EXPECT_TRUE(writer.empty());
  EXPECT_TRUE(writer.hasRoom(kMaxReportKey, kMaxReportValue));
}

TEST(Report, RefusesABrokenDatagramAsAWhole) {
  const auto good = datagramOf({keyWrite(), increment()});
  const auto with = [&](std::size_t at, std::uint8_t value) {
    auto bad = good;
    bad[at] = value;
    return opened(bad);
  };
  EXPECT_EQ(opened({}), ReportRefusal::kShort);
  EXPECT_EQ(opened(Bytes(good.begin(), good.begin() + 31)), ReportRefusal::kShort);
  EXPECT_EQ(with(0, 0), ReportRefusal::kMagic);
  EXPECT_EQ(with(2, 2), ReportRefusal::kVersion);
  EXPECT_EQ(with(3, 8), ReportRefusal::kVersion);
  EXPECT_EQ(with(5, 1), ReportRefusal::kCount);
  EXPECT_EQ(with(5, 3), ReportRefusal::kCount);
  EXPECT_EQ(with(7, 71), ReportRefusal::kLength);
  EXPECT_EQ(with(33, 0), ReportRefusal::kLength) << "a report of no words";
  EXPECT_EQ(with(33, 4), ReportRefusal::kLength) << "fewer words than key and value need";
  EXPECT_EQ(with(33, 6), ReportRefusal::kLength);
  EXPECT_EQ(with(36, 40), ReportRefusal::kLength) << "a key beyond the report";
  EXPECT_EQ(with(39, 255), ReportRefusal::kLength) << "a value beyond the report";
  EXPECT_EQ(with(53, 255), ReportRefusal::kLength) << "a report beyond the datagram";
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(opened(Bytes(good.begin(), good.begin() + length)), ReportRefusal::kNone) << length;
  }
  auto longer = good;
  longer.push_back(0);
  EXPECT_EQ(opened(longer), ReportRefusal::kLength);
}

// Reports of one size are found in another way than others.
TEST(Report, ReadsReportsOfOneSizeAndOfSeveral) {
  ReportItem small = increment();  // 20 bytes, as keyWrite() has
  ReportItem large = keyWrite();   // twice as much
  const Bytes value(23, 0x55);
  large.value = value;
  const std::vector<std::vector<ReportItem>> all = {{keyWrite()},
                                                    {keyWrite(), small, keyWrite()},
                                                    {keyWrite(), small, large},
                                                    {large, small, keyWrite()},
                                                    {large, large}};
  for (const auto& reports : all) {
    const auto good = datagramOf(reports);
    ReportReader reader;
    ASSERT_EQ(reader.open(good), ReportRefusal::kNone);
    for (const ReportItem& report : reports) {
      ASSERT_TRUE(reader.next());
      ASSERT_EQ(reader.refusal(), ReportRefusal::kNone);
      EXPECT_EQ(reader.report().table, report.table);
      EXPECT_EQ(reader.report().value.size(), report.value.size());
    }
    EXPECT_FALSE(reader.next());
    auto bad = good;
    bad[5] = static_cast<std::uint8_t>(reports.size() + 1);
    EXPECT_EQ(reader.open(bad), ReportRefusal::kCount);
    bad = good;
    bad[bad.size() - reportBytes(reports.back().key.size(), reports.back().value.size()) + 7] += 4;
    EXPECT_EQ(reader.open(bad), ReportRefusal::kLength) << "the last value";
  }
}

TEST(Report, NeedsAtLeastOneReport) {
  auto bytes = datagramOf({keyWrite()});
  bytes.resize(kReportHeadBytes);
  bytes[5] = 0;
  bytes[7] = kReportHeadBytes;
  EXPECT_EQ(opened(bytes), ReportRefusal::kCount);
}

TEST(Report, LeavesTheSealOut) {
  auto bytes = datagramOf({keyWrite()});
  bytes[3] |= kReportSealed;
  EXPECT_EQ(opened(bytes), ReportRefusal::kLength) << "the report ends within the seal";
  bytes.resize(bytes.size() + kReportSealBytes);
  bytes[7] = static_cast<std::uint8_t>(bytes.size());
  ReportReader reader;
  ASSERT_EQ(reader.open(bytes), ReportRefusal::kNone);
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  bytes.resize(kReportHeadBytes + 4);
  bytes[7] = static_cast<std::uint8_t>(bytes.size());
  EXPECT_EQ(opened(bytes), ReportRefusal::kLength) << "no room for a seal";
}

TEST(Report, RefusesABadReportByItself) {
  const auto refused = [](auto change) {
    ReportItem report = increment();
    change(report);
    const auto bytes = datagramOf({report, keyWrite()});
    ReportReader reader;
    EXPECT_EQ(reader.open(bytes), ReportRefusal::kNone);
    EXPECT_TRUE(reader.next());
    const ReportRefusal why = reader.refusal();
    EXPECT_TRUE(reader.next());
    EXPECT_EQ(reader.refusal(), ReportRefusal::kNone) << "the next report counts";
    return why;
  };
  const Bytes long_key(41, 1);
  const Bytes too_much = {0, 1, 0, 0, 0, 0, 0, 0};
  const auto operation = [](std::uint8_t number) {
    return
        [number](ReportItem& report) { report.operation = static_cast<ReportOperation>(number); };
  };
  EXPECT_EQ(refused(operation(0)), ReportRefusal::kOperation);
  EXPECT_EQ(refused(operation(5)), ReportRefusal::kOperation);
  EXPECT_EQ(refused([](ReportItem& report) { report.key = {}; }), ReportRefusal::kKeyLength);
  EXPECT_EQ(refused([&](ReportItem& report) { report.key = long_key; }), ReportRefusal::kKeyLength);
  EXPECT_EQ(refused([](ReportItem& report) { report.value = {}; }), ReportRefusal::kValueLength);
  EXPECT_EQ(refused([](ReportItem& report) { report.value = kValue; }),
            ReportRefusal::kValueLength);
  EXPECT_EQ(refused([&](ReportItem& report) { report.value = too_much; }),
            ReportRefusal::kIncrement);
  EXPECT_EQ(refused([](ReportItem& report) { report.hop = report.hops = 5; }), ReportRefusal::kHop);
}

TEST(Report, AnAppendMayNameItsList) {
  ReportItem append;
  append.operation = ReportOperation::kAppend;
  append.value = kValue;
  EXPECT_EQ(firstRefusal(datagramOf({append})), ReportRefusal::kNone);
  append.key = std::span(kKey).first(4);
  EXPECT_EQ(firstRefusal(datagramOf({append})), ReportRefusal::kNone);
  append.key = kKey;
  EXPECT_EQ(firstRefusal(datagramOf({append})), ReportRefusal::kKeyLength);
}

TEST(Report, EveryReasonHasAName) {
  for (std::size_t i = 0; i < kReportRefusals; ++i) {
    EXPECT_FALSE(name(static_cast<ReportRefusal>(i)).empty()) << i;
  }
  EXPECT_TRUE(refusesDatagram(ReportRefusal::kOld));
  EXPECT_FALSE(refusesDatagram(ReportRefusal::kOperation));
  EXPECT_FALSE(refusesDatagram(ReportRefusal::kNone));
}

ReportReply nack() {
  ReportReply reply;
  reply.type = ReportReplyType::kNack;
  reply.reporter = 1;
  reply.incarnation = 2;
  reply.until = 0x01020304;
  reply.lost = 9;
  reply.ranges = 2;
  reply.missing[0] = {5, 1};
  reply.missing[1] = {8, 3};
  return reply;
}

TEST(ReportReply, HasTheDocumentedBytes) {
  std::array<std::uint8_t, kMaxReportReplyBytes> buffer{};
  const std::size_t length = write(nack(), buffer);
  const Bytes want = {0x50, 0x54, 1, 2, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 4,
                      0,    0,    0, 9, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 3};
  EXPECT_EQ(Bytes(buffer.begin(), buffer.begin() + length), want);
  const auto back = parseReportReply(want);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->until, 0x01020304U);
  EXPECT_EQ(back->lost, 9U);
  EXPECT_EQ(back->missing, nack().missing);
}

TEST(ReportReply, RefusesEveryDamage) {
  std::array<std::uint8_t, kMaxReportReplyBytes> buffer{};
  const std::size_t written = write(nack(), buffer);
  const Bytes bytes(buffer.begin(), buffer.begin() + written);
  ASSERT_TRUE(parseReportReply(bytes));
  for (const std::size_t at : {0, 1, 2, 3, 4}) {
    auto bad = bytes;
    bad[at] = 77;
    EXPECT_FALSE(parseReportReply(bad)) << at;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(parseReportReply(std::span(bytes).first(length))) << length;
  }
}

TEST(ReportReply, HasASealOfItsKey) {
  constexpr ReportKey kSecret = {9, 8, 7};
  constexpr ReportKey kOther = {9, 8, 6};
  std::array<std::uint8_t, kMaxReportReplyBytes> buffer{};
  const Bytes bytes(buffer.begin(), buffer.begin() + write(nack(), buffer, &kSecret));
  EXPECT_EQ(bytes.size(), kReportReplyHeadBytes + 2 * 8 + kReportSealBytes);
  const auto back = parseReportReply(bytes, &kSecret);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->missing, nack().missing);
  EXPECT_FALSE(parseReportReply(bytes, &kOther));
  EXPECT_FALSE(parseReportReply(bytes)) << "a reporter without a key expects no seal";
  EXPECT_FALSE(parseReportReply(std::span(bytes).first(bytes.size() - kReportSealBytes), &kSecret));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto bad = bytes;
    bad[at] ^= 4;
    EXPECT_FALSE(parseReportReply(bad, &kSecret)) << at;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(parseReportReply(std::span(bytes).first(length), &kSecret)) << length;
  }
}

}  // namespace
}  // namespace pingloom::wire::report_test
