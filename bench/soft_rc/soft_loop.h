// Does operations between two soft devices on loopback, iCRC on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cores.h"
#include "rdma/device.h"

namespace pingloom::bench {

struct Task {
  const char* name;
  rdma::RcOperation operation;
  std::size_t bytes;
  std::uint32_t mtu;
  std::size_t depth;
  std::uint64_t operations;
};

class SoftLoop {
 public:
  // Gives nanoseconds per operation.
  Result<double> run(const Task& task, bool raw, Cores cores);

 private:
  struct Side {
    static constexpr std::size_t kRegion = 4 << 20;

    Status open(std::uint32_t address, bool raw, const rdma::RcOptions& rc);
    Status poll();

    std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(kRegion);
    std::unique_ptr<rdma::Device> device;
    std::unique_ptr<rdma::Domain> domain;
    std::unique_ptr<rdma::MemoryRegion> region;
    std::unique_ptr<rdma::RcEndpoint> endpoint;
    rdma::RcEvents events;
  };

  Status open(const Task& task, bool raw);
  Status post(const Task& task, std::uint64_t number);
  template <typename Meanwhile>
  Status ask(const Task& task, Meanwhile&& meanwhile);

  Side asking_;
  Side answering_;
};

}  // namespace pingloom::bench
