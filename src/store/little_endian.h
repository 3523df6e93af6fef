// Numbers in little endian at any place in memory. Pure functions; any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace pingloom::store {

static_assert(std::endian::native == std::endian::little, "a store is mapped as it is");

// REQUIRES: sizeof(Number) bytes from `offset` are within `bytes`.
template <typename Number>
Number getLittle(std::span<const std::uint8_t> bytes, std::size_t offset) {
  static_assert(std::is_integral_v<Number>);
  Number number{};
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

template <typename Number>
void putLittle(std::span<std::uint8_t> bytes, std::size_t offset, Number number) {
  static_assert(std::is_integral_v<Number>);
  std::memcpy(bytes.data() + offset, &number, sizeof number);
}

}  // namespace pingloom::store
