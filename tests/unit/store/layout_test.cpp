#include "store/layout.h"

#include "common/crc32c.h"
#include "store/little_endian.h"
#include "store_support.h"

namespace pingloom::store::layout_test {
namespace {

using test::keyedSpec;

Head twoTables() {
  auto head = layOut({keyedSpec("latest", 1, 1000, 24), keyedSpec("votes", 7, 10, 5)}, 77);
  head->epoch = 3;
  return *head;
}

// Makes the page's checksum right again after a change.
void seal(HeadPage& page) {
  const std::span<const std::uint8_t> bytes(page);
  putLittle<std::uint32_t>(page, 44, crc32c(bytes.subspan(128), crc32c(bytes.first(44))));
}

TEST(Layout, LaysTablesOutOneBehindTheOther) {
  const Head head = twoTables();
  ASSERT_EQ(head.tables.size(), 2U);
  const Table& latest = head.tables[0];
  EXPECT_EQ(latest.offset, 8192U);
  EXPECT_EQ(latest.units, 250U);
  EXPECT_EQ(latest.slotBytes(), 32U);
  EXPECT_EQ(latest.bytes, 32768U);  // 1000 slots of 32 bytes, and the rest of a page
  const Table& votes = head.tables[1];
  EXPECT_EQ(votes.offset, latest.offset + latest.bytes);
  EXPECT_EQ(votes.units, 3U);
  EXPECT_EQ(votes.slotBytes(), 16U);
  EXPECT_NE(latest.seed, votes.seed);
  EXPECT_EQ(head.bytes, votes.offset + votes.bytes);
}

TEST(Layout, AHeadComesBackAsItWas) {
  const Head head = twoTables();
  const auto again = decodeHead(encodeHead(head));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, head);
}

TEST(Layout, FieldsStandWhereTheFormatSays) {
  const Head head = twoTables();
  const HeadPage page = encodeHead(head);
  EXPECT_EQ(std::string(page.begin(), page.begin() + 4), "PLST");
  EXPECT_EQ(getLittle<std::uint16_t>(page, 4), 1);
  EXPECT_EQ(getLittle<std::uint16_t>(page, 6), 1);
  EXPECT_EQ(getLittle<std::uint64_t>(page, 8), head.store);
  EXPECT_EQ(getLittle<std::uint64_t>(page, 16), 3U);
  EXPECT_EQ(getLittle<std::uint64_t>(page, 24), 77U);
  EXPECT_EQ(getLittle<std::uint32_t>(page, 40), 2U);
  EXPECT_EQ(getLittle<std::uint16_t>(page, 128 + 128 + 2), 7);
  EXPECT_EQ(getLittle<std::uint64_t>(page, 128 + 48), head.tables[0].seed);
  EXPECT_EQ(std::string(page.begin() + 192, page.begin() + 199), std::string("latest\0", 7));
}

TEST(Layout, EveryChangedByteOfTheHeadIsNoticed) {
  const HeadPage good = encodeHead(twoTables());
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (i >= 48 && i < 128) continue;  // unused
    HeadPage bad = good;
    bad[i] ^= 0x10;
    EXPECT_FALSE(decodeHead(bad)) << "byte " << i;
  }
  EXPECT_FALSE(decodeHead(std::span(good).first(4095)));
  EXPECT_FALSE(decodeHead({}));
}

struct Spoil {
  const char* what;
  void (*change)(Head& head);
  const char* complaint;
};

class BadHead : public testing::TestWithParam<Spoil> {};

TEST_P(BadHead, IsRefusedEvenIfItsChecksumIsRight) {
  Head head = twoTables();
  GetParam().change(head);
  const auto read = decodeHead(encodeHead(head));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), testing::HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadHead,
    testing::Values(
        Spoil{"kind", [](Head& head) { head.tables[0].kind = TableKind{9}; }, "kind"},
        Spoil{"outside", [](Head& head) { head.tables[1].bytes += 4096; }, "outside"},
        Spoil{"far", [](Head& head) { head.tables[1].offset = ~0xfffULL; }, "outside"},
        Spoil{"over_the_status", [](Head& head) { head.tables[0].offset = 4096; }, "outside"},
        Spoil{"unaligned", [](Head& head) { head.tables[0].offset += 64; }, "aligned"},
        Spoil{"overlap", [](Head& head) { head.tables[1].offset -= 4096; }, "overlaps"},
        Spoil{"twice", [](Head& head) { head.tables[1].name = "latest"; }, "twice"},
        Spoil{"number", [](Head& head) { head.tables[1].id = 1; }, "number"},
        Spoil{"name", [](Head& head) { head.tables[1].name = "a b"; }, "name"},
        Spoil{"no_name", [](Head& head) { head.tables[1].name = ""; }, "name"},
        Spoil{"flags", [](Head& head) { head.tables[0].flags = 4; }, "flags"},
        Spoil{"copies", [](Head& head) { head.tables[0].flags = kCopies; }, "copies"},
        Spoil{"copied_counters",
              [](Head& head) {
                head.tables[1].kind = TableKind::kCounters;
                head.tables[1].flags = kCopies;
              },
              "flags"},
        Spoil{"units", [](Head& head) { head.tables[0].units = 257; }, "no room"},
        Spoil{"no_units", [](Head& head) { head.tables[0].units = 0; }, "no room"},
        Spoil{"overflow", [](Head& head) { head.tables[0].units = 1ULL << 57; }, "no room"},
        Spoil{"ways", [](Head& head) { head.tables[0].ways = 0; }, "ways"},
        Spoil{"choices", [](Head& head) { head.tables[0].choices = 5; }, "choices"},
        Spoil{"slot", [](Head& head) { head.tables[0].unit_bytes = 96; }, "size of slots"},
        Spoil{"uneven", [](Head& head) { head.tables[0].unit_bytes = 129; }, "size of slots"},
        Spoil{"no_slot", [](Head& head) { head.tables[0].unit_bytes = 0; }, "size of slots"},
        Spoil{"value", [](Head& head) { head.tables[0].value_bytes = 25; }, "fit"},
        Spoil{"no_value", [](Head& head) { head.tables[0].value_bytes = 0; }, "fit"},
        Spoil{"state", [](Head& head) { head.state = StoreState{3}; }, "state"},
        Spoil{"size", [](Head& head) { head.bytes = 4096; }, "size"}),
    [](const auto& spoilt) { return std::string(spoilt.param.what); });

TEST(Layout, ThirtyTwoTablesAreTooMany) {
  HeadPage page = encodeHead(twoTables());
  putLittle<std::uint32_t>(page, 40, 32);
  seal(page);
  EXPECT_FALSE(decodeHead(page));
}

TEST(Layout, SpecsThatCannotBeAreRefused) {
  EXPECT_FALSE(layOut({keyedSpec("t", 1, 0, 24)}, 0));
  EXPECT_FALSE(layOut({keyedSpec("t", 1, kMaxSlots + 1, 24)}, 0));
  EXPECT_FALSE(layOut({keyedSpec("t", 1, 8, 0)}, 0));
  EXPECT_FALSE(layOut({keyedSpec("t", 1, 8, 121)}, 0));
  EXPECT_FALSE(layOut({keyedSpec("t", 1, kMaxSlots, 120)}, 0));  // 8 TiB
  EXPECT_TRUE(layOut({keyedSpec("t", 1, 8, 120)}, 0));
}

}  // namespace
}  // namespace pingloom::store::layout_test
