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

// Estimates the size of bytes after entropy coding, from how often each occurs.
class Cost {
 public:
  void add(std::uint64_t byte) {
    ++times_[byte & 0xFF];
    all_ |= byte;
  }
  bool fits() const { return all_ <= 0xFF; }  // every number was a byte
  double bits(BitsOf& bits_of) const {
    double bits = 0;
    for (const std::uint32_t times : times_) {
      if (times != 0) bits += bits_of(times);
    }
    return bits;
  }

 private:
  std::array<std::uint32_t, 256> times_{};
  std::uint64_t all_ = 0;  // the bits that any number has
};

// Differences are smaller when neighbours are alike, as hosts of a rack are.
std::uint64_t kindFor(std::span<const std::uint64_t> values, std::uint64_t lowest) {
  Cost bytes;
  Cost differences;
  std::uint64_t last = values.front();
  for (const std::uint64_t value : values) {
    bytes.add(value - lowest);
    differences.add(zigzag(value - last));
    last = value;
  }
  if (!differences.fits()) return bytes.fits() ? kBytes : kNumbers;
  if (!bytes.fits()) return kDifferences;
  BitsOf bits_of(values.size());
  return differences.bits(bits_of) < 0.95 * bytes.bits(bits_of) ? kDifferences : kBytes;
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

void ColumnWriter::column(std::span<const std::uint64_t> values) {
  if (values.empty()) return;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::uint64_t lowest = *low;
  const std::uint64_t kind = lowest == *high ? kSame : kindFor(values, lowest);
  number(kind);
  if (kind == kNumbers) {
    for (const std::uint64_t value : values) number(value);
    return;
  }
  number(kind == kDifferences ? values.front() : lowest);
  if (kind == kSame) return;
  const std::size_t begin = bytes_.size();
  bytes_.resize(begin + values.size());
  char* to = bytes_.data() + begin;
  if (kind == kBytes) {
    for (const std::uint64_t value : values) *to++ = static_cast<char>(value - lowest);
    return;
  }
  std::uint64_t last = values.front();
  for (const std::uint64_t value : values) {
    *to++ = static_cast<char>(zigzag(value - last));
    last = value;
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
