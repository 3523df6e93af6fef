// A key of ZeroMQ's CURVE security. Its text form is Z85: 40 printable characters without quotes,
// blanks or backslashes stand for 32 bytes. A plain value; any thread.
//
// curve_key.cpp calls libzmq's C functions for keys, because cppzmq has none.
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

  // The error does not repeat the text, because that may be a secret.
  static Result<CurveKey> parse(std::string_view text);
  static CurveKey fromBytes(const std::array<unsigned char, kBytes>& bytes);
  // Reads the kBytes of a key in binary form.
  static Result<CurveKey> fromWire(std::string_view bytes);

  std::string_view text() const { return {text_.data(), text_.size()}; }
  // Returns the kBytes of the binary form.
  std::string wire() const;

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
  // Makes a new pair. Its public key needs no quotes in YAML or in a shell, which costs about ten
  // of its 256 random bits.
  static CurvePair generate();
};

struct CurveKeyHash {
  std::size_t operator()(const CurveKey& key) const {
    return std::hash<std::string_view>()(key.text());
  }
};

}  // namespace pingloom::net
