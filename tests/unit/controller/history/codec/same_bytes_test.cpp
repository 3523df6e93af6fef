// The packed bytes before compression are the same as those of the first version of the format,
// whose writer made the hashes below. Other bytes take a new version of the format, even if the
// reader understands them.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "common/histogram.h"
#include "controller/history/codec/count_columns.h"
#include "controller/history/codec/part_writer.h"

namespace pingloom::controller::same_bytes_test {
namespace {

// FNV-1a.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) {
      value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

TEST(SameBytesTest, ColumnsOfEveryKind) {
  std::mt19937_64 random(3);
  Hash hash;
  for (int i = 0; i < 3'000; ++i) {
    std::vector<std::uint64_t> values(random() % 700);
    const std::uint64_t spread = ~std::uint64_t{0} >> random() % 64;
    const std::uint64_t step = random() % 4 == 0 ? 1 + random() % 20 : 0;
    std::uint64_t base = random() % 3 == 0 ? ~std::uint64_t{0} : random() % 100'000;
    for (std::uint64_t& value : values) value = (base += step) + random() % spread % (i % 7 + 1);
    if (i % 5 == 0) {
      for (std::uint64_t& value : values) value = random() & spread;
    }
    ColumnWriter out;
    out.column(values);
    hash.add(out.bytes());
  }
  EXPECT_EQ(hash.value(), 17610542763950833900U);
}

// Makes samples of every kind: few or many, near each other or not, and pairs without any.
SampleBuckets anySamples(std::mt19937_64& random) {
  SampleBuckets samples;
  const std::uint64_t pairs = 1 + random() % 300;
  const std::uint64_t most = std::array<std::uint64_t, 4>{1, 10, 30, 100}[random() % 4];
  const std::uint64_t spread = std::uint64_t{1} << (2 + random() % 40);
  const bool runs = random() % 3 == 0;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    std::uint64_t value = random() % 5'000;
    std::uint64_t left = random() % 12 == 0 ? 0 : random() % 7 == 0 ? random() % (most + 1) : most;
    for (; left > 0; --left) {
      value += random() % spread;
      samples.add(static_cast<std::uint16_t>(histogram::bucketOf(value)),
                  static_cast<std::uint32_t>(runs ? 1 + random() % 50 : 1));
    }
    samples.endPair();
  }
  return samples;
}

TEST(SameBytesTest, SamplesAtEveryPrecision) {
  std::mt19937_64 random(7);
  Hash hash;
  for (int i = 0; i < 500; ++i) {
    const SampleBuckets samples = anySamples(random);
    for (unsigned merged = 0; merged < 6; ++merged) {
      ColumnWriter out;
      encodeSamples(samples, merged, out);
      hash.add(out.bytes());
    }
  }
  EXPECT_EQ(hash.value(), 1899357713261157847U);
}

TEST(SameBytesTest, SingleSamplesAddedAtOnceAreTheSame) {
  for (const std::uint32_t times : {1U, 3U}) {
    SampleBuckets at_once;
    SampleBuckets one_by_one;
    for (std::uint16_t pair = 0; pair < 9; ++pair) {
      // The pair in the middle decides whether every bucket has one sample.
      if (pair == 4) {
        at_once.add(50, times);
        one_by_one.add(50, times);
      } else {
        std::uint16_t bucket = 40;
        for (std::uint16_t& to : at_once.addSingle(pair)) to = bucket += pair;
        bucket = 40;
        for (int i = 0; i < pair; ++i) one_by_one.add(bucket += pair, 1);
      }
      at_once.endPair();
      one_by_one.endPair();
    }
    EXPECT_EQ(at_once.single(), times == 1);
    ColumnWriter first;
    ColumnWriter second;
    encodeSamples(at_once, 1, first);
    encodeSamples(one_by_one, 1, second);
    EXPECT_EQ(first.bytes(), second.bytes());
  }
}

TEST(SameBytesTest, CountsAndJitter) {
  std::mt19937_64 random(9);
  Hash hash;
  const auto count = [&] { return static_cast<std::uint32_t>(random() >> (32 + random() % 32)); };
  for (int i = 0; i < 300; ++i) {
    std::vector<Row> rows(1 + random() % 300);
    for (Row& row : rows) {
      for (const auto member : kRowCounts) row.*member = random() % 3 == 0 ? 10 : count();
      for (std::uint32_t& reason : row.anomalous) reason = random() % 20 == 0 ? count() : 0;
      if (random() % 2 == 0) row.jitter_ns = random() >> random() % 64;
    }
    ColumnWriter out;
    encodeCounts(rows, static_cast<unsigned>(i % 6), out);
    hash.add(out.bytes());
  }
  EXPECT_EQ(hash.value(), 11518455095670592095U);
}

}  // namespace
}  // namespace pingloom::controller::same_bytes_test
