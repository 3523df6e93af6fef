#include "wire/probe_packet.h"

#include <endian.h>

#include <cstring>

namespace pingloom::wire {
namespace {

constexpr std::uint16_t kProbeMagic = 0x504C;

constexpr std::uint32_t kUnknownBit = 1U << 31;
constexpr std::uint32_t kStalledBit = 1U << 30;

std::size_t writeResidences(const ProbeMessage& pong, std::span<std::uint8_t> out) {
  for (std::size_t i = 0; i < pong.residence_count; ++i) {
    const Residence& one = pong.residences[i];
    const std::uint32_t packed =
        one.responder_ns | (one.known ? 0 : kUnknownBit) | (one.stalled ? kStalledBit : 0);
    const ResidenceLayout layout = {htobe32(one.id), htobe32(packed)};
    std::memcpy(&out[i * sizeof layout], &layout, sizeof layout);
  }
  return pong.residence_count * sizeof(ResidenceLayout);
}

ProbeParseError parseResidences(std::span<const std::uint8_t> bytes, ProbeMessage& out) {
  out.residence_count = bytes.size() / sizeof(ResidenceLayout);
  if (bytes.size() % sizeof(ResidenceLayout) != 0 || out.residence_count > kMaxResidences) {
    return ProbeParseError::kLength;
  }
  for (std::size_t i = 0; i < out.residence_count; ++i) {
    ResidenceLayout layout;
    std::memcpy(&layout, &bytes[i * sizeof layout], sizeof layout);
    const std::uint32_t packed = be32toh(layout.responder_ns);
    out.residences[i] = {be32toh(layout.id), packed & kMaxResidenceNs, (packed & kUnknownBit) == 0,
                         (packed & kStalledBit) != 0};
  }
  return ProbeParseError::kNone;
}

}  // namespace

std::size_t lengthOf(const ProbeMessage& message) {
  switch (message.type) {
    case ProbeType::kPing:
      return message.length;
    case ProbeType::kPong:
      return kPongBytes + message.residence_count * sizeof(ResidenceLayout);
    case ProbeType::kAck:
      return kAckBytes;
  }
  return 0;
}

std::size_t write(const ProbeMessage& message, std::span<std::uint8_t> out) {
  const ProbeHeaderLayout header = {
      .magic = htobe16(kProbeMagic),
      .version = kProbeVersion,
      .type = static_cast<std::uint8_t>(message.type),
      .flags = message.flags,
      .clock = message.clock,
      .length = htobe16(static_cast<std::uint16_t>(lengthOf(message))),
      .id = htobe32(message.id),
      .incarnation = htobe32(message.incarnation),
      .nonce = htobe64(message.nonce)};
  std::memcpy(out.data(), &header, sizeof header);
  if (message.type == ProbeType::kPing) {
    const PingLayout ping = {header, htobe32(message.q_key), htobe32(message.answer_label),
                             htobe32(message.probe), htobe32(message.window)};
    std::memcpy(out.data(), &ping, sizeof ping);
    return sizeof ping;
  }
  if (message.type == ProbeType::kAck) {
    const AckLayout ack = {header, htobe64(message.responder_ns)};
    std::memcpy(out.data(), &ack, sizeof ack);
    return sizeof ack;
  }
  return sizeof header + writeResidences(message, out.subspan(sizeof header));
}

ProbeParseError parseQuoted(std::span<const std::uint8_t> head, ProbeMessage& out) {
  if (head.size() < sizeof(ProbeHeaderLayout)) return ProbeParseError::kShort;
  ProbeHeaderLayout header;
  std::memcpy(&header, head.data(), sizeof header);
  if (be16toh(header.magic) != kProbeMagic) return ProbeParseError::kMagic;
  if (header.version != kProbeVersion) return ProbeParseError::kVersion;
  if (header.type < 1 || header.type > 3) return ProbeParseError::kType;
  out.type = static_cast<ProbeType>(header.type);
  out.flags = header.flags;
  out.clock = header.clock;
  out.length = be16toh(header.length);
  out.id = be32toh(header.id);
  out.incarnation = be32toh(header.incarnation);
  out.nonce = be64toh(header.nonce);
  out.q_key = 0;
  out.answer_label = 0;
  out.probe = 0;
  out.window = 0;
  out.responder_ns = 0;
  out.residence_count = 0;
  return ProbeParseError::kNone;
}

ProbeParseError parse(std::span<const std::uint8_t> bytes, ProbeMessage& out) {
  return parseHead(bytes, bytes.size(), out);
}

ProbeParseError parseHead(std::span<const std::uint8_t> head, std::size_t whole,
                          ProbeMessage& out) {
  const ProbeParseError error = parseQuoted(head, out);
  if (error != ProbeParseError::kNone) return error;
  if (out.length != whole) return ProbeParseError::kLength;
  if (out.type == ProbeType::kPong) {
    if (whole > head.size()) return ProbeParseError::kLength;
    return parseResidences(head.first(whole).subspan(kPongBytes), out);
  }
  if (out.type == ProbeType::kAck) {
    if (whole != kAckBytes || head.size() < kAckBytes) return ProbeParseError::kLength;
    AckLayout ack;
    std::memcpy(&ack, head.data(), sizeof ack);
    out.responder_ns = be64toh(ack.responder_ns);
    return ProbeParseError::kNone;
  }
  if (whole < kPingMinBytes || whole > kPingMaxBytes || head.size() < sizeof(PingLayout)) {
    return ProbeParseError::kLength;
  }
  PingLayout ping;
  std::memcpy(&ping, head.data(), sizeof ping);
  out.q_key = be32toh(ping.q_key);
  out.answer_label = be32toh(ping.answer_label);
  out.probe = be32toh(ping.probe);
  out.window = be32toh(ping.window);
  return ProbeParseError::kNone;
}

}  // namespace pingloom::wire
