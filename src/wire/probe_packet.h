// The format of PING, PONG and ACK over UDP and RDMA; docs/probe-packets.md has the table. Big
// endian. A PING is padded with zeros to kPingPaddedBytes, so that a responder's PONG and ACK are
// never larger than the PING as packets either.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/error.h"
#include "common/fnv1a.h"
#include "common/vocabulary.h"

namespace pingloom::wire {

enum class ProbeType : std::uint8_t { kPing = 1, kPong = 2, kAck = 3 };

constexpr std::uint8_t kProbeVersion = 1;
constexpr std::uint8_t kFlagStalled = 1;  // the sender stalled during the exchange
constexpr std::uint8_t kFlagNoT3 = 2;     // in an ACK: the responder has no timestamp of its PONG
constexpr std::uint8_t kFlagCounted = 4;  // in a PING: it names its probe and its window
// In a PING: the next one of its pair follows within a second, and a PONG may bring T3 - T2.
constexpr std::uint8_t kFlagDeferrable = 8;

struct ProbeHeaderLayout {
  std::uint16_t magic;  // 0x504C, "PL"
  std::uint8_t version;
  std::uint8_t type;
  std::uint8_t flags;
  std::uint8_t clock;         // ClockSource of the sender; 0 stands for none
  std::uint16_t length;       // length of the whole message including padding
  std::uint32_t id;           // chosen by the prober and echoed
  std::uint32_t incarnation;  // low 32 bits of the sending agent's incarnation
  std::uint64_t nonce;        // chosen by the prober and echoed
};
static_assert(sizeof(ProbeHeaderLayout) == 24 && offsetof(ProbeHeaderLayout, nonce) == 16);

struct PingLayout {
  ProbeHeaderLayout header;
  std::uint32_t q_key;         // with RDMA the Q_Key for the answer, with bit 31 clear; otherwise 0
  std::uint32_t answer_label;  // with RDMA the flow label for the answers; otherwise 0
  std::uint32_t probe;         // probeTag() of its probe; with kFlagCounted
  std::uint32_t window;        // low 32 bits of its window's index; with kFlagCounted
};
// T3 - T2 of an earlier exchange of the pair.
struct ResidenceLayout {
  std::uint32_t id;
  std::uint32_t responder_ns;  // bit 31: not known; bit 30: the responder stalled
};
constexpr std::size_t kMaxResidences = 4;
// A longer T3 - T2 is not told in a PONG.
constexpr std::uint32_t kMaxResidenceNs = (1U << 30) - 1;

struct PongLayout {  // then up to kMaxResidences of ResidenceLayout, newest first
  ProbeHeaderLayout header;
};
struct AckLayout {
  ProbeHeaderLayout header;
  std::uint64_t responder_ns;  // T3 - T2
};
static_assert(sizeof(PingLayout) == 40 && sizeof(PongLayout) == 24 && sizeof(AckLayout) == 32);

constexpr std::size_t kPongBytes = sizeof(PongLayout);
constexpr std::size_t kPongMaxBytes = kPongBytes + kMaxResidences * sizeof(ResidenceLayout);  // 56
constexpr std::size_t kAckBytes = sizeof(AckLayout);
constexpr std::size_t kPingMinBytes = kPongBytes + kAckBytes;  // 56
constexpr std::size_t kPingMaxBytes = 8972;                    // the UDP payload of a jumbo frame
static_assert(sizeof(PingLayout) <= kPingMinBytes);

// The headers around a message, from IP (InfiniBand: from the LRH) to the end of the packet.
constexpr std::size_t kUdpV4Headers = 28;
constexpr std::size_t kUdpV6Headers = 48;
constexpr std::size_t kRdmaHeaders = 74;  // InfiniBand with GRH; 52 and 72 with RoCE

// Tells whether PONG and ACK together are no larger than a PING of `bytes`, headers included. A
// shorter PING gets a PONG only.
constexpr bool mayAcknowledge(std::size_t bytes, std::size_t headers) {
  return bytes + headers >= kPingMinBytes + 2 * headers;
}
// Every PING that an agent sends has at least this size.
constexpr std::size_t kPingPaddedBytes = 132;
static_assert(mayAcknowledge(kPingPaddedBytes, kRdmaHeaders));
constexpr std::size_t paddedPing(std::size_t payload) {
  return payload < kPingPaddedBytes ? kPingPaddedBytes : payload;
}

struct Residence {
  std::uint32_t id = 0;
  std::uint32_t responder_ns = 0;  // T3 - T2, at most kMaxResidenceNs; 0 if it is not known
  bool known = true;
  bool stalled = false;  // the responder stalled during the exchange

  bool operator==(const Residence&) const = default;
};

// A message in host byte order.
struct ProbeMessage {
  ProbeType type = ProbeType::kPing;
  std::uint8_t flags = 0;
  std::uint8_t clock = 0;
  std::uint16_t length = 0;
  std::uint32_t id = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t nonce = 0;
  std::uint32_t q_key = 0;                             // in a PING
  std::uint32_t answer_label = 0;                      // in a PING
  std::uint32_t probe = 0;                             // in a PING that is counted
  std::uint32_t window = 0;                            // in a PING that is counted
  std::uint64_t responder_ns = 0;                      // in an ACK
  std::array<Residence, kMaxResidences> residences{};  // in a PONG
  std::size_t residence_count = 0;                     // in a PONG

  bool stalled() const { return (flags & kFlagStalled) != 0; }
  bool counted() const { return (flags & kFlagCounted) != 0; }
  bool deferrable() const { return (flags & kFlagDeferrable) != 0; }
};

// The number by which PINGs name their probe: the 32-bit FNV-1a hash of its name.
constexpr std::uint32_t probeTag(std::string_view name) { return fnv1a32(name); }

enum class ProbeParseError : std::uint8_t { kNone, kShort, kMagic, kVersion, kType, kLength };

// The length of a message: that of a PING as it is given, that of a PONG or ACK as computed.
std::size_t lengthOf(const ProbeMessage& message);
// Writes the message without padding (the caller has zeroed the rest of the buffer) and returns the
// number of bytes. REQUIRES: room for 40 bytes for a PING, otherwise for lengthOf(message).
std::size_t write(const ProbeMessage& message, std::span<std::uint8_t> out);

// The bytes come from outside.
ProbeParseError parse(std::span<const std::uint8_t> bytes, ProbeMessage& out);
// Parses the beginning of a datagram of `whole` bytes. REQUIRES: `head` is the whole datagram, or
// at least the first kPongMaxBytes bytes of it.
ProbeParseError parseHead(std::span<const std::uint8_t> head, std::size_t whole, ProbeMessage& out);
// Parses the beginning of a message of this host as quoted by an ICMP error, however short.
ProbeParseError parseQuoted(std::span<const std::uint8_t> head, ProbeMessage& out);

}  // namespace pingloom::wire
