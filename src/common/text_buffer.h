// Collects short pieces of text and numbers on the stack, and appends them to a string in few
// steps: for a piece of a few bytes, the string's own append costs several times as much as the
// copy. What has been added is in the string after finish() or string(). One thread per object.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace pingloom {

class TextBuffer {
 public:
  // REQUIRES: `out` outlives the buffer, and only the buffer writes to it, except between a call of
  // string() and the next of any other function.
  explicit TextBuffer(std::string& out) : out_(out) {}
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  void add(std::string_view text) {
    if (text.size() > left()) return addLong(text);
    end_ = std::copy(text.begin(), text.end(), end_);
  }
  void add(char c) {
    if (left() == 0) flush();
    *end_++ = c;
  }
  void addNumber(std::uint64_t number) {
    if (left() < kMaxDigits) flush();
    writeNumber(number);
  }
  // Adds a literal and a number behind it. Unlike add(), it copies the literal with a few
  // instructions, because the compiler knows its size.
  template <std::size_t kSize>
  void addField(const char (&literal)[kSize], std::uint64_t number) {
    static_assert(kSize + kMaxDigits <= kRoom);
    if (left() < kSize + kMaxDigits) flush();
    std::memcpy(end_, literal, kSize - 1);
    end_ += kSize - 1;
    writeNumber(number);
  }
  void finish() { flush(); }
  // Returns the string with everything that was added, for functions that append to a string.
  std::string& string() {
    flush();
    return out_;
  }

 private:
  static constexpr std::size_t kMaxDigits = 20;
  static constexpr std::size_t kRoom = 1024;

  std::size_t left() const {
    return static_cast<std::size_t>(bytes_.data() + bytes_.size() - end_);
  }
  // REQUIRES: there is room for kMaxDigits.
  void writeNumber(std::uint64_t number) {
    if (number < 10) {
      *end_++ = static_cast<char>('0' + number);
    } else {
      end_ = std::to_chars(end_, end_ + kMaxDigits, number).ptr;
    }
  }
  void flush() {
    out_.append(bytes_.data(), end_);
    end_ = bytes_.data();
  }
  // Keeps the rare case out of the callers' code.
  [[gnu::noinline]] void addLong(std::string_view text) {
    flush();
    if (text.size() > left()) {
      out_.append(text);
    } else {
      add(text);
    }
  }

  std::string& out_;
  std::array<char, kRoom> bytes_;
  char* end_ = bytes_.data();
};

}  // namespace pingloom
