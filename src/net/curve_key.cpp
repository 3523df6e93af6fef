#include "net/curve_key.h"

#include <zmq.h>

#include <algorithm>

namespace pingloom::net {
namespace {

using Z85 = std::array<char, CurveKey::kTextBytes + 1>;  // with the final zero

bool isAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool needsNoQuotes(std::string_view text) {
  constexpr std::string_view kHarmless = ".-+=^:/@%";
  return isAlphanumeric(text.front()) && isAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return isAlphanumeric(c) || kHarmless.find(c) != std::string_view::npos;
         });
}

}  // namespace

Result<CurveKey> CurveKey::parse(std::string_view text) {
  Z85 z85{};
  std::array<unsigned char, kBytes> bytes{};
  const bool sized = text.size() == kTextBytes;
  if (sized) std::copy(text.begin(), text.end(), z85.begin());
  if (!sized || zmq_z85_decode(bytes.data(), z85.data()) == nullptr) {
    return makeError("", "a key has 40 characters, as `pingloom keys generate` prints it");
  }
  CurveKey key;
  std::copy(text.begin(), text.end(), key.text_.begin());
  return key;
}

CurveKey CurveKey::fromBytes(const std::array<unsigned char, kBytes>& bytes) {
  Z85 z85{};
  zmq_z85_encode(z85.data(), bytes.data(), bytes.size());
  CurveKey key;
  std::copy_n(z85.begin(), kTextBytes, key.text_.begin());
  return key;
}

Result<CurveKey> CurveKey::fromWire(std::string_view bytes) {
  std::array<unsigned char, kBytes> raw{};
  if (bytes.size() != raw.size()) return makeError("", "a key has 32 bytes");
  std::copy(bytes.begin(), bytes.end(), raw.begin());
  return fromBytes(raw);
}

std::string CurveKey::wire() const {
  Z85 z85{};
  std::copy(text_.begin(), text_.end(), z85.begin());
  std::array<unsigned char, kBytes> bytes{};
  zmq_z85_decode(bytes.data(), z85.data());
  return {bytes.begin(), bytes.end()};
}

CurvePair CurvePair::of(const CurveKey& secret) {
  Z85 z85{};
  std::copy(secret.text_.begin(), secret.text_.end(), z85.begin());
  Z85 derived{};
  zmq_curve_public(derived.data(), z85.data());
  CurvePair pair{secret, CurveKey()};
  std::copy_n(derived.begin(), CurveKey::kTextBytes, pair.public_key.text_.begin());
  return pair;
}

CurvePair CurvePair::generate() {
  for (;;) {
    Z85 public_text{};
    Z85 secret_text{};
    zmq_curve_keypair(public_text.data(), secret_text.data());
    if (!needsNoQuotes({public_text.data(), CurveKey::kTextBytes})) continue;
    CurvePair pair{CurveKey(), CurveKey()};
    std::copy_n(secret_text.begin(), CurveKey::kTextBytes, pair.secret.text_.begin());
    std::copy_n(public_text.begin(), CurveKey::kTextBytes, pair.public_key.text_.begin());
    return pair;
  }
}

}  // namespace pingloom::net
