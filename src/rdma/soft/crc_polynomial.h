// The CRC-32 of Ethernet as arithmetic: polynomials over GF(2) modulo the CRC's own, reflected, so
// that bit 31 stands for x^0 and bit 0 for x^31.
#pragma once

#include <cstdint>

namespace pingloom::rdma::soft {

constexpr std::uint32_t kCrcPolynomial = 0xEDB88320;

// What one bit of zero behind it makes of a CRC. T: 32 bits without a sign, or a vector of them.
template <typename T>
constexpr T timesX(T a) {
  return (a >> 1) ^ (kCrcPolynomial & -(a & 1));
}

}  // namespace pingloom::rdma::soft
