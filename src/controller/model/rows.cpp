#include "controller/model/rows.h"

#include <algorithm>
#include <utility>

namespace pingloom::controller {

void Rows::reserveLike(const Rows& earlier) {
  // A row's width changes with its numbers.
  constexpr std::size_t kMoreInverse = 32;
  const std::size_t bytes = earlier.bytes_.size() - earlier.wasted_;
  entries_.reserve(earlier.entries_.size());
  bytes_.reserve(bytes + bytes / kMoreInverse);
}

void Rows::trim() {
  // Copying the rows is worth it only where it frees much.
  constexpr std::size_t kSpareInverse = 8;
  if (entries_.capacity() > entries_.size() + entries_.size() / kSpareInverse) {
    entries_.shrink_to_fit();
  }
  if (bytes_.capacity() > bytes_.size() + bytes_.size() / kSpareInverse) bytes_.shrink_to_fit();
}

void Rows::set(std::size_t destination, const PackedRow& row) {
  const std::size_t at = find(destination);
  if (!isAt(at, destination)) {
    const Entry made{static_cast<std::uint32_t>(destination), append(row), row.head()};
    if (at == entries_.size()) {
      entries_.push_back(made);
    } else {
      entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at), made);
    }
    return;
  }
  Entry& entry = entries_[at];
  if (overwrite(entry, row)) return;
  wasted_ += of(entry).restBytes();
  entry.offset = append(row);
  entry.head = row.head();
  if (wasted_ > bytes_.size() / 2) compact();
}

// Returns the place of the destination, or that where it belongs.
std::size_t Rows::search(std::size_t destination) const {
  if (entries_.empty() || entries_.back().destination < destination) return entries_.size();
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), destination,
      [](const Entry& entry, std::size_t wanted) { return entry.destination < wanted; });
  return static_cast<std::size_t>(found - entries_.begin());
}

// Returns false if the row takes more room than the one before it.
bool Rows::overwrite(Entry& entry, const PackedRow& row) {
  const std::size_t room = of(entry).restBytes();
  const std::size_t size = row.restBytes();
  if (size > room) return false;
  std::copy_n(row.rest(), size, bytes_.data() + entry.offset);
  entry.head = row.head();
  wasted_ += room - size;
  return true;
}

// Returns the offset.
std::uint32_t Rows::append(const PackedRow& row) {
  const auto offset = static_cast<std::uint32_t>(bytes_.size());
  bytes_.insert(bytes_.end(), row.rest(), row.rest() + row.restBytes());
  return offset;
}

void Rows::compact() {
  Rows made(size_);
  made.entries_.reserve(entries_.size());
  made.bytes_.reserve(bytes_.size() - wasted_);
  for (const Entry& entry : entries_) {
    made.entries_.push_back({entry.destination, made.append(of(entry)), entry.head});
  }
  *this = std::move(made);
}

}  // namespace pingloom::controller
