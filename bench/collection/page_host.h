// A host with metric pages: an agent and its applications in a process of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/error.h"
#include "pages/page_service.h"
#include "rdma/open_device.h"
#include "shared/child.h"
#include "sides.h"

namespace pingloom::bench {

class PageHost {
 public:
  // Starts host number `number` of 0 .. 99, which has an address of its own, and ends this process
  // if it cannot be started.
  PageHost(int number, const Shape& shape);

  // The path of the socket at which applications register.
  static std::string socket(int number);
  const std::string& agent() const { return agent_; }  // HOST:PORT of its control channel
  Nanos cpu() const { return process_.usage().cpu; }
  std::uint64_t residentBytes() const { return process_.usage().resident_bytes; }

 private:
  std::string agent_;
  Child process_;
};

// Starts the page service of host number `number` in this process, or ends this process.
std::unique_ptr<pages::PageService> startPageService(int number);
// HOST:PORT of that service's control channel.
std::string pageAgent(int number);

// The soft device's options of this benchmark: the way without privileges.
rdma::DeviceOptions softDevice();
// Ends this process.
[[noreturn]] void die(const Error& error);

}  // namespace pingloom::bench
