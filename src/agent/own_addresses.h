// The addresses this machine can be probed at, and word when they change. One thread.
#pragma once

#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"

namespace pingloom::agent {

// All but loopback and link-local ones and those of bridges that containers and virtual machines
// sit behind: every host has the same 172.17.0.1 on docker0. Sorted, at most
// wire::kMaxHostAddresses.
std::vector<IpAddress> machineAddresses();

bool behindBridge(std::string_view interface);

// A netlink socket: readable after any address came or went.
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
