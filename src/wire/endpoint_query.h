// Where is your RDMA endpoint? Asked and answered over the agents' UDP port, so that
// `pingloom ping rdma` needs no controller; docs/probe-packets.md has the table. Big endian; both
// ways 64 bytes, so that an answer is never longer than its question.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pingloom::wire {

enum class EndpointQueryType : std::uint8_t { kQuery = 1, kAnswer = 2 };

struct EndpointQueryLayout {
  std::uint16_t magic;  // 0x5051, "PQ"
  std::uint8_t version;
  std::uint8_t type;
  std::uint8_t clock;     // answer: ClockSource of the endpoint
  std::uint8_t reserved;  // 0
  std::uint16_t lid;      // answer: InfiniBand; 0 with RoCE
  std::uint64_t nonce;    // the asker's; echoed
  std::array<std::uint8_t, 16> gid;
  std::uint32_t qpn;  // answer: 0 where there is no endpoint on the address asked
  std::uint32_t q_key;
  std::array<char, 24> device;  // padded with zeros
};
static_assert(sizeof(EndpointQueryLayout) == 64 && offsetof(EndpointQueryLayout, gid) == 16 &&
              offsetof(EndpointQueryLayout, device) == 40);

constexpr std::size_t kEndpointQueryBytes = sizeof(EndpointQueryLayout);

// Host byte order.
struct EndpointQuery {
  EndpointQueryType type = EndpointQueryType::kQuery;
  std::uint64_t nonce = 0;
  // Of an answer:
  std::uint8_t clock = 0;
  std::uint16_t lid = 0;
  std::array<std::uint8_t, 16> gid{};
  std::uint32_t qpn = 0;
  std::uint32_t q_key = 0;
  std::string device;  // cut off after 24 bytes
};

std::array<std::uint8_t, kEndpointQueryBytes> bytesOf(const EndpointQuery& query);
// Whether the bytes begin like one; anything else is a probe packet or noise.
bool isEndpointQuery(std::span<const std::uint8_t> bytes);
// The bytes come from outside. False: it is none.
bool parse(std::span<const std::uint8_t> bytes, EndpointQuery& out);

}  // namespace pingloom::wire
