// A query for a host's RDMA endpoint over the agents' UDP port, so that `pingloom ping rdma` needs
// no controller; docs/probe-packets.md has the table. Big endian. Query and answer have 64 bytes,
// so that a responder never amplifies.
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
  std::uint8_t clock;     // in an answer: ClockSource of the endpoint
  std::uint8_t reserved;  // 0
  std::uint16_t lid;      // in an answer: used by InfiniBand; 0 with RoCE
  std::uint64_t nonce;    // chosen by the client and echoed
  std::array<std::uint8_t, 16> gid;
  std::uint32_t qpn;  // in an answer: 0 if the address has no endpoint
  std::uint32_t q_key;
  std::array<char, 24> device;  // padded with zeros
};
static_assert(sizeof(EndpointQueryLayout) == 64 && offsetof(EndpointQueryLayout, gid) == 16 &&
              offsetof(EndpointQueryLayout, device) == 40);

constexpr std::size_t kEndpointQueryBytes = sizeof(EndpointQueryLayout);

// The parsed message in host byte order.
struct EndpointQuery {
  EndpointQueryType type = EndpointQueryType::kQuery;
  std::uint64_t nonce = 0;
  // These are set in an answer.
  std::uint8_t clock = 0;
  std::uint16_t lid = 0;
  std::array<std::uint8_t, 16> gid{};
  std::uint32_t qpn = 0;
  std::uint32_t q_key = 0;
  std::string device;  // truncated to 24 bytes
};

std::array<std::uint8_t, kEndpointQueryBytes> bytesOf(const EndpointQuery& query);
// Tells whether the bytes begin like a query; otherwise they are a probe packet or noise.
bool isEndpointQuery(std::span<const std::uint8_t> bytes);
// The bytes come from outside. Returns false if they are malformed.
bool parse(std::span<const std::uint8_t> bytes, EndpointQuery& out);

}  // namespace pingloom::wire
