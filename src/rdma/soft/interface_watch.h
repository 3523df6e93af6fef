// Follows the network interface of a soft device's address by netlink: whether it has the address,
// whether its link is up, and its MTU. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"

namespace pingloom::rdma::soft {

// What is known of the interface with a device's address.
struct InterfaceState {
  std::string name;  // "" if no interface has the address
  bool up = false;   // the interface is up and its link too
  std::uint32_t link_mtu = 0;
  std::uint32_t mtu = 0;  // the path MTU that fits, or 0 if not even the smallest does

  bool hasAddress() const { return !name.empty(); }
};
// Asks the kernel. An address in 127.0.0.0/8 stands for the loopback interface.
Result<InterfaceState> interfaceStateOf(const IpAddress& address);

class InterfaceWatch {
 public:
  explicit InterfaceWatch(const IpAddress& address) : address_(address) {}

  // Without a netlink socket nothing is followed, which the log says.
  void open();
  // Becomes readable when something has changed on any interface; -1 without a socket.
  int descriptor() const { return socket_.get(); }
  // Reads what the kernel has reported, and asks for the state if that is anything.
  void check();
  const InterfaceState& state() const { return state_; }
  // Returns why nothing can be sent or received now, or an empty text.
  std::string fault() const;

 private:
  IpAddress address_;
  UniqueFd socket_;
  InterfaceState state_;
};

}  // namespace pingloom::rdma::soft
