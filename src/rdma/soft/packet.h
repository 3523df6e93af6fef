// RoCEv2 packets as values: the bytes of one UDP datagram on port 4791, from the BTH to the iCRC.
// Host byte order. Nothing here allocates; any thread. The iCRC itself is icrc.h's business:
// parse() only finds its place, write() only leaves room for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rdma/soft/opcode.h"
#include "rdma/soft/packet_layout.h"

namespace pingloom::rdma::soft {

constexpr std::uint16_t kRoceUdpPort = 4791;
constexpr std::uint16_t kDefaultPKey = 0xFFFF;
constexpr std::uint32_t kMask24 = 0xFFFFFF;  // queue pair numbers, PSNs, MSNs

struct Bth {
  Opcode opcode = Opcode::kUdSendOnly;
  bool solicited = false;
  bool migration_done = false;  // MigReq
  bool fecn = false;            // FECN and BECN are not covered by the iCRC
  bool becn = false;
  bool ack_request = false;
  std::uint16_t p_key = kDefaultPKey;
  std::uint32_t destination_qpn = 0;  // 24 bits
  std::uint32_t psn = 0;              // 24 bits
};
struct Deth {
  std::uint32_t q_key = 0;
  std::uint32_t source_qpn = 0;  // 24 bits
};
struct Reth {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t length = 0;
};
struct AtomicEth {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
};
struct Aeth {
  std::uint8_t syndrome = 0;
  std::uint32_t msn = 0;  // 24 bits
};

// Headers that the opcode does not have (formOf) are neither read nor written.
struct Packet {
  Bth bth;
  Deth deth;
  Reth reth;
  AtomicEth atomic;
  Aeth aeth;
  std::uint64_t atomic_original = 0;
  std::uint32_t immediate = 0;
  std::span<const std::uint8_t> payload;  // without padding; parse(): lies in the parsed bytes

  // Makes it another one, whose opcode says which of the other headers are of meaning.
  void start() {
    bth = {};
    payload = {};
  }
};

enum class PacketError : std::uint8_t {
  kNone,
  kShort,    // ends before its headers and iCRC do
  kLong,     // payload above the largest path MTU
  kVersion,  // transport header version is not 0
  kOpcode,   // not one of ours
  kPad,      // more padding than payload, or padding where none may be
  kPayload,  // payload under an opcode that carries none, or none under First or Middle
};
std::string_view reasonOf(PacketError error);  // "short", "version", ...; for counters

// The bytes come from outside; `out` is whole only on kNone. Reserved bits and padding are ignored,
// and an Only or Last may come unpadded, as kernel rxe takes it.
PacketError parse(std::span<const std::uint8_t> bytes, Packet& out);

// Zero bytes behind a payload, up to a multiple of four.
constexpr std::size_t padOf(std::size_t payload_bytes) { return -payload_bytes & 3; }
// Where write() puts the payload.
constexpr std::size_t headerBytes(Opcode opcode) { return formOf(opcode).header_bytes; }
// From the BTH to the iCRC, padding and the room for the iCRC included.
inline std::size_t wireBytes(const Packet& packet) {
  const std::size_t payload = packet.payload.size();
  return headerBytes(packet.bth.opcode) + payload + padOf(payload) + kIcrcBytes;
}
// Headers, payload and zero padding; returns wireBytes(), the last four bytes of which are left for
// the iCRC. The pad count follows from the payload. The payload may already lie in its place in
// `out`. REQUIRES: a known opcode, payload.size() <= kMaxPayloadBytes, out.size() >= wireBytes().
std::size_t write(const Packet& packet, std::span<std::uint8_t> out);

}  // namespace pingloom::rdma::soft
