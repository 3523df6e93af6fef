// A RoCEv2 device in user space: UDP port 4791 of one address, without driver or privileges, with
// the kernel's timestamps. Kernel Soft-RoCE and NICs take its packets and it takes theirs.
//
// Unlike other devices it belongs to one thread, with all endpoints on it: they share its sockets,
// and each one's poll() serves them all. An endpoint for which another one's poll() has brought
// something says so in nextWake().
//
// T1 of a message that an impairment delays or loses is the time of its flush(), so that the added
// delay lies in the network.
//
// With CAP_NET_RAW, IPv4 packets are received through a raw socket, which shows the IP ID that
// their iCRC covers; the UDP socket then drops its copies, and the kernel counts each of those as a
// UDP receive error.
#pragma once

#include <memory>

#include "common/address.h"
#include "common/error.h"
#include "rdma/device.h"
#include "rdma/soft/impairment.h"

namespace pingloom::rdma::soft {

struct SoftOptions {
  Impairments impairments;
  bool raw_socket = true;  // where it is allowed
};

// "soft", its GID the address. An error where the address is not this host's, where its interface's
// MTU has no room for the smallest path MTU, or where port 4791 is taken.
Result<std::unique_ptr<Device>> openSoftDevice(const IpAddress& address,
                                               const SoftOptions& options = {});

}  // namespace pingloom::rdma::soft
