// RoCEv2 packets as values: the bytes of one UDP datagram on port 4791, from the BTH to the iCRC,
// in host byte order. Nothing here allocates; any thread. icrc.h computes the iCRC: parse() only
// skips it, and write() only leaves room for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  bool migration_done = false;  // the MigReq bit
  bool fecn = false;            // the iCRC does not cover FECN and BECN
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

// Headers that the opcode does not have (see formOf) are neither read nor written.
struct Packet {
  Bth bth;
  Deth deth;
  Reth reth;
  AtomicEth atomic;
  Aeth aeth;
  std::uint64_t atomic_original = 0;
  std::uint32_t immediate = 0;
  // An RC request whose padding or length contradicts its opcode; a responder refuses it.
  bool malformed = false;
  std::span<const std::uint8_t> payload;  // without padding; parse() points it into the bytes

  // Resets the packet for another use; its opcode then determines which headers are valid.
  void start() {
    bth = {};
    malformed = false;
    payload = {};
  }
};

// A message to a UD queue pair. The payload outlives the packet.
inline Packet udPacket(std::uint32_t destination_qpn, std::uint32_t psn, const Deth& deth,
                       std::span<const std::uint8_t> payload) {
  Packet packet;
  packet.bth.migration_done = true;  // set by all endpoints without an alternate path
  packet.bth.destination_qpn = destination_qpn;
  packet.bth.psn = psn;
  packet.deth = deth;
  packet.payload = payload;
  return packet;
}

enum class PacketError : std::uint8_t {
  kNone,
  kShort,    // ends before its headers and iCRC do
  kLong,     // payload above the largest path MTU
  kVersion,  // transport header version is not 0
  kOpcode,   // unknown opcode
  kPad,      // more padding than payload, or padding that the opcode does not allow
  kPayload,  // payload with an opcode that carries none, or none with First or Middle
};
std::string_view reasonOf(PacketError error);  // "short", "version", ...; for counters

// The bytes come from outside; `out` is complete only on kNone. Reserved bits and padding are
// ignored. A response and a UD message may be unpadded, which kernel rxe accepts too. RC requests
// are parsed even if they are malformed, because the peer has to be told.
PacketError parse(std::span<const std::uint8_t> bytes, Packet& out);

// Returns the QPN of the endpoint that sent a UD packet, of which only the first bytes are known
// (an ICMP message quotes them); nullopt if they do not have it or are no UD packet's.
std::optional<std::uint32_t> senderOfUd(std::span<const std::uint8_t> head);

// A WRITE's first packet, before anything of it but its opcode has been checked.
struct ComingWrite {
  std::uint32_t destination_qpn = 0;
  Reth reth;
};
// Returns nullopt for other packets. The bytes come from outside.
std::optional<ComingWrite> peekWrite(std::span<const std::uint8_t> packet);

// Returns the number of zero bytes that pad a payload to a multiple of four.
constexpr std::size_t padOf(std::size_t payload_bytes) { return -payload_bytes & 3; }
// Returns the offset at which write() puts the payload.
constexpr std::size_t headerBytes(Opcode opcode) { return formOf(opcode).header_bytes; }
// Returns the size from the BTH to the end of the iCRC, including the padding.
inline std::size_t wireBytes(const Packet& packet) {
  const std::size_t payload = packet.payload.size();
  return headerBytes(packet.bth.opcode) + payload + padOf(payload) + kIcrcBytes;
}
// Writes headers, payload and zero padding, and returns wireBytes(); the last four of these bytes
// are left for the iCRC. The pad count follows from the payload, which may already be in its place
// in `out`. REQUIRES: a known opcode, payload.size() <= kMaxPayloadBytes, out.size() >=
// wireBytes().
std::size_t write(const Packet& packet, std::span<std::uint8_t> out);

}  // namespace pingloom::rdma::soft
