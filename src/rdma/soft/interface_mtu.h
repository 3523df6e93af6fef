// The path MTU that a local address's network interface has room for. Any thread.
#pragma once

#include <cstdint>

#include "common/address.h"
#include "common/error.h"

namespace pingloom::rdma::soft {

// The largest of 256, 512, 1024, 2048, 4096 whose packets, headers included, fit into `link_mtu`;
// 0: not even the smallest.
std::uint32_t pathMtuFor(std::size_t link_mtu, bool v6);

// Of the interface with that address, or where it is in 127.0.0.0/8, of the loopback interface.
Result<std::uint32_t> pathMtuOf(const IpAddress& address);

}  // namespace pingloom::rdma::soft
