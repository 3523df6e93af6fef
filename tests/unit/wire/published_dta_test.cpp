#include "wire/published_dta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "wire/big_endian.h"

namespace pingloom::wire::published_dta_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes copy(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

// A packet of both layouts: `body` is what follows the base header.
Bytes packetOf(std::uint8_t opcode, std::optional<std::uint8_t> sequence, const Bytes& body) {
  Bytes packet = {opcode};
  if (sequence) packet.push_back(*sequence);
  packet.push_back(0xC0);  // the flags immediate and retransmitable
  packet.insert(packet.end(), body.begin(), body.end());
  return packet;
}

class PublishedDta : public testing::TestWithParam<std::optional<std::uint8_t>> {
 protected:
  PublishedReport parsed(std::uint8_t opcode, const Bytes& body, std::size_t bytes) {
    packet_ = packetOf(opcode, GetParam(), body);
    EXPECT_EQ(packet_.size(), bytes + (GetParam() ? 1 : 0));
    PublishedReport report;
    EXPECT_EQ(parsePublished(packet_, report), ReportRefusal::kNone);
    EXPECT_EQ(report.sequence, GetParam());
    return report;
  }
  Bytes packet_;
};
INSTANTIATE_TEST_SUITE_P(Layouts, PublishedDta,
                         testing::Values(std::nullopt, std::optional<std::uint8_t>(7)));

TEST_P(PublishedDta, KeyWritesOfThreeSizes) {
  for (const std::size_t words : {1, 3, 7}) {
    Bytes body = {4, 0, 0, 1, 2};  // redundancy, key
    Bytes value;
    for (std::size_t i = 0; i < 4 * words; ++i) value.push_back(static_cast<std::uint8_t>(i + 9));
    body.insert(body.end(), value.begin(), value.end());
    const auto found = parsed(1, body, 7 + 4 * words);
    EXPECT_EQ(found.report.operation, ReportOperation::kKeyWrite);
    EXPECT_EQ(copy(found.report.key), (Bytes{0, 0, 1, 2}));
    EXPECT_EQ(copy(found.report.value), value);
  }
}

TEST_P(PublishedDta, Appends) {
  const auto found = parsed(2, {0, 0, 0, 3, 1, 2, 3, 4}, 10);
  EXPECT_EQ(found.report.operation, ReportOperation::kAppend);
  EXPECT_EQ(copy(found.report.key), (Bytes{0, 0, 0, 3}));
  EXPECT_EQ(copy(found.report.value), (Bytes{1, 2, 3, 4}));
}

TEST_P(PublishedDta, Increments) {
  const auto found = parsed(3, {2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0}, 15);
  EXPECT_EQ(copy(found.report.key), (Bytes{0, 0, 0, 9}));
  EXPECT_EQ(loadBe64(found.report.value.data()), 256U);
  PublishedReport out;
  const auto much = packetOf(3, GetParam(), {2, 0, 0, 0, 9, 0, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(parsePublished(much, out), ReportRefusal::kIncrement);
}

TEST_P(PublishedDta, Postcards) {
  const auto found = parsed(4, {0, 0, 0, 9, 5, 10, 0, 0, 1}, 11);
  EXPECT_EQ(copy(found.report.key), (Bytes{0, 0, 0, 9}));
  EXPECT_EQ(found.report.hop, 4);
  EXPECT_EQ(copy(found.report.value), (Bytes{10, 0, 0, 1}));
  PublishedReport out;
  const auto none = packetOf(4, GetParam(), {0, 0, 0, 9, 0, 10, 0, 0, 1});
  EXPECT_EQ(parsePublished(none, out), ReportRefusal::kHop);
}

TEST(PublishedDtaPacket, RefusesAllOtherLengths) {
  const std::vector<std::vector<std::size_t>> known = {
      {}, {11, 12, 19, 20, 35, 36}, {10, 11}, {15, 16}, {11, 12}};
  for (std::uint8_t opcode = 0; opcode < 8; ++opcode) {
    for (std::size_t bytes = 0; bytes <= 40; ++bytes) {
      Bytes packet(bytes, 1);
      if (bytes > 0) packet[0] = opcode;
      PublishedReport out;
      const ReportRefusal refusal = parsePublished(packet, out);
      if (bytes < 3) {
        EXPECT_EQ(refusal, ReportRefusal::kLength);
      } else if (opcode == 0 || opcode > 4) {
        EXPECT_EQ(refusal, ReportRefusal::kOperation);
      } else {
        const auto& lengths = known[opcode];
        const bool whole = std::find(lengths.begin(), lengths.end(), bytes) != lengths.end();
        EXPECT_EQ(refusal == ReportRefusal::kLength, !whole) << int{opcode} << " " << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace pingloom::wire::published_dta_test
