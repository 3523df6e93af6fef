#include "store/key_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/hex.h"
#include "common/text.h"
#include "store/layout.h"
#include "store/tuple_key.h"

namespace pingloom::store {
namespace {

Result<std::vector<std::uint8_t>> parseHex(std::string_view digits) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const auto byte = hexByte(digits[i], digits[i + 1]);
    if (!byte) return makeError("key", "hex: takes hexadecimal digits");
    bytes.push_back(*byte);
  }
  if (digits.size() % 2 != 0) return makeError("key", "hex: takes two digits for each byte");
  return bytes;
}

Result<std::vector<std::uint8_t>> parseU32(std::string_view digits) {
  const auto number = parseUnsigned(digits, UINT32_MAX);
  if (!number) return makeError("key", "u32: takes a number up to 4294967295");
  std::vector<std::uint8_t> bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::uint8_t>(*number >> shift));
  }
  return bytes;
}

Result<std::vector<std::uint8_t>> parseBody(std::string_view kind, std::string_view body) {
  if (kind == "text") return std::vector<std::uint8_t>(body.begin(), body.end());
  if (kind == "hex") return parseHex(body);
  if (kind == "u32") return parseU32(body);
  if (kind == "tuple") {
    const auto tuple = parseTuple(body);
    if (!tuple) return tl::unexpected(tuple.error());
    return tupleKey(*tuple);
  }
  return makeError("key",
                   "write text:TEXT, hex:DIGITS, u32:NUMBER or tuple:10.0.0.1:1>10.0.0.2:2/udp");
}

}  // namespace

Result<std::vector<std::uint8_t>> parseKey(std::string_view text) {
  const auto colon = text.find(':');
  const bool has = colon != std::string_view::npos;
  auto bytes = parseBody(has ? text.substr(0, colon) : "", has ? text.substr(colon + 1) : "");
  if (bytes && (bytes->empty() || bytes->size() > kMaxKeyBytes)) {
    return makeError("key", fmt::format("a key has 1 to {} bytes", kMaxKeyBytes));
  }
  return bytes;
}

std::string keyText(std::span<const std::uint8_t> key) {
  const std::string_view bytes(reinterpret_cast<const char*>(key.data()), key.size());
  const auto shows = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::all_of(bytes.begin(), bytes.end(), shows)) return "text:" + std::string(bytes);
  if (std::string tuple = tupleText(key); !tuple.empty()) {
    // Bytes of that length need not be a tuple.
    const auto parsed = parseKey(tuple);
    if (parsed && std::equal(parsed->begin(), parsed->end(), key.begin(), key.end())) return tuple;
  }
  if (key.size() != sizeof(std::uint32_t)) return "hex:" + hexOf(bytes);
  std::uint32_t number = 0;
  for (const std::uint8_t byte : key) number = number << 8 | byte;
  return fmt::format("u32:{}", number);
}

}  // namespace pingloom::store
