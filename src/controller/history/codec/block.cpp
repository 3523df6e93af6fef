#include "controller/history/codec/block.h"

#include <algorithm>

#include "controller/model/report_reader.h"

namespace pingloom::controller {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kHead = 0;
constexpr std::size_t kCounts = 1;
constexpr std::size_t kFirstPart = 2;

std::uint64_t wordOf(const IpAddress& address, std::size_t from) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word = (word << 8) | address.bytes()[from + i];
  return word;
}

IpAddress v6Of(std::uint64_t high, std::uint64_t low) {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  return IpAddress::fromBytes16(bytes.data());
}

// Writes each address as its difference to the one before, which is nearly always the same in a
// regular numbering.
void writeDestinations(std::span<const IpAddress> destinations, ColumnWriter& out) {
  const auto v4_end = std::partition_point(destinations.begin(), destinations.end(),
                                           [](const IpAddress& at) { return at.isV4(); });
  std::vector<std::uint64_t> v4;
  std::vector<std::uint64_t> high;
  std::vector<std::uint64_t> low;
  std::uint64_t last = 0;
  for (auto at = destinations.begin(); at != v4_end; ++at) {
    v4.push_back(at->v4() - last);
    last = at->v4();
  }
  std::uint64_t last_high = 0;
  std::uint64_t last_low = 0;
  for (auto at = v4_end; at != destinations.end(); ++at) {
    high.push_back(wordOf(*at, 0) - last_high);
    low.push_back(wordOf(*at, 8) - last_low);
    last_high += high.back();
    last_low += low.back();
  }
  // The first address is written separately: its distance from 0 would spoil the column.
  for (const auto* column : {&v4, &high, &low}) {
    out.number(column->size());
    if (column->empty()) continue;
    out.number(column->front());
    out.column(std::span(*column).subspan(1));
  }
}

// Reads a list of differences as writeDestinations() writes it, and adds them up.
bool readSums(ColumnReader& in, std::size_t most, std::vector<std::uint64_t>& out) {
  out.clear();
  const std::uint64_t size = in.number();
  if (!in.ok() || size > most) return false;
  if (size == 0) return true;
  std::uint64_t sum = in.number();
  Column column;
  in.column(size - 1, column);
  if (!in.ok()) return false;
  out.push_back(sum);
  for (std::size_t i = 0; i + 1 < size; ++i) out.push_back(sum += column[i]);
  return true;
}

}  // namespace

Result<std::string_view> BlockWriter::write(const BlockHead& head,
                                            std::span<const IpAddress> destinations,
                                            std::span<const Row> rows, unsigned jitter_merged,
                                            std::span<const ColumnWriter, kRowParts.size()> parts) {
  block_.assign(1, static_cast<char>(kVersion));
  sections_.clear();
  ColumnWriter sizes;
  const auto append = [&](const std::string& bytes) -> Status {
    if (bytes.empty()) {
      sizes.number(0);
      return {};
    }
    const auto compressed = compressor_.compress(bytes);
    if (!compressed) return tl::unexpected(compressed.error());
    sizes.number(compressed->size());
    sections_ += *compressed;
    return {};
  };
  section_.clear();
  section_.number(static_cast<std::uint64_t>(head.protocol));
  section_.number(static_cast<std::uint64_t>(head.clock));
  section_.number(head.minute ? 1 : 0);
  section_.text(head.device);
  writeDestinations(destinations, section_);
  if (auto status = append(section_.bytes()); !status) return tl::unexpected(status.error());
  section_.clear();
  encodeCounts(rows, jitter_merged, section_);
  if (auto status = append(section_.bytes()); !status) return tl::unexpected(status.error());
  for (const ColumnWriter& part : parts) {
    if (auto status = append(part.bytes()); !status) return tl::unexpected(status.error());
  }
  block_ += sizes.bytes();
  block_ += sections_;
  return std::string_view(block_);
}

