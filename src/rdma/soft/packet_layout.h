// RoCEv2 headers in the UDP payload, big endian (InfiniBand Architecture, volume 1, chapter 9).
// They are copied with memcpy because packets are not aligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pingloom::rdma::soft {

struct [[gnu::packed]] BthLayout {
  std::uint8_t opcode;
  std::uint8_t flags;  // solicited event 0x80, migration 0x40, pad count 0x30, version 0x0f
  std::uint16_t p_key;
  std::uint32_t congestion_qpn;  // FECN 0x80000000, BECN 0x40000000, reserved, destination QPN
  std::uint32_t ack_psn;         // acknowledge request 0x80000000, reserved, PSN
};
static_assert(sizeof(BthLayout) == 12 && offsetof(BthLayout, congestion_qpn) == 4);

struct [[gnu::packed]] DethLayout {
  std::uint32_t q_key;
  std::uint32_t source_qpn;  // the upper byte is reserved
};
static_assert(sizeof(DethLayout) == 8);

struct [[gnu::packed]] RethLayout {
  std::uint64_t address;
  std::uint32_t rkey;
  std::uint32_t length;
};
static_assert(sizeof(RethLayout) == 16 && offsetof(RethLayout, rkey) == 8);

struct [[gnu::packed]] AtomicEthLayout {
  std::uint64_t address;
  std::uint32_t rkey;
  std::uint64_t swap_or_add;
  std::uint64_t compare;
};
static_assert(sizeof(AtomicEthLayout) == 28 && offsetof(AtomicEthLayout, swap_or_add) == 12 &&
              offsetof(AtomicEthLayout, compare) == 20);

struct [[gnu::packed]] AethLayout {
  std::uint32_t syndrome_msn;  // the syndrome is in the upper byte
};
static_assert(sizeof(AethLayout) == 4);

struct [[gnu::packed]] AtomicAckEthLayout {
  std::uint64_t original;
};
static_assert(sizeof(AtomicAckEthLayout) == 8);

struct [[gnu::packed]] ImmediateLayout {
  std::uint32_t data;
};
static_assert(sizeof(ImmediateLayout) == 4);

constexpr std::size_t kIcrcBytes = 4;
constexpr std::size_t kMaxPayloadBytes = 4096;  // the largest path MTU
// A WRITE ONLY with immediate has the longest headers of all packets with a payload.
constexpr std::size_t kMaxPacketBytes = sizeof(BthLayout) + sizeof(RethLayout) +
                                        sizeof(ImmediateLayout) + kMaxPayloadBytes + kIcrcBytes;
constexpr std::size_t kMinPacketBytes = sizeof(BthLayout) + kIcrcBytes;

}  // namespace pingloom::rdma::soft
