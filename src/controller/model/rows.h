// The latest rows of a source, by destination. Values; as thread-safe as a vector.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "common/distribution.h"
#include "common/vocabulary.h"

namespace pingloom::controller {

// The latest window of one pair. A part with count 0 was not measured.
struct Row {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::uint32_t lost = 0;
  std::uint32_t refused = 0;
  std::uint32_t unreachable = 0;
  std::uint32_t ack_lost = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t late = 0;
  std::uint32_t misfit = 0;   // part of unreachable; the history does not keep it
  std::uint32_t skipped = 0;  // not part of sent; the history does not keep it
  // PINGs of the destination's own flow to the source that arrived, of those that left in the same
  // window; nullopt if it is not known. The history does not keep it.
  std::optional<std::uint32_t> inbound;
  std::array<std::uint32_t, kAnomalies> anomalous{};
  Summary network;
  Summary responder;
  Summary prober;
  Summary rtt;
  std::optional<std::uint64_t> jitter_ns;
};

constexpr std::array<std::uint32_t Row::*, 8> kRowCounts = {
    &Row::sent,        &Row::received, &Row::lost,      &Row::refused,
    &Row::unreachable, &Row::ack_lost, &Row::duplicate, &Row::late};
// The parts of a row that have samples.
constexpr std::array<Summary Row::*, 4> kRowParts = {&Row::network, &Row::responder, &Row::prober,
                                                     &Row::rtt};

// The rows of one source, indexed like ProbeGrid::destinations. If the source does not probe the
// destination (itself, the other address family, not sampled), or there is no window yet, the row
// has sent == 0. Only rows that were written take memory: sizeof(Row) + 8 bytes each.
class Rows {
 public:
  struct Entry {
    std::uint32_t destination = 0;
    std::uint32_t place = 0;  // in the order of writing
  };

  Rows() = default;
  explicit Rows(std::size_t size) : size_(size) {}
  Rows(std::initializer_list<Row> rows) {
    for (const Row& row : rows) add(row);
  }

  std::size_t size() const { return size_; }
  void resize(std::size_t size) { size_ = size; }  // REQUIRES: size >= size()
  void reserve(std::size_t rows) {
    entries_.reserve(rows);
    rows_.reserve(rows);
  }
  void add(const Row& row) { (*this)[size_++] = row; }

  const Row& operator[](std::size_t destination) const {
    static const Row none;
    const std::size_t at = find(destination);
    return isAt(at, destination) ? rows_[entries_[at].place] : none;
  }
  // Makes the row if there is none. The reference is valid until another row is made.
  Row& operator[](std::size_t destination) {
    const std::size_t at = find(destination);
    if (isAt(at, destination)) return rows_[entries_[at].place];
    entries_.insert(
        entries_.begin() + static_cast<std::ptrdiff_t>(at),
        {static_cast<std::uint32_t>(destination), static_cast<std::uint32_t>(rows_.size())});
    return rows_.emplace_back();
  }

  // The rows that were written, ascending by destination.
  const std::vector<Entry>& entries() const { return entries_; }
  const Row& of(const Entry& entry) const { return rows_[entry.place]; }

 private:
  bool isAt(std::size_t at, std::size_t destination) const {
    return at < entries_.size() && entries_[at].destination == destination;
  }
  // Returns where the destination is or belongs. In a full mesh a row stands at its own number, or
  // one before it: only the source's own row is missing.
  std::size_t find(std::size_t destination) const {
    if (isAt(destination, destination)) return destination;
    if (destination > 0 && isAt(destination - 1, destination)) return destination - 1;
    if (entries_.empty() || entries_.back().destination < destination) return entries_.size();
    const auto found = std::lower_bound(
        entries_.begin(), entries_.end(), destination,
        [](const Entry& entry, std::size_t wanted) { return entry.destination < wanted; });
    return static_cast<std::size_t>(found - entries_.begin());
  }

  std::size_t size_ = 0;
  std::vector<Entry> entries_;
  std::vector<Row> rows_;
};

}  // namespace pingloom::controller
