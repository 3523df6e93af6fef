// Determines the path MTU that fits the network interface of a local address. Any thread.
#pragma once

#include <cstdint>

#include "common/address.h"
#include "common/error.h"

namespace pingloom::rdma::soft {

// Returns the largest of 256, 512, 1024, 2048 and 4096 whose packets, including headers, fit into
// `link_mtu`, or 0 if not even the smallest does.
std::uint32_t pathMtuFor(std::size_t link_mtu, bool v6);

// Returns the path MTU of the interface with that address, which has to be up. An address in
// 127.0.0.0/8 stands for the loopback interface.
Result<std::uint32_t> pathMtuOf(const IpAddress& address);

}  // namespace pingloom::rdma::soft