bool BlockReader::open(std::string_view bytes) {
  network_read_ = false;
  ColumnReader in(bytes);
  if (in.number() != kVersion) return false;
  std::array<std::uint64_t, kSections> sizes{};
  std::uint64_t total = 0;
  for (std::uint64_t& size : sizes) {
    size = in.number();
    if (size > bytes.size()) return false;
    total += size;
  }
  if (!in.ok() || total > in.left() || sizes[kHead] == 0 || sizes[kCounts] == 0) return false;
  rest_ = bytes.substr(bytes.size() - in.left());
  for (std::size_t i = 0; i < kSections; ++i) {
    sections_[i] = rest_.substr(0, sizes[i]);
    rest_.remove_prefix(sizes[i]);
  }
  if (!last_head_.empty() && sections_[kHead] == last_head_) return true;
  last_head_.clear();
  ++heads_read_;
  if (!section(kHead, bytes_[kHead]) || !readHead(bytes_[kHead])) return false;
  last_head_ = sections_[kHead];
  return true;
}

bool BlockReader::section(std::size_t number, std::string& out) {
  const std::size_t most = budget_ ? std::min(*budget_, kMaxSectionBytes) : kMaxSectionBytes;
  if (!decompressor_.decompress(sections_[number], most, out)) return false;
  if (budget_) *budget_ -= out.size();
  return true;
}

bool BlockReader::readHead(std::string_view section) {
  ColumnReader in(section);
  const std::uint64_t protocol = in.number();
  const std::uint64_t clock = in.number();
  const std::uint64_t minute = in.number();
  if (protocol < 1 || protocol > kProtocolNames.size() || clock < 1 ||
      clock > kClockSourceNames.size() || minute > 1) {
    return false;
  }
  head_.protocol = static_cast<Protocol>(protocol);
  head_.clock = static_cast<ClockSource>(clock);
  head_.minute = minute == 1;
  head_.device = in.text(kMaxDeviceName);
  return readDestinations(in) && in.ok() && in.ended();
}

bool BlockReader::readDestinations(ColumnReader& in) {
  destinations_.clear();
  std::vector<std::uint64_t> v4;
  std::vector<std::uint64_t> high;
  std::vector<std::uint64_t> low;
  if (!readSums(in, kMaxBlockPairs, v4) || !readSums(in, kMaxBlockPairs - v4.size(), high) ||
      !readSums(in, high.size(), low) || low.size() != high.size()) {
    return false;
  }
  for (const std::uint64_t address : v4) {
    if (address > UINT32_MAX) return false;
    destinations_.push_back(IpAddress::fromV4(static_cast<std::uint32_t>(address)));
  }
  for (std::size_t i = 0; i < high.size(); ++i) {
    destinations_.push_back(v6Of(high[i], low[i]));
  }
  return std::is_sorted(destinations_.begin(), destinations_.end());
}

bool BlockReader::readCounts() {
  return section(kCounts, bytes_[kCounts]) && counts_.read(bytes_[kCounts], destinations_.size());
}

void BlockReader::pairCounts(std::vector<CountRun>& out) {
  const std::size_t pairs = destinations_.size();
  marks_.assign(pairs, 0);
  counts_.markChanges(marks_.data());
  if (network_read_) parts_[0].markChanges(marks_.data());
  for (std::size_t pair = 0; pair < pairs;) {
    PairCounts counts = counts_.counts(pair);
    counts.timed = !network_read_ || sampleCount(0, pair) > 0 ? 1 : 0;
    const auto next = marks_.begin() + static_cast<std::ptrdiff_t>(pair) + 1;
    const auto end = static_cast<std::size_t>(std::find(next, marks_.end(), 1) - marks_.begin());
    appendRun(counts, end - pair, out);
    pair = end;
  }
}

bool BlockReader::readAll() {
  if (!readCounts()) return false;
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    if (!readPart(part)) return false;
  }
  return true;
}

bool BlockReader::readPart(std::size_t part) {
  network_read_ = network_read_ || part == 0;
  const std::size_t number = kFirstPart + part;
  if (sections_[number].empty()) return parts_[part].read({}, destinations_.size());
  return section(number, bytes_[number]) && parts_[part].read(bytes_[number], destinations_.size());
}

}  // namespace pingloom::controller
