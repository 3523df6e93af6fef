// Checks the iCRC of an IPv4 packet whose IP ID is unknown, because an ordinary UDP socket does not
// report it.
//
// CRC is linear, so a wrong ID changes the iCRC by a combination of 16 fixed values: the residue
// x^k of each ID bit, k counted to the packet's end. Divided by the lowest of them, the difference
// between the iCRC computed with ID 0 and the one received becomes the ID itself, a polynomial
// below degree 16, if the ID explains it, and something else if not. One multiplication by a
// constant for the packet length therefore decides, and yields the ID. Random damage passes once in
// 2^16 packets, a single flipped bit never. DF is assumed to be set, as RoCEv2 requires.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pingloom::rdma::soft {

// `difference` is the iCRC computed with a guess of the ID, xor the received one; `packet_bytes` is
// the size of the UDP payload including its iCRC. Returns the ID xor the guess, or nullopt if no ID
// explains the difference or the size is not valid for a packet. Any thread.
std::optional<std::uint16_t> explainingId(std::uint32_t difference, std::size_t packet_bytes);

}  // namespace pingloom::rdma::soft
