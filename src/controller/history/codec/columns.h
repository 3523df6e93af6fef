// Columns of numbers that are small, near each other or all the same, as bytes of which zstd makes
// little. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pingloom::controller {

class ColumnWriter {
 public:
  void number(std::uint64_t value);  // LEB128: a byte for each 7 bits
  void text(std::string_view bytes);
  // One number where all are the same, a byte each where they are near each other.
  void column(std::span<const std::uint64_t> values);

  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

// A column where it lies; valid as long as its bytes are. Numbers that take one byte are not
// copied.
class Column {
 public:
  std::size_t size() const { return size_; }
  std::uint64_t operator[](std::size_t i) const {
    if (!bytes_.empty()) return base_ + static_cast<std::uint8_t>(bytes_[i]);
    return numbers_.empty() ? base_ : numbers_[i];
  }
  // Calls `use` with a function that has the number at each place: how it finds it is decided once.
  template <typename Use>
  void read(Use use) const {
    if (!bytes_.empty()) {
      use([base = base_, bytes = bytes_.data()](std::size_t i) {
        return base + static_cast<std::uint8_t>(bytes[i]);
      });
    } else if (!numbers_.empty()) {
      use([numbers = numbers_.data()](std::size_t i) { return numbers[i]; });
    } else {
      use([base = base_](std::size_t /*i*/) { return base; });
    }
  }
  bool same() const { return bytes_.empty() && numbers_.empty(); }  // all of them
  // The numbers themselves where each is a byte; nullptr otherwise.
  const char* bytes() const { return base_ == 0 && !bytes_.empty() ? bytes_.data() : nullptr; }

 private:
  friend class ColumnReader;
  std::size_t size_ = 0;
  std::uint64_t base_ = 0;
  std::string_view bytes_;
  std::vector<std::uint64_t> numbers_;
};

// The bytes come from a disk: what they cannot be reads as 0, and ok() is false from then on.
class ColumnReader {
 public:
  explicit ColumnReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number();
  std::string_view text(std::size_t longest);
  // `size` numbers into `out`, whose memory is used again.
  void column(std::size_t size, Column& out);

  bool ok() const { return ok_; }
  std::size_t left() const { return rest_.size(); }  // bytes
  bool ended() const { return rest_.empty(); }

 private:
  void differences(std::size_t size, Column& out);

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace pingloom::controller
