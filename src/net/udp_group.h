// Binds several UDP sockets to one port of one address, so that several threads can receive.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "net/payload_share.h"
#include "net/udp_socket.h"

namespace pingloom::net {

// Binds as many sockets. The kernel gives socket i the datagrams of PayloadShare{field, count, i},
// and the first socket those that are too short to have the field. It is an error if any other
// socket has the port, and no other group can take it meanwhile. The caller closes the sockets
// together: after one is closed, the kernel numbers the others anew. REQUIRES: count > 0.
Result<std::vector<UdpSocket>> bindGroup(const IpAddress& address, std::uint16_t port,
                                         std::uint32_t count, const PayloadField& field,
                                         const UdpSocketOptions& options);

}  // namespace pingloom::net
