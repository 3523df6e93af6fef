// A RoCEv2 device in user space on UDP port 4791 of one address. It needs neither a driver nor
// privileges, and uses the kernel's timestamps. It interoperates with kernel Soft-RoCE and NICs.
//
// Unlike other devices it belongs to one thread, together with all its endpoints: they share its
// sockets, and the poll() of each serves them all. nextWake() of an endpoint tells when another
// one's poll() has received something for it.
//
// T1 of a message that an impairment delays or loses is the time of its flush(), so that the added
// delay counts as network time.
//
// With CAP_NET_RAW, IPv4 packets are received through a raw socket, which returns the IP ID that
// their iCRC covers. The UDP socket then drops its copies, and the kernel counts each of them as a
// UDP receive error.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "rdma/device.h"
#include "rdma/soft/impairment.h"

namespace pingloom::rdma::soft {

struct SoftOptions {
  Impairments impairments;
  bool raw_socket = true;  // uses a raw socket if that is permitted
};

// Opens the device "soft", whose GID is the address. It is an error if the address is not local, if
// its interface's MTU is too small for the smallest path MTU, or if port 4791 is taken.
Result<std::unique_ptr<Device>> openSoftDevice(const IpAddress& address,
                                               const SoftOptions& options = {});

// Opens `count` such devices at one address, so that as many threads can use it; each device still
// belongs to one thread. They share port 4791: the kernel gives a packet to the device whose
// endpoint it is for, and a damaged or forged one to any of them. Close them together, because a
// device that stays open alone loses packets. REQUIRES: count > 0.
Result<std::vector<std::unique_ptr<Device>>> openSoftDevices(const IpAddress& address,
                                                             std::uint32_t count,
                                                             const SoftOptions& options = {});

}  // namespace pingloom::rdma::soft
