// Rows read by hand and by protobuf are the same, whatever their bytes are.
#include "wire/row_reader.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "unit/wire/same_row.h"

namespace pingloom::wire::row_reader_test {
namespace {

using test::same;

constexpr int kRounds = 5'000;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  bool oneIn(std::uint64_t times) { return below(times) == 0; }
  // Takes numbers of every length, and the extremes.
  std::uint64_t number(unsigned bits) {
    if (oneIn(8)) return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    return engine_() >> (64 - bits + below(bits));
  }
  std::uint32_t number32() { return static_cast<std::uint32_t>(number(32)); }

 private:
  std::mt19937_64 engine_;
};

void fill(Random& random, SampleSet& set) {
  if (random.oneIn(3)) {
    for (auto left = random.below(80); left > 0; --left) {
      set.add_bucket_deltas(random.number32());
      set.add_bucket_counts(random.number32());
    }
    // Larger numbers have ten bytes.
    set.set_sum(random.number(63));
    set.set_min(random.number(63));
    set.set_max(random.number(63));
  } else {
    for (auto left = random.below(70); left > 0; --left) set.add_sample_deltas(random.number32());
  }
}

Row randomRow(Random& random) {
  Row row;
  row.set_destination(std::string(random.below(18), static_cast<char>(random.below(256))));
  row.set_sent(random.number32());
  row.set_received(random.number32());
  row.set_lost(random.oneIn(2) ? 0 : random.number32());
  row.set_refused(random.oneIn(2) ? 0 : random.number32());
  row.set_unreachable(random.number32());
  row.set_ack_lost(random.number32());
  row.set_duplicate(random.number32());
  row.set_late(random.number32());
  row.set_skipped(random.number32());
  row.set_misfit(random.number32());
  if (random.oneIn(2)) row.set_inbound(random.number32());
  for (auto left = random.below(6); left > 0; --left) row.add_anomalous(random.number32());
  if (random.oneIn(2)) row.set_jitter_ns(random.number(63));
  for (SampleSet* (Row::*part)() :
       {&Row::mutable_network, &Row::mutable_responder, &Row::mutable_prober, &Row::mutable_rtt}) {
    if (!random.oneIn(5)) fill(random, *(row.*part)());
  }
  return row;
}

void appendVarint(std::string& out, std::uint64_t value, std::uint64_t padding = 0) {
  for (; value >= 0x80 || padding > 0; value >>= 7) {
    out += static_cast<char>((value & 0x7F) | 0x80);
    if (value < 0x80) --padding;
  }
  out += static_cast<char>(value);
}

// Appends any field in any encoding: known or not, of the right wire type or another, with numbers
// that are longer than they need to be.
void appendAnyField(Random& random, std::string& out, int depth = 0) {
  const auto padding = [&] { return random.oneIn(6) ? random.below(9) : 0; };
  const std::uint64_t field = random.below(depth == 0 ? 20 : 8);
  const std::uint64_t type = random.oneIn(4) ? random.below(8) : random.below(2) * 2;
  appendVarint(out, field << 3 | type, random.oneIn(20) ? random.below(9) : 0);
  std::string content;
  switch (type) {
    case 0:
      return appendVarint(out, random.number(64), padding());
    case 1:
      out += std::string(8, 'x');
      return;
    case 2:
      if (depth < 2 && random.oneIn(2)) {
        for (auto left = random.below(6); left > 0; --left) {
          appendAnyField(random, content, depth + 1);
        }
      } else {
        for (auto left = random.below(12); left > 0; --left) {
          appendVarint(content, random.number(random.oneIn(4) ? 64 : 32), padding());
        }
      }
      appendVarint(out, content.size() + (random.oneIn(50) ? 1 : 0), padding());
      out += content;
      return;
    case 5:
      out += std::string(4, 'x');
      return;
    default:
      return;  // a group or a type that does not exist
  }
}

struct Agreement {
  int read = 0;     // rows that are well-formed
  int by_hand = 0;  // those of them that are in the usual encoding
};

class Readers {
 public:
  void compare(const std::string& bytes) {
    Row message;
    const bool good = message.ParseFromString(bytes);
    const RowView* const row = reader_.read(bytes);
    ASSERT_EQ(row != nullptr, good) << testing::PrintToString(bytes);
    const bool usual = readUsualRow(bytes, numbers_, usual_);
    ASSERT_TRUE(good || !usual) << testing::PrintToString(bytes);
    if (!good) return;
    ++seen_.read;
    EXPECT_TRUE(same(*row, viewOf(message))) << testing::PrintToString(bytes);
    if (!usual) return;
    ++seen_.by_hand;
    EXPECT_TRUE(same(usual_, viewOf(message))) << testing::PrintToString(bytes);
  }
  const Agreement& seen() const { return seen_; }

