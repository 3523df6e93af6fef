// Loads and stores integers in network byte order at any address. Needs nothing but the C library.
#pragma once

#include <endian.h>

#include <cstdint>
#include <cstring>

namespace pingloom::wire {

inline std::uint16_t loadBe16(const std::uint8_t* from) {
  std::uint16_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return be16toh(value);
}
inline std::uint32_t loadBe32(const std::uint8_t* from) {
  std::uint32_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return be32toh(value);
}
inline std::uint64_t loadBe64(const std::uint8_t* from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return be64toh(value);
}
inline void storeBe16(std::uint8_t* to, std::uint16_t value) {
  value = htobe16(value);
  std::memcpy(to, &value, sizeof value);
}
inline void storeBe32(std::uint8_t* to, std::uint32_t value) {
  value = htobe32(value);
  std::memcpy(to, &value, sizeof value);
}
inline void storeBe64(std::uint8_t* to, std::uint64_t value) {
  value = htobe64(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace pingloom::wire
