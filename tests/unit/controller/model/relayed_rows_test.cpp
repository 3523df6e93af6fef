#include "controller/model/relayed_rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "controller/model/row_packer.h"
#include "unit/controller/full_row.h"
#include "unit/controller/mesh_report.h"
#include "unit/controller/same_shown_row.h"
#include "unit/controller/support.h"

namespace pingloom::controller::relayed_rows_test {
namespace {

using test::ip;

Row shown(const wire::Row& message) {
  IpAddress destination;
  Row row;
  const auto status = readRow(wire::viewOf(message), destination, row);
  EXPECT_TRUE(status) << status.error().text();
  return row;
}

std::string told(const Row& row, const IpAddress& destination = ip("10.0.0.2")) {
  std::string bytes;
  appendRelayedRow(destination, RowPacker().pack(row), bytes);
  EXPECT_LE(bytes.size(), kMaxRelayedRow);
  return bytes;
}

// Reads one row, and returns the reason if it is refused.
std::string refusal(std::string_view bytes) {
  RelayedRowReader reader(bytes);
  IpAddress destination;
  PackedRow row;
  if (reader.next(destination, row)) return "";
  EXPECT_FALSE(reader.next(destination, row)) << "nothing more can be read";
  return reader.status() ? "the end" : reader.status().error().reason;
}

void expectSame(const std::vector<std::pair<IpAddress, Row>>& rows) {
  std::string bytes;
  for (const auto& [destination, row] : rows)
    appendRelayedRow(destination, RowPacker().pack(row), bytes);
  RelayedRowReader reader(bytes);
  IpAddress destination;
  PackedRow read;
  for (const auto& [expected, row] : rows) {
    ASSERT_TRUE(reader.next(destination, read)) << reader.status().error().text();
    EXPECT_EQ(destination, expected);
    EXPECT_TRUE(test::sameRow(read.row(), row));
  }
  EXPECT_FALSE(reader.next(destination, read));
  EXPECT_TRUE(reader.status());
}

TEST(RelayedRows, AreReadAsTheyWereTold) {
  std::mt19937_64 random(1);
  std::vector<std::pair<IpAddress, Row>> rows;
  for (const std::uint32_t samples : {1U, 10U, 64U, 65U, 1000U}) {
    const wire::Report report = test::meshReport(random, 50, samples);
    for (const wire::Row& row : report.rows()) {
      rows.emplace_back(*IpAddress::fromWire(row.destination()), shown(row));
    }
  }
  expectSame(rows);
}

TEST(RelayedRows, EveryFieldIsTold) {
  Row row = test::fullRow();
  expectSame({{ip("fd00::1"), row}, {ip("10.0.0.9"), Row{}}, {ip("10.0.0.10"), row}});
  row.inbound.reset();
  row.jitter_ns.reset();
  row.responder = {};
  expectSame({{ip("10.0.0.2"), row}});
}

TEST(RelayedRows, AreAsTheirDocumentationSays) {
  Row row;
  row.sent = row.received = 10;
  row.network = {10, 9'000, 9'000, 9'000, 9'000, 9'000, 9'000};
  const std::string bytes(
      "\x03\x00\x01\x01\x0a\x00\x00\x02\x0a\x0a"
      "\x00\x00\x28\x23\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
      24);
  EXPECT_EQ(told(row), bytes);
}

TEST(RelayedRows, WhatIsTruncatedIsRefused) {
  const std::string bytes = told(shown(test::goodRow("10.0.0.2")));
  EXPECT_EQ(refusal(""), "the end");
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_EQ(refusal(std::string_view(bytes).substr(0, size)), "is truncated") << size;
  }
  EXPECT_EQ(refusal(bytes), "");
}

TEST(RelayedRows, WhatContradictsItselfIsRefused) {
  const auto refused = [](const std::function<void(Row&)>& change) {
    Row row = shown(test::goodRow("10.0.0.2"));
    change(row);
    return refusal(told(row));
  };
  EXPECT_EQ(refused([](Row&) {}), "");
  EXPECT_NE(refused([](Row& row) { row.sent = 11; }), "");
  EXPECT_NE(refused([](Row& row) { row.misfit = 1; }), "");
  EXPECT_NE(refused([](Row& row) { row.ack_lost = 11; }), "");
  EXPECT_NE(refused([](Row& row) { row.network.count = 11; }), "");
  EXPECT_NE(refused([](Row& row) { row.network.min = row.network.p50 + 1; }), "");
  EXPECT_NE(refused([](Row& row) { row.network.mean = row.network.min - 1; }), "");
  EXPECT_NE(refused([](Row& row) { row.network.mean = row.network.max + 1; }), "");
  EXPECT_NE(refused([](Row& row) { row.responder.p50 = row.responder.p95 + 1; }), "");
  EXPECT_NE(refused([](Row& row) { row.prober.p95 = row.prober.p99 + 1; }), "");
  EXPECT_NE(refused([](Row& row) { row.rtt.p99 = row.rtt.max + 1; }), "");
}

TEST(RelayedRows, NumbersAreInRange) {
  std::string none_received = told(shown(test::lossRow("10.0.0.2")));
  EXPECT_EQ(refusal(none_received), "");
  none_received[2] = 1;  // a part of a row without answers
  none_received.append(7, '\0');
  EXPECT_NE(refusal(none_received), "");

  Row large;
  large.sent = large.lost = 10;
  std::string wide = told(large);
  wide[2] |= static_cast<char>(3 << 6);  // counts of 8 bytes
  wide.resize(8);
  wide += std::string("\x0a\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0", 16);
  EXPECT_EQ(refusal(wide), "");
  wide[12] = wide[20] = 1;
  EXPECT_EQ(refusal(wide), "a count is out of range");

  std::string reserved = told(large);
  reserved[2] |= 1 << 5;
  EXPECT_EQ(refusal(reserved), "has a field that is not known");
}

}  // namespace
}  // namespace pingloom::controller::relayed_rows_test
