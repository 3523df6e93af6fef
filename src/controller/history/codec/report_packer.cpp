#include "controller/history/codec/report_packer.h"

#include <algorithm>
#include <optional>

#include "common/histogram.h"
#include "controller/history/codec/part_writer.h"
#include "controller/model/report_reader.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxProbes = 1024;  // the levels of this many are remembered

// The two below check like wire::decode(). Minimum, mean and maximum follow from the steps.
bool addExact(std::span<const std::uint32_t> deltas, SampleBuckets& out) {
  if (deltas.size() > Distribution::kExactSamples) return false;
  std::uint64_t value = 0;
  std::uint16_t* next = out.addSingle(deltas.size()).data();
  for (const std::uint32_t delta : deltas) {
    value += delta;
    *next++ = static_cast<std::uint16_t>(histogram::bucketOf(value));
  }
  return value <= UINT32_MAX;
}

bool addBuckets(const wire::SampleSetView& set, SampleBuckets& out) {
  if (!set.sample_deltas.empty() || set.bucket_deltas.size() != set.bucket_counts.size()) {
    return false;
  }
  std::uint64_t bucket = 0;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < set.bucket_deltas.size(); ++i) {
    if (i > 0 && set.bucket_deltas[i] == 0) return false;
    bucket += set.bucket_deltas[i];
    count += set.bucket_counts[i];
    if (bucket >= histogram::kBuckets || set.bucket_counts[i] == 0 || count > UINT32_MAX) {
      return false;
    }
    out.add(static_cast<std::uint16_t>(bucket), set.bucket_counts[i]);
  }
  return true;
}

// The destination of a row that begins with it, as agents write rows; other rows must be parsed.
std::optional<IpAddress> destinationAtFrontOf(std::string_view row) {
  if (row.size() < 2 || row[0] != '\x0a') return std::nullopt;
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(row[1]));
  const auto address = IpAddress::fromWire(row.substr(2, length));
  if (!address) return std::nullopt;
  return *address;
}

}  // namespace

Result<bool> ReportPacker::pack(std::string_view report, const Take& take) {
  if (!view_.read(report)) return false;
  const auto head = readHead(view_.head());
  if (!head || !readPlaces()) return false;
  const BlockHead block_head{head->protocol, head->clock, view_.head().device(), false};
  if (levels_.size() > kMaxProbes) levels_.clear();
  std::size_t& level = levels_[view_.head().probe()];
  std::span<const Place> places = places_;
  do {
    const auto some = places.first(std::min(places.size(), kMaxContentPairs));
    places = places.subspan(some.size());
    const auto content = encodeWithin(windowBudget(some.size()), kWindowPrecisions.size(), level,
                                      [&](std::size_t at) { return encode(block_head, some, at); });
    if (!content) return tl::unexpected(content.error());
    if (content->empty()) return false;
    if (auto status = take(*content); !status) return tl::unexpected(status.error());
  } while (!places.empty());
  return true;
}

Result<std::string_view> ReportPacker::encode(const BlockHead& head, std::span<const Place> places,
                                              std::size_t level) {
  const std::size_t pairs = evenBlockPairs(places.size(), kWindowPairs);
  content_.clear();
  for (std::size_t from = 0; from == 0 || from < places.size(); from += pairs) {
    if (!readRows(places.subspan(from, std::min(pairs, places.size() - from)))) {
      return std::string_view{};
    }
    auto block = encodeBlock(head, kWindowPrecisions[level]);
    if (!block) return block;
    content_ += *block;
  }
  return std::string_view(content_);
}

bool ReportPacker::readPlaces() {
  places_.clear();
  for (std::size_t i = 0; i < view_.rows().size(); ++i) {
    if (const auto destination = destinationAtFrontOf(view_.rows()[i])) {
      places_.push_back({*destination, i});
      continue;
    }
    const auto row = view_.row(i);
    const auto destination = IpAddress::fromWire(row ? (*row)->destination : "");
    if (!destination) return false;
    places_.push_back({*destination, i});
  }
  const auto before = [](const Place& a, const Place& b) { return a.destination < b.destination; };
  if (!std::is_sorted(places_.begin(), places_.end(), before)) {
    std::stable_sort(places_.begin(), places_.end(), before);
  }
  return true;
}

bool ReportPacker::readRows(std::span<const Place> places) {
  destinations_.clear();
  rows_.resize(places.size());  // readCounts() sets all that is written of a row
  for (SampleBuckets& samples : samples_) samples.clear();
  for (std::size_t i = 0; i < places.size(); ++i) {
    destinations_.push_back(places[i].destination);
    const auto row = view_.row(places[i].row);
    if (!row) return false;
    // Addresses are compared instead of bytes, because IPv4 may be written as IPv6.
    const auto destination = IpAddress::fromWire((*row)->destination);
    if (!destination || *destination != destinations_.back()) return false;
    const wire::RowView& in = **row;
    readCounts(in, rows_[i]);
    for (std::size_t part = 0; part < samples_.size(); ++part) {
      const wire::SampleSetView& set = in.*wire::kRowViewParts[part];
      const bool added = set.bucket_deltas.empty() ? addExact(set.sample_deltas, samples_[part])
                                                   : addBuckets(set, samples_[part]);
      if (!added) return false;
      samples_[part].endPair();
    }
  }
  return true;
}

Result<std::string_view> ReportPacker::encodeBlock(const BlockHead& head,
                                                   const WindowPrecision& precision) {
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    parts_[part].clear();
    encodeSamples(samples_[part], precision.merged[part], parts_[part]);
  }
  return writer_.write(head, destinations_, rows_, precision.jitter, parts_);
}

}  // namespace pingloom::controller
