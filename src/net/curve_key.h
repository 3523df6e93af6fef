// A key of ZeroMQ's CURVE security as people write it: Z85, 40 printable characters without quotes,
// blanks or backslashes, for 32 bytes. A plain value; any thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom::net {

class CurveKey {
 public:
  static constexpr std::size_t kTextBytes = 40;
  static constexpr std::size_t kBytes = 32;

  // The error does not repeat the text: it may be a secret.
  static Result<CurveKey> parse(std::string_view text);
  static CurveKey fromBytes(const std::array<unsigned char, kBytes>& bytes);
  static Result<CurveKey> fromWire(std::string_view bytes);  // kBytes of them

  std::string_view text() const { return {text_.data(), text_.size()}; }
  std::string wire() const;  // kBytes

  auto operator<=>(const CurveKey&) const = default;

 private:
  friend struct CurvePair;
  CurveKey() = default;
  std::array<char, kTextBytes> text_{};
};

struct CurvePair {
  CurveKey secret;
  CurveKey public_key;

  static CurvePair of(const CurveKey& secret);
  // A new one whose public key needs no quotes, neither in YAML nor in a shell: of the 256 bits of
  // choice this takes about ten.
  static CurvePair generate();
};

struct CurveKeyHash {
  std::size_t operator()(const CurveKey& key) const {
    return std::hash<std::string_view>()(key.text());
  }
};

}  // namespace pingloom::net
