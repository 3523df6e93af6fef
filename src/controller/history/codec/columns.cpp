#include "controller/history/codec/columns.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pingloom::controller {
namespace {

// The kinds of a column, which say how its numbers are written.
constexpr std::uint64_t kSame = 0;   // one number for all
constexpr std::uint64_t kBytes = 1;  // the smallest, then a byte each for the distance to it
constexpr std::uint64_t kDifferences =
    2;  // the first, then a byte each for the difference to the one before
constexpr std::uint64_t kNumbers = 3;  // each number in full

// Moves the sign to the lowest bit, so that small differences of either sign are small numbers.
constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t number) {
  return (number >> 1) ^ (0 - (number & 1));
}

// Computes how many bits all occurrences of a byte take among `total` bytes after entropy coding.
// Most bytes occur a few times only, so the results for these are remembered.
class BitsOf {
 public:
  explicit BitsOf(std::size_t total) : total_(static_cast<double>(total)) {}
  double operator()(std::uint32_t times) {
    if (times >= known_.size()) return compute(times);
    double& known = known_[times];
    if (known == 0) known = compute(times);
    return known;
  }

 private:
  double compute(std::uint32_t times) const { return times * std::log2(total_ / times); }

  double total_;
  std::array<double, 64> known_{};
};

// Estimates the size of bytes after entropy coding, from how often each occurs. Neighbours are
// often equal, and adding to a number waits for what was just added to the same one, so they are
// counted in different tables.
class ByteCounts {
 public:
  explicit ByteCounts(std::string_view bytes) {
    const auto at = [bytes](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
    std::size_t i = 0;
    for (; i + kTables <= bytes.size(); i += kTables) {
      for (std::size_t table = 0; table < kTables; ++table) ++times_[table][at(i + table)];
    }
    for (; i < bytes.size(); ++i) ++times_[0][at(i)];
  }
  double bits(BitsOf& bits_of) const {
    double bits = 0;
    for (std::size_t byte = 0; byte < times_[0].size(); ++byte) {
      std::uint32_t times = 0;
      for (const auto& table : times_) times += table[byte];
      if (times != 0) bits += bits_of(times);
    }
    return bits;
  }

 private:
  static constexpr std::size_t kTables = 4;
  std::array<std::array<std::uint32_t, 256>, kTables> times_{};
};

// Writes the distance of each number to the lowest.
template <typename Number>
void writeFromLowest(std::span<const Number> values, Number lowest, std::string& out) {
  out.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = static_cast<char>(values[i] - lowest);
}

// Writes the difference of each number to the one before. Returns whether each fits into a byte.
template <typename Number>
bool writeDifferences(std::span<const Number> values, std::string& out) {
  out.resize(values.size());
  std::uint64_t all = 0;  // the bits that any difference has
  std::uint64_t last = values.front();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t difference = zigzag(values[i] - last);
    all |= difference;
    out[i] = static_cast<char>(difference);
    last = values[i];
  }
  return all <= 0xFF;
}

// Differences are smaller when neighbours are alike, as hosts of a rack are.
bool differencesTakeLess(std::string_view differences, std::string_view from_lowest) {
  BitsOf bits_of(differences.size());
  return ByteCounts(differences).bits(bits_of) < 0.95 * ByteCounts(from_lowest).bits(bits_of);
}

}  // namespace

void ColumnWriter::number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(0x80 | (value & 0x7F)));
  bytes_.push_back(static_cast<char>(value));
}

void ColumnWriter::text(std::string_view bytes) {
  number(bytes.size());
  bytes_ += bytes;
}

void ColumnWriter::column(std::span<const std::uint64_t> values) { writeColumn(values); }
void ColumnWriter::column(std::span<const std::uint32_t> values) { writeColumn(values); }
void ColumnWriter::column(std::span<const std::uint16_t> values) { writeColumn(values); }

template <typename Number>
void ColumnWriter::writeColumn(std::span<const Number> values) {
  if (values.empty()) return;
  Number lowest = values.front();
  Number highest = values.front();
  for (const Number value : values) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  if (lowest == highest) {
    number(kSame);
    number(lowest);
    return;
  }
  const bool near_lowest = highest - lowest <= 0xFF;
  const bool near_last = writeDifferences(values, differences_);
  if (!near_lowest && !near_last) {
    number(kNumbers);
    for (const Number value : values) number(value);
    return;
  }
  if (near_lowest) writeFromLowest(values, lowest, from_lowest_);
  if (near_last && (!near_lowest || differencesTakeLess(differences_, from_lowest_))) {
    number(kDifferences);
    number(values.front());
    bytes_ += differences_;
  } else {
    number(kBytes);
    number(lowest);
    bytes_ += from_lowest_;
  }
}

std::uint64_t ColumnReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; ok_ && shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  ok_ = false;
  return 0;
}

std::string_view ColumnReader::text(std::size_t longest) {
  const std::uint64_t size = number();
  if (size > longest || size > rest_.size()) ok_ = false;
  if (!ok_) return {};
  const std::string_view found = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return found;
}

void ColumnReader::column(std::size_t size, Column& out) {
  out.size_ = size;
  out.base_ = 0;
  out.bytes_ = {};
  out.numbers_.clear();
  if (size == 0) return;
  const std::uint64_t kind = number();
  if (kind > kNumbers || (kind != kSame && size > rest_.size())) ok_ = false;
  if (kind != kNumbers) out.base_ = number();
  if (!ok_) return;
  if (kind == kNumbers) {
    for (std::size_t i = 0; i < size; ++i) out.numbers_.push_back(number());
  } else if (kind != kSame) {
    if (size > rest_.size()) {
      ok_ = false;
      return;
    }
    if (kind == kBytes) out.bytes_ = rest_.substr(0, size);
    if (kind == kDifferences) differences(size, out);
    rest_.remove_prefix(size);
  }
}

void ColumnReader::differences(std::size_t size, Column& out) {
  out.numbers_.resize(size);
  std::uint64_t last = out.base_;
  for (std::size_t i = 0; i < size; ++i) {
    last += unzigzag(static_cast<std::uint8_t>(rest_[i]));
    out.numbers_[i] = last;
  }
}

}  // namespace pingloom::controller
