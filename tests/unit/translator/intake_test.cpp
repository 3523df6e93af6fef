#include "translator/intake.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "plain_domain.h"
#include "store/keyed_reader.h"
#include "store/table_spec.h"
#include "wire/report_writer.h"

namespace pingloom::translator::intake_test {
namespace {

using wire::ReportOperation;
using wire::ReportRefusal;

constexpr std::uint16_t kTable = 7;
constexpr Nanos kMade = 1'700'000'000 * kSecond;
const SocketAddress kLoopback{IpAddress::fromV4(0x7f000001), 1234};

std::span<const std::uint8_t> bytesOf(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

struct Sent {
  ReportOperation operation = ReportOperation::kKeyWrite;
  std::uint16_t table = kTable;
  std::string key = "key";
  std::string value = "value";
};

class IntakeTest : public testing::Test {
 protected:
  IntakeTest() {
    store::TableSpec spec;
    spec.id = kTable;
    spec.name = "latest";
    spec.slots = 1000;
    spec.value_bytes = 24;
    store::TableSpec lists{store::TableKind::kLists, 8, "events", 0, 8};
    lists.lists = 2;
    lists.blocks = 4;
    store::TableSpec counters{store::TableKind::kCounters, 9, "votes"};
    counters.counters = 100;
    store::TableSpec paths{store::TableKind::kPaths, 10, "paths", 100};
    paths.identity_bytes = 4;
    store::TableSpec changes{store::TableKind::kLists, 11, "path-changes", 0, 60, 1, 4};
    auto head = store::layOut({spec, lists, counters, paths, changes}, kMade);
    EXPECT_TRUE(head) << head.error().text();
    shadow_ = std::move(*Shadow::create(*head, domain_));
  }

  std::vector<std::uint8_t> datagram(const std::vector<Sent>& reports, std::uint32_t sequence,
                                     std::uint32_t skipped = 0, std::uint8_t flags = 0) {
    std::vector<std::uint8_t> buffer(wire::kMaxReportDatagram);
    wire::ReportWriter writer(buffer);
    for (const Sent& sent : reports) {
      wire::ReportItem item;
      item.operation = sent.operation;
      item.table = sent.table;
      item.key = bytesOf(sent.key);
      item.value = bytesOf(sent.value);
      writer.add(item);
    }
    wire::ReportHead head;
    head.flags = flags;
    head.reporter = 1;
    head.incarnation = 2;
    head.sequence = sequence;
    head.skipped = skipped;
    buffer.resize(writer.finish(head).size());
    return buffer;
  }
  void take(const std::vector<std::uint8_t>& bytes, const SocketAddress& source = kLoopback) {
    intake_.take(bytes, source, *shadow_, 0, kMade + 10 * kSecond);
  }
  std::uint64_t refused(ReportRefusal reason) const {
    return counters_.refused[static_cast<std::size_t>(reason)];
  }
  std::string valueOf(const std::string& key) {
    ShadowTable& table = *shadow_->find(kTable);
    const auto value = store::findKey(table.table(), table.content(), bytesOf(key));
    return value ? std::string(reinterpret_cast<const char*>(value->memory.data())) : "";
  }

  PlainDomain domain_;
  Counters counters_;
  Intake intake_{counters_, 4U << 20};
  std::unique_ptr<Shadow> shadow_;
};

TEST_F(IntakeTest, PlacesKeyWrites) {
  take(datagram({{}, {ReportOperation::kKeyWrite, kTable, "other", "thing"}}, 1));
  EXPECT_EQ(counters_.accepted[0], 2U);
  EXPECT_EQ(counters_.refusedInAll(), 0U);
  EXPECT_EQ(valueOf("key"), "value");
  EXPECT_EQ(valueOf("other"), "thing");
  EXPECT_EQ(valueOf("none"), "");
  std::size_t pieces = 0;
  for (const auto what : {ShadowTable::Take::kBlocks, ShadowTable::Take::kSlots}) {
    EXPECT_TRUE(shadow_->take(what, [&](const Piece& piece) {
      EXPECT_GE(piece.offset, store::kTablesOffset);
      EXPECT_LE(piece.bytes.size(), store::kBlockBytes);
      ++pieces;
      return true;
    }));
  }
  EXPECT_GE(pieces, 1U);
}

TEST_F(IntakeTest, PlacesTheOtherOperations) {
  const std::string five = std::string(7, '\0') + '\5';
  const auto hop = [](char last) { return std::string("\x0a\0\0", 3) + last; };
  take(datagram({{ReportOperation::kAppend, 8, "", "entry"},
                 {ReportOperation::kAppend, 8, std::string("\0\0\0\1", 4), "entry"},
                 {ReportOperation::kAppend, 8, std::string("\0\0\0\2", 4), "entry"},
                 {ReportOperation::kAppend, 8, "", "too long for it"},
                 {ReportOperation::kKeyIncrement, 9, "link", five},
                 {ReportOperation::kPostcard, 10, "flow", hop(1)},
                 {ReportOperation::kPostcard, 10, "flow", hop(2)},
                 {ReportOperation::kPostcard, 10, "flow", "12345"}},
                1));
  EXPECT_EQ(refused(ReportRefusal::kList), 1U);
  EXPECT_EQ(refused(ReportRefusal::kValueLength), 2U);
  EXPECT_EQ(shadow_->find(8)->figures().total, 2U);
  EXPECT_TRUE(shadow_->listsChanged());
  ShadowTable& votes = *shadow_->find(9);
  EXPECT_TRUE(votes.counters()->takeDirty([](auto&&...) { return true; }));
  EXPECT_EQ(store::countKey(votes.table(), votes.content(), bytesOf("link")), 5U);
  // The first postcard's hop came again with another address when its path was stored.
  EXPECT_EQ(shadow_->find(11)->figures().total, 0U);
  intake_.settlePaths(*shadow_, 2 * kSecond, kMade + 12 * kSecond);
  EXPECT_EQ(shadow_->find(10)->figures().used, 1U);
  EXPECT_EQ(shadow_->find(11)->figures().total, 1U) << "a change";
}

TEST_F(IntakeTest, ADatagramCountsOnce) {
  const auto bytes = datagram({{}}, 1);
  take(bytes);
  take(bytes);
  EXPECT_EQ(counters_.accepted[0], 1U);
  EXPECT_EQ(refused(ReportRefusal::kDuplicate), 1U);
}

TEST_F(IntakeTest, CountsWhatIsLostAndSkipped) {
  take(datagram({{}}, 1, 5));
  take(datagram({{}}, 4, 8));
  take(datagram({{}}, 3, 7));
  intake_.reporters().settle(0);
  intake_.reporters().settle(0);
  EXPECT_EQ(counters_.accepted[0], 3U);
  EXPECT_EQ(counters_.lost, 1U);
  EXPECT_EQ(counters_.skipped, 8U);
}

TEST_F(IntakeTest, ServesOnlyThisHost) {
  take(datagram({{}}, 1), {IpAddress::fromV4(0x0a000001), 1234});
  EXPECT_EQ(refused(ReportRefusal::kUnknownReporter), 1U);
  EXPECT_EQ(counters_.accepted[0], 0U);
}

TEST_F(IntakeTest, RefusesWhatItCannotCheck) {
  auto sealed = datagram({{}}, 1, 0, wire::kReportSealed);
  sealed.resize(sealed.size() + wire::kReportSealBytes);
  sealed[7] = static_cast<std::uint8_t>(sealed.size());
  take(sealed);
  EXPECT_EQ(refused(ReportRefusal::kSeal), 1U);
  take({});
  EXPECT_EQ(refused(ReportRefusal::kShort), 1U);
  EXPECT_EQ(counters_.datagrams, 2U);
}

TEST_F(IntakeTest, RefusesSingleReports) {
  take(datagram({{ReportOperation::kKeyWrite, 99, "key", "value"},
                 {ReportOperation::kKeyIncrement, kTable, "key", std::string(8, '\0')},
                 {ReportOperation::kKeyWrite, kTable, "key", std::string(25, 'v')},
                 {ReportOperation::kAppend, kTable, "", "entry"},
                 {ReportOperation::kKeyWrite, kTable, "key", std::string(24, 'v')}},
                1));
  EXPECT_EQ(refused(ReportRefusal::kUnknownTable), 1U);
  EXPECT_EQ(refused(ReportRefusal::kWrongTable), 2U);
  EXPECT_EQ(refused(ReportRefusal::kValueLength), 1U);
  EXPECT_EQ(counters_.accepted[0], 1U);
}

}  // namespace
}  // namespace pingloom::translator::intake_test
