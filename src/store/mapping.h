// A file mapped into memory, shared with other processes; move-only. Any thread.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "common/error.h"

namespace pingloom::store {

enum class MapFor : std::uint8_t { kReading, kWriting };

class Mapping {
 public:
  Mapping() = default;
  // REQUIRES: the file has at least so many bytes, and is not cut while it is mapped.
  static Result<Mapping> of(int fd, std::size_t bytes, MapFor use, std::string_view entity);
  Mapping(Mapping&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Mapping() {
    if (!memory_.empty()) munmap(memory_.data(), memory_.size());
  }
  std::span<std::uint8_t> memory() const { return memory_; }

 private:
  std::span<std::uint8_t> memory_;
};

}  // namespace pingloom::store
