// Appends fields of Protocol Buffers messages
// (https://protobuf.dev/programming-guides/encoding/) to a string, for messages that are published
// elsewhere and of which a few fields are written. Any thread.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace pingloom::protobuf {

inline void appendVarint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// An int64, uint64, bool or enumeration.
inline void appendNumber(std::string& out, unsigned field, std::uint64_t value) {
  appendVarint(out, field << 3);
  appendVarint(out, value);
}

// A sint64 or sint32.
inline void appendSigned(std::string& out, unsigned field, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  appendNumber(out, field, (bits << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

inline void appendFixed64(std::string& out, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift);
}
inline void appendFixed64(std::string& out, unsigned field, std::uint64_t value) {
  appendVarint(out, field << 3 | 1);
  appendFixed64(out, value);
}
inline void appendDouble(std::string& out, unsigned field, double value) {
  appendFixed64(out, field, std::bit_cast<std::uint64_t>(value));
}

// A string, bytes or a message.
inline void appendBytes(std::string& out, unsigned field, std::string_view bytes) {
  appendVarint(out, field << 3 | 2);
  appendVarint(out, bytes.size());
  out += bytes;
}

}  // namespace pingloom::protobuf
