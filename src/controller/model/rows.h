// The latest rows of a source, by destination. Values; as thread-safe as a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "controller/model/packed_row.h"
#include "controller/model/row.h"
#include "controller/model/row_packer.h"

namespace pingloom::controller {

// The rows of one source, indexed like ProbeGrid::destinations. If the source does not probe the
// destination (itself, the other address family, not sampled), or there is no window yet, the row
// has sent == 0. Only rows that were written take memory: 12 bytes each, and what PackedRow has
// behind its head. Rows that were replaced by longer ones take at most as much again.
class Rows {
 public:
  struct Entry {
    std::uint32_t destination = 0;
    std::uint32_t offset = 0;  // of what is behind the row's head
    std::uint32_t head = 0;
  };

  Rows() = default;
  explicit Rows(std::size_t size) : size_(size) {}
  Rows(std::initializer_list<Row> rows) {
    for (const Row& row : rows) add(row);
  }

  std::size_t size() const { return size_; }
  void resize(std::size_t size) { size_ = size; }  // REQUIRES: size >= size()
  // Makes room for rows like those of a source's earlier window.
  void reserveLike(const Rows& earlier);
  // Returns memory that was set aside for more rows than there are.
  void trim();

  Row operator[](std::size_t destination) const { return packed(destination).row(); }
  // The view is valid until a row is written.
  PackedRow packed(std::size_t destination) const {
    const std::size_t at = find(destination);
    return isAt(at, destination) ? of(entries_[at]) : PackedRow();
  }
  // Writes a row, or replaces it. REQUIRES: destination < size(), and `row` is none of these rows.
  void set(std::size_t destination, const PackedRow& row);
  void set(std::size_t destination, const Row& row) { set(destination, RowPacker().pack(row)); }
  void add(const Row& row) { set(size_++, row); }

  // The rows that were written, ascending by destination.
  const std::vector<Entry>& entries() const { return entries_; }
  PackedRow of(const Entry& entry) const { return {entry.head, bytes_.data() + entry.offset}; }

 private:
  bool isAt(std::size_t at, std::size_t destination) const {
    return at < entries_.size() && entries_[at].destination == destination;
  }
  std::size_t find(std::size_t destination) const {
    // In a full mesh a row stands at its own number, or one before it: only the source's own row is
    // missing.
    if (isAt(destination, destination)) return destination;
    if (destination > 0 && isAt(destination - 1, destination)) return destination - 1;
    return search(destination);
  }
  std::size_t search(std::size_t destination) const;
  bool overwrite(Entry& entry, const PackedRow& row);
  std::uint32_t append(const PackedRow& row);
  void compact();

  std::size_t size_ = 0;
  std::vector<Entry> entries_;
  std::vector<char> bytes_;  // what the rows have behind their heads, in any order
  std::size_t wasted_ = 0;   // bytes that belong to no row any more
};

}  // namespace pingloom::controller
