// The addresses at which this machine can be probed, and notification of changes. One thread.
#pragma once

#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"

namespace pingloom::agent {

// Returns all addresses except loopback and link-local ones and those of bridges for containers and
// virtual machines, because every host has the same 172.17.0.1 on docker0. The result is sorted and
// has at most wire::kMaxHostAddresses entries.
std::vector<IpAddress> machineAddresses();

bool behindBridge(std::string_view interface);

// A netlink socket that becomes readable when an address is added or removed.
class AddressWatch {
 public:
  static Result<AddressWatch> start();
  int descriptor() const { return socket_.get(); }
  void drain();

 private:
  explicit AddressWatch(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace pingloom::agent
