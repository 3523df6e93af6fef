#include "rdma/soft/packet.h"

#include <endian.h>

#include <array>
#include <cstring>

#include "rdma/soft/rc/shared_copy.h"

namespace pingloom::rdma::soft {
namespace {

constexpr std::uint8_t kSolicitedFlag = 0x80;
constexpr std::uint8_t kMigrationFlag = 0x40;
constexpr std::uint8_t kVersionMask = 0x0F;
constexpr std::uint32_t kFecnFlag = 0x80000000;
constexpr std::uint32_t kBecnFlag = 0x40000000;
constexpr std::uint32_t kAckRequestFlag = 0x80000000;

template <typename Layout>
Layout take(const std::uint8_t*& at) {
  Layout layout;
  std::memcpy(&layout, at, sizeof layout);
  at += sizeof layout;
  return layout;
}

template <typename Layout>
void put(std::uint8_t*& at, const Layout& layout) {
  std::memcpy(at, &layout, sizeof layout);
  at += sizeof layout;
}

void readBth(const BthLayout& layout, Bth& out) {
  const std::uint32_t congestion_qpn = be32toh(layout.congestion_qpn);
  const std::uint32_t ack_psn = be32toh(layout.ack_psn);
  out.opcode = static_cast<Opcode>(layout.opcode);
  out.solicited = (layout.flags & kSolicitedFlag) != 0;
  out.migration_done = (layout.flags & kMigrationFlag) != 0;
  out.fecn = (congestion_qpn & kFecnFlag) != 0;
  out.becn = (congestion_qpn & kBecnFlag) != 0;
  out.ack_request = (ack_psn & kAckRequestFlag) != 0;
  out.p_key = be16toh(layout.p_key);
  out.destination_qpn = congestion_qpn & kMask24;
  out.psn = ack_psn & kMask24;
}

BthLayout layoutOf(const Bth& bth, std::size_t pad) {
  return {.opcode = static_cast<std::uint8_t>(bth.opcode),
          .flags = static_cast<std::uint8_t>((bth.solicited ? kSolicitedFlag : 0) |
                                             (bth.migration_done ? kMigrationFlag : 0) | pad << 4),
          .p_key = htobe16(bth.p_key),
          .congestion_qpn = htobe32((bth.fecn ? kFecnFlag : 0) | (bth.becn ? kBecnFlag : 0) |
                                    (bth.destination_qpn & kMask24)),
          .ack_psn = htobe32((bth.ack_request ? kAckRequestFlag : 0) | (bth.psn & kMask24))};
}

// REQUIRES: the bytes of all `headers` are at `at`.
void readExtensions(std::uint8_t headers, const std::uint8_t* at, Packet& out) {
  if ((headers & kDethBit) != 0) {
    const auto deth = take<DethLayout>(at);
    out.deth = {be32toh(deth.q_key), be32toh(deth.source_qpn) & kMask24};
  }
  if ((headers & kRethBit) != 0) {
    const auto reth = take<RethLayout>(at);
    out.reth = {be64toh(reth.address), be32toh(reth.rkey), be32toh(reth.length)};
  }
  if ((headers & kAtomicEthBit) != 0) {
    const auto atomic = take<AtomicEthLayout>(at);
    out.atomic = {be64toh(atomic.address), be32toh(atomic.rkey), be64toh(atomic.swap_or_add),
                  be64toh(atomic.compare)};
  }
  if ((headers & kAethBit) != 0) {
    const std::uint32_t aeth = be32toh(take<AethLayout>(at).syndrome_msn);
    out.aeth = {static_cast<std::uint8_t>(aeth >> 24), aeth & kMask24};
  }
  if ((headers & kAtomicAckEthBit) != 0) {
    out.atomic_original = be64toh(take<AtomicAckEthLayout>(at).original);
  }
  if ((headers & kImmediateBit) != 0) out.immediate = be32toh(take<ImmediateLayout>(at).data);
}

void writeExtensions(std::uint8_t headers, const Packet& packet, std::uint8_t*& at) {
  if ((headers & kDethBit) != 0) {
    put(at, DethLayout{htobe32(packet.deth.q_key), htobe32(packet.deth.source_qpn & kMask24)});
  }
  if ((headers & kRethBit) != 0) {
    put(at, RethLayout{htobe64(packet.reth.address), htobe32(packet.reth.rkey),
                       htobe32(packet.reth.length)});
  }
  if ((headers & kAtomicEthBit) != 0) {
    put(at, AtomicEthLayout{htobe64(packet.atomic.address), htobe32(packet.atomic.rkey),
                            htobe64(packet.atomic.swap_or_add), htobe64(packet.atomic.compare)});
  }
  if ((headers & kAethBit) != 0) {
    const std::uint32_t syndrome = packet.aeth.syndrome;
    put(at, AethLayout{htobe32(syndrome << 24 | (packet.aeth.msn & kMask24))});
  }
  if ((headers & kAtomicAckEthBit) != 0) {
    put(at, AtomicAckEthLayout{htobe64(packet.atomic_original)});
  }
  if ((headers & kImmediateBit) != 0) put(at, ImmediateLayout{htobe32(packet.immediate)});
}

PacketError payloadFault(const OpcodeForm& form, std::size_t padded, std::size_t pad) {
  if (padded > kMaxPayloadBytes) return PacketError::kLong;
  if (pad > padded) return PacketError::kPad;
  if (form.payload == PayloadRule::kNone && padded != 0) return PacketError::kPayload;
  if (form.payload == PayloadRule::kWhole) {
    if (padded == 0) return PacketError::kPayload;
    if (pad != 0 || padded % 4 != 0) return PacketError::kPad;
  }
  return PacketError::kNone;
}

}  // namespace

std::string_view reasonOf(PacketError error) {
  switch (error) {
    case PacketError::kNone:
      return "none";
    case PacketError::kShort:
      return "short";
    case PacketError::kLong:
      return "long";
    case PacketError::kVersion:
      return "version";
    case PacketError::kOpcode:
      return "opcode";
    case PacketError::kPad:
      return "pad";
    case PacketError::kPayload:
      return "payload";
  }
  return "unknown";
}

PacketError parse(std::span<const std::uint8_t> bytes, Packet& out) {
  if (bytes.size() < kMinPacketBytes) return PacketError::kShort;
  const std::uint8_t* at = bytes.data();
  const auto bth = take<BthLayout>(at);
  if ((bth.flags & kVersionMask) != 0) return PacketError::kVersion;
  const OpcodeForm& form = formOf(static_cast<Opcode>(bth.opcode));
  if (!form.known) return PacketError::kOpcode;
  const std::size_t around = form.header_bytes + kIcrcBytes;
  if (bytes.size() < around) return PacketError::kShort;

  const std::size_t padded = bytes.size() - around;
  const std::size_t pad = bth.flags >> 4 & 3;
  const bool request = isRcRequest(static_cast<Opcode>(bth.opcode));
  const PacketError fault = payloadFault(form, padded, pad);
  if (fault != PacketError::kNone && !request) return fault;

  readBth(bth, out.bth);
  readExtensions(form.headers, at, out);
  out.malformed = fault != PacketError::kNone || (request && padded % 4 != 0);
  out.payload = bytes.subspan(form.header_bytes, padded - (out.malformed ? 0 : pad));
  return PacketError::kNone;
}

std::optional<std::uint32_t> senderOfUd(std::span<const std::uint8_t> head) {
  if (head.size() < sizeof(BthLayout) + sizeof(DethLayout)) return std::nullopt;
  const std::uint8_t* at = head.data();
  if (take<BthLayout>(at).opcode != static_cast<std::uint8_t>(Opcode::kUdSendOnly)) {
    return std::nullopt;
  }
  return be32toh(take<DethLayout>(at).source_qpn) & kMask24;
}

std::optional<ComingWrite> peekWrite(std::span<const std::uint8_t> packet) {
  if (packet.size() < sizeof(BthLayout) + sizeof(RethLayout)) return std::nullopt;
  const auto opcode = static_cast<Opcode>(packet.front());
  if (opcode != Opcode::kRcWriteOnly && opcode != Opcode::kRcWriteFirst) return std::nullopt;
  const std::uint8_t* at = packet.data();
  const auto bth = take<BthLayout>(at);
  const auto reth = take<RethLayout>(at);
  return ComingWrite{be32toh(bth.congestion_qpn) & kMask24,
                     {be64toh(reth.address), be32toh(reth.rkey), be32toh(reth.length)}};
}

std::size_t write(const Packet& packet, std::span<std::uint8_t> out) {
  const std::size_t pad = padOf(packet.payload.size());
  std::uint8_t* at = out.data();
  put(at, layoutOf(packet.bth, pad));
  writeExtensions(formOf(packet.bth.opcode).headers, packet, at);
  if (!packet.payload.empty() && packet.payload.data() != at) {
    copyFromShared(at, packet.payload);
  }
  at += packet.payload.size();
  std::memset(at, 0, pad);
  at += pad;
  return static_cast<std::size_t>(at - out.data()) + kIcrcBytes;
}

}  // namespace pingloom::rdma::soft
