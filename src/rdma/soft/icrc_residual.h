// Checks the iCRC of an IPv4 packet whose IP ID nobody knows: an ordinary UDP socket never shows
// it.
//
// CRC is linear, so a wrong ID changes the iCRC by a combination of 16 fixed values: the residue
// x^k of each ID bit, k counted to the packet's end. Divided by the lowest of them, the difference
// between the iCRC computed with ID 0 and the one received becomes the ID itself, a polynomial
// below degree 16, if the ID explains it, and something else if not. One multiplication by a
// constant per packet length therefore decides, and yields the ID. Random damage passes once in
// 2^16, a single flipped bit never. DF is taken as set, as RoCEv2 has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pingloom::rdma::soft {

// `difference`: computed with a guess at the ID, xor received. `packet_bytes`: of the UDP payload
// with its iCRC. The ID xor the guess; nothing when no ID explains the difference, or for a size
// that no packet of ours has. Any thread.
std::optional<std::uint16_t> explainingId(std::uint32_t difference, std::size_t packet_bytes);

}  // namespace pingloom::rdma::soft
