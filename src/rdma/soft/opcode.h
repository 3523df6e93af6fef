// The BTH opcodes that pingloom uses or, like SEND over RC, answers with a refusal, and the headers
// that follow each. The upper three bits of an opcode are the transport service, the lower five the
// operation (InfiniBand Architecture, volume 1, 9.2.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rdma/soft/packet_layout.h"

namespace pingloom::rdma::soft {

enum class Opcode : std::uint8_t {
  kRcSendFirst = 0x00,
  kRcSendMiddle = 0x01,
  kRcSendLast = 0x02,
  kRcSendLastImmediate = 0x03,
  kRcSendOnly = 0x04,
  kRcSendOnlyImmediate = 0x05,
  kRcWriteFirst = 0x06,
  kRcWriteMiddle = 0x07,
  kRcWriteLast = 0x08,
  kRcWriteLastImmediate = 0x09,
  kRcWriteOnly = 0x0A,
  kRcWriteOnlyImmediate = 0x0B,
  kRcReadRequest = 0x0C,
  kRcReadResponseFirst = 0x0D,
  kRcReadResponseMiddle = 0x0E,
  kRcReadResponseLast = 0x0F,
  kRcReadResponseOnly = 0x10,
  kRcAcknowledge = 0x11,
  kRcAtomicAcknowledge = 0x12,
  kRcCompareSwap = 0x13,
  kRcFetchAdd = 0x14,
  kUdSendOnly = 0x64,
  kUdSendOnlyImmediate = 0x65,
};

// Header bits, in the order in which the headers follow the BTH.
constexpr std::uint8_t kDethBit = 1;
constexpr std::uint8_t kRethBit = 2;
constexpr std::uint8_t kAtomicEthBit = 4;
constexpr std::uint8_t kAethBit = 8;
constexpr std::uint8_t kAtomicAckEthBit = 16;
constexpr std::uint8_t kImmediateBit = 32;

enum class PayloadRule : std::uint8_t {
  kNone,   // the opcode carries no payload
  kAny,    // from none to the path MTU, padded to a multiple of four
  kWhole,  // First and Middle: exactly the path MTU, which is a multiple of four, so no padding
};

struct OpcodeForm {
  bool known = false;
  std::uint8_t headers = 0;  // after the BTH
  PayloadRule payload = PayloadRule::kNone;
  std::uint8_t header_bytes = 0;  // the BTH included
};

namespace opcode_form {

constexpr OpcodeForm of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kRcSendFirst:
    case Opcode::kRcSendMiddle:
      return {true, 0, PayloadRule::kWhole};
    case Opcode::kRcSendLast:
    case Opcode::kRcSendOnly:
      return {true, 0, PayloadRule::kAny};
    case Opcode::kRcSendLastImmediate:
    case Opcode::kRcSendOnlyImmediate:
      return {true, kImmediateBit, PayloadRule::kAny};
    case Opcode::kRcWriteFirst:
      return {true, kRethBit, PayloadRule::kWhole};
    case Opcode::kRcWriteMiddle:
    case Opcode::kRcReadResponseMiddle:
      return {true, 0, PayloadRule::kWhole};
    case Opcode::kRcWriteLast:
      return {true, 0, PayloadRule::kAny};
    case Opcode::kRcWriteLastImmediate:
      return {true, kImmediateBit, PayloadRule::kAny};
    case Opcode::kRcWriteOnly:
      return {true, kRethBit, PayloadRule::kAny};
    case Opcode::kRcWriteOnlyImmediate:
      return {true, kRethBit | kImmediateBit, PayloadRule::kAny};
    case Opcode::kRcReadRequest:
      return {true, kRethBit, PayloadRule::kNone};
    case Opcode::kRcReadResponseFirst:
      return {true, kAethBit, PayloadRule::kWhole};
    case Opcode::kRcReadResponseLast:
    case Opcode::kRcReadResponseOnly:
      return {true, kAethBit, PayloadRule::kAny};
    case Opcode::kRcAcknowledge:
      return {true, kAethBit, PayloadRule::kNone};
    case Opcode::kRcAtomicAcknowledge:
      return {true, kAethBit | kAtomicAckEthBit, PayloadRule::kNone};
    case Opcode::kRcCompareSwap:
    case Opcode::kRcFetchAdd:
      return {true, kAtomicEthBit, PayloadRule::kNone};
    case Opcode::kUdSendOnly:
      return {true, kDethBit, PayloadRule::kAny};
    case Opcode::kUdSendOnlyImmediate:
      return {true, kDethBit | kImmediateBit, PayloadRule::kAny};
  }
  return {};
}

constexpr std::size_t bytesOf(std::uint8_t headers) {
  return sizeof(BthLayout) + ((headers & kDethBit) != 0 ? sizeof(DethLayout) : 0) +
         ((headers & kRethBit) != 0 ? sizeof(RethLayout) : 0) +
         ((headers & kAtomicEthBit) != 0 ? sizeof(AtomicEthLayout) : 0) +
         ((headers & kAethBit) != 0 ? sizeof(AethLayout) : 0) +
         ((headers & kAtomicAckEthBit) != 0 ? sizeof(AtomicAckEthLayout) : 0) +
         ((headers & kImmediateBit) != 0 ? sizeof(ImmediateLayout) : 0);
}

inline constexpr auto kAll = [] {
  std::array<OpcodeForm, 256> all;
  for (std::size_t opcode = 0; opcode < all.size(); ++opcode) {
    all[opcode] = of(static_cast<Opcode>(opcode));
    all[opcode].header_bytes = static_cast<std::uint8_t>(bytesOf(all[opcode].headers));
  }
  return all;
}();

}  // namespace opcode_form

// Tells whether it is an RC request, which a responder answers, be it with a refusal.
constexpr bool isRcRequest(Opcode opcode) {
  const auto number = static_cast<std::uint8_t>(opcode);
  return number <= static_cast<std::uint8_t>(Opcode::kRcReadRequest) ||
         opcode == Opcode::kRcCompareSwap || opcode == Opcode::kRcFetchAdd;
}

// Returns the form of any byte that arrives as an opcode.
constexpr const OpcodeForm& formOf(Opcode opcode) {
  return opcode_form::kAll[static_cast<std::uint8_t>(opcode)];
}

}  // namespace pingloom::rdma::soft
