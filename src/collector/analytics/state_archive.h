// Writes what a detector has learned as bytes and reads it again. Each class that learns has a
// function state(archive) that names its members: a writing archive appends them, a reading one
// fills them, so both know the same order. What follows from other members, or is found anew with
// each sample, is left out.
//
// Numbers have the machine's size and byte order, because only the collector that wrote them reads
// them. A reading archive trusts nothing: it refuses numbers that are not finite, and vectors of
// another size than they have. What state() has filled after a refusal is to be discarded. One
// thread.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pingloom::collector::analytics {

class StateArchive {
 public:
  // Writes: it appends to `out`, which has to outlive it.
  explicit StateArchive(std::string& out) : out_(&out) {}
  // Reads.
  explicit StateArchive(std::string_view in) : in_(in) {}

  bool reads() const { return out_ == nullptr; }
  // The number of bytes that are still to be read.
  std::size_t left() const { return in_.size(); }
  bool ok() const { return ok_; }
  // Refuses what was read unless `valid`.
  void require(bool valid) { ok_ = ok_ && valid; }

  template <typename... Value>
  void operator()(Value&... values) {
    (one(values), ...);
  }
  void text(std::string& value, std::size_t most) {
    std::size_t size = value.size();
    one(size);
    require(size <= most && (!reads() || size <= left()));
    if (!ok_) return;
    value.resize(size);
    bytes(value.data(), size);
  }
  template <typename Number>
  void numbers(std::span<Number> values) {
    bytes(values.data(), values.size_bytes());
    if constexpr (std::is_floating_point_v<Number>) {
      for (const Number value : values) require(std::isfinite(value));
    }
  }

 private:
  void one(bool& value) {
    std::uint8_t byte = value ? 1 : 0;
    one(byte);
    require(byte <= 1);
    value = byte == 1;
  }
  void one(std::vector<bool>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      bool value = values[i];
      one(value);
      values[i] = value;
    }
  }
  template <typename Value>
  void one(std::vector<Value>& values) {
    std::size_t size = values.size();
    one(size);
    require(size == values.size());
    all(std::span(values));
  }
  template <typename Value, std::size_t kSize>
  void one(std::array<Value, kSize>& values) {
    all(std::span<Value>(values));
  }
  template <typename Value>
  void one(Value& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      numbers(std::span(&value, 1));
    } else {
      value.state(*this);
    }
  }
  template <typename Value>
  void all(std::span<Value> values) {
    if constexpr (std::is_arithmetic_v<Value>) {
      numbers(values);
    } else {
      for (Value& value : values) {
        if (!ok_) return;
        one(value);
      }
    }
  }
  void bytes(void* values, std::size_t size) {
    if (!reads()) {
      out_->append(static_cast<const char*>(values), size);
      return;
    }
    require(size <= in_.size());
    if (!ok_ || size == 0) return;
    std::memcpy(values, in_.data(), size);
    in_.remove_prefix(size);
  }

  std::string* out_ = nullptr;
  std::string_view in_;
  bool ok_ = true;
};

}  // namespace pingloom::collector::analytics
