// Columns of numbers that are small, near each other or all the same, written as bytes that zstd
// compresses well. One thread per object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pingloom::controller {

class ColumnWriter {
 public:
  void number(std::uint64_t value);  // as LEB128: a byte for each 7 bits
  void text(std::string_view bytes);
  // Writes one number if all are the same, and a byte each if they are near each other. The bytes
  // do not depend on the type of the numbers.
  void column(std::span<const std::uint64_t> values);
  void column(std::span<const std::uint32_t> values);
  void column(std::span<const std::uint16_t> values);

  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  template <typename Number>
  void writeColumn(std::span<const Number> values);

  std::string bytes_;
  std::string from_lowest_;  // the column that is written, as a byte for each number
  std::string differences_;
};

// A column that has been read; it is valid as long as its bytes. Numbers that take one byte are not
// copied.
class Column {
 public:
  std::size_t size() const { return size_; }
  std::uint64_t operator[](std::size_t i) const {
    if (!bytes_.empty()) return base_ + static_cast<std::uint8_t>(bytes_[i]);
    return numbers_.empty() ? base_ : numbers_[i];
  }
  // Calls `use` with a function that returns the number at a place, so that the kind of the column
  // is looked at only once.
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
  // Sets the marks of all numbers that are not the same as the one before.
  void markChanges(std::uint8_t* marks) const {
    if (same()) return;
    read([marks, size = size_](auto number) {
      for (std::size_t i = 1; i < size; ++i) {
        marks[i] = static_cast<std::uint8_t>(marks[i] | (number(i) != number(i - 1) ? 1 : 0));
      }
    });
  }
  bool same() const { return bytes_.empty() && numbers_.empty(); }  // all numbers are
  // The numbers themselves if each is a byte; nullptr otherwise.
  const char* bytes() const { return base_ == 0 && !bytes_.empty() ? bytes_.data() : nullptr; }

 private:
  friend class ColumnReader;
  std::size_t size_ = 0;
  std::uint64_t base_ = 0;
  std::string_view bytes_;
  std::vector<std::uint64_t> numbers_;
};

// The bytes come from a disk: malformed ones read as 0, and ok() is false from then on.
class ColumnReader {
 public:
  explicit ColumnReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number();
  std::string_view text(std::size_t longest);
  // Reads `size` numbers into `out`, whose memory is reused.
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