 private:
  RowReader reader_;
  std::vector<std::uint32_t> numbers_;
  RowView usual_;
  Agreement seen_;
};

TEST(RowReader, KnowsEveryField) {
  EXPECT_EQ(Row::descriptor()->field_count(), 18) << "a new one also goes into RowView, viewOf() "
                                                     "and readUsualRow()";
  EXPECT_EQ(SampleSet::descriptor()->field_count(), 6) << "likewise";
}

TEST(RowReader, RowsOfAgentsAreReadByHand) {
  Random random(1);
  Readers readers;
  for (int i = 0; i < kRounds; ++i) readers.compare(randomRow(random).SerializeAsString());
  EXPECT_EQ(readers.seen().by_hand, kRounds);
}

TEST(RowReader, ReadsMutatedRowsAsProtobufDoes) {
  Random random(2);
  Readers readers;
  for (int i = 0; i < kRounds; ++i) {
    std::string bytes = randomRow(random).SerializeAsString();
    for (auto left = random.below(4); left > 0; --left) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    if (random.oneIn(4)) bytes.resize(random.below(bytes.size() + 1));
    if (random.oneIn(4)) bytes.insert(random.below(bytes.size() + 1), 1, '\x80');
    readers.compare(bytes);
  }
  EXPECT_GT(readers.seen().read, kRounds / 10) << "or this test shows little";
  EXPECT_LT(readers.seen().read, kRounds);
}

TEST(RowReader, ReadsAnyEncodingAsProtobufDoes) {
  Random random(3);
  Readers readers;
  for (int i = 0; i < 10 * kRounds; ++i) {
    std::string bytes;
    for (auto left = random.below(8); left > 0; --left) appendAnyField(random, bytes);
    readers.compare(bytes);
  }
  EXPECT_GT(readers.seen().by_hand, kRounds) << "or this test shows little";
  EXPECT_GT(readers.seen().read, 2 * readers.seen().by_hand);
}

TEST(RowReader, LeavesUnusualEncodingsToProtobuf) {
  const std::string usual("\x10\x0a\x72\x03\x0a\x01\x07", 7);  // sent 10, rtt with one sample
  const struct {
    const char* what;
    std::string bytes;
  } table[] = {
      {"an unknown field", usual + std::string("\x98\x01\x05", 3)},
      {"a group", usual + std::string("\xa3\x01\xa4\x01", 4)},
      {"a list that is not packed", usual + std::string("\x50\x05\x50\x06", 4)},
      {"a list in two pieces", usual + std::string("\x52\x01\x05\x52\x01\x06", 6)},
      {"a part in two pieces", usual + std::string("\x72\x03\x0a\x01\x08", 5)},
      {"samples in two pieces", std::string("\x72\x06\x0a\x01\x07\x0a\x01\x08", 8)},
      {"a fixed number for a varint", usual + std::string("\x15\x01\x02\x03\x04", 5)},
      {"a tag that is longer than it needs to be", std::string("\x90\x80\x00\x0a", 4)},
      {"a count beyond 32 bits", std::string("\x10\x8a\x80\x80\x80\x80\x01", 7)},
      {"a jitter of ten bytes", "\x78" + std::string(9, '\xff') + "\x01"},
  };
  RowReader reader;
  std::vector<std::uint32_t> numbers;
  RowView view;
  EXPECT_TRUE(readUsualRow(usual, numbers, view)) << "or this test shows nothing";
  for (const auto& line : table) {
    EXPECT_FALSE(readUsualRow(line.bytes, numbers, view)) << line.what;
    Row message;
    ASSERT_TRUE(message.ParseFromString(line.bytes)) << line.what;
    const RowView* const row = reader.read(line.bytes);
    ASSERT_NE(row, nullptr) << line.what;
    EXPECT_TRUE(same(*row, viewOf(message))) << line.what;
  }
}

TEST(RowReader, RefusesMalformedRows) {
  const struct {
    const char* what;
    std::string bytes;
  } table[] = {
      {"a tag without a field", "\x10"},
      {"a number that does not end", std::string("\x10\xff", 2)},
      {"a number of eleven bytes", "\x10" + std::string(10, '\x80') + std::string(1, '\0')},
      {"a list that ends within a number", std::string("\x52\x01\x80", 3)},
      {"a list beyond the row", std::string("\x52\x7f\x01", 3)},
      {"samples beyond their part", std::string("\x72\x02\x0a\x01\x07", 5)},
      {"a part beyond the row", std::string("\x72\x04\x0a\x01\x07", 5)},
      {"a length of six bytes", std::string("\x0a\x81\x80\x80\x80\x80\x00\x01", 8)},
      {"the end of a group", "\x14"},
      {"field 0", std::string("\x00\x01", 2)},
  };
  RowReader reader;
  std::vector<std::uint32_t> numbers;
  RowView view;
  for (const auto& line : table) {
    EXPECT_FALSE(readUsualRow(line.bytes, numbers, view)) << line.what;
    EXPECT_EQ(reader.read(line.bytes), nullptr) << line.what;
  }
}

TEST(RowReader, NothingOfTheRowBeforeStays) {
  Random random(4);
  RowReader reader;
  ASSERT_NE(reader.read(randomRow(random).SerializeAsString()), nullptr);
  const RowView* const row = reader.read("");
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(same(*row, RowView{}));
}

}  // namespace
}  // namespace pingloom::wire::row_reader_test
