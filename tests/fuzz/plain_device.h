// A device that does nothing: memory is registered as it is, and an endpoint connects to whoever is
// named and asks for nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rdma/device.h"

namespace pingloom::fuzz {

class PlainRegion : public rdma::MemoryRegion {
 public:
  explicit PlainRegion(std::span<std::uint8_t> memory) : memory_(memory) {}
  std::span<std::uint8_t> memory() const override { return memory_; }
  rdma::Access access() const override { return rdma::Access::kRead; }
  std::uint64_t address() const override { return 0; }
  std::uint32_t rkey() const override { return 0; }

 private:
  std::span<std::uint8_t> memory_;
};

class PlainEndpoint : public rdma::RcEndpoint {
 public:
  const rdma::RcAddress& address() const override { return address_; }
  rdma::RcState state() const override { return state_; }
  Status connect(const rdma::RcAddress&) override {
    state_ = rdma::RcState::kConnected;
    return {};
  }
  rdma::PostResult post(const rdma::RcRequest&) override { return rdma::PostResult::kUnreachable; }
  void flush() override {}
  int descriptor() const override { return -1; }
  Status poll(rdma::RcEvents& events) override {
    events.clear();
    return {};
  }
  Nanos nextWake() const override { return INT64_MAX; }
  std::vector<rdma::DropCount> drops() const override { return {}; }

 private:
  rdma::RcAddress address_{.qpn = 1, .mtu = 1024};
  rdma::RcState state_ = rdma::RcState::kNew;
};

class PlainDomain : public rdma::Domain {
 public:
  Result<std::unique_ptr<rdma::RcEndpoint>> createRc(const rdma::RcOptions&) override {
    return std::make_unique<PlainEndpoint>();
  }
  Result<std::unique_ptr<rdma::MemoryRegion>> registerMemory(std::span<std::uint8_t> memory,
                                                             rdma::Access) override {
    return std::make_unique<PlainRegion>(memory);
  }
};

class PlainDevice : public rdma::Device {
 public:
  const rdma::DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<rdma::UdEndpoint>> createUd(const rdma::UdOptions&) override {
    return makeError("plain", "no UD endpoints");
  }
  Result<std::unique_ptr<rdma::Domain>> createDomain() override {
    return std::make_unique<PlainDomain>();
  }

 private:
  rdma::DeviceInfo info_;
};

}  // namespace pingloom::fuzz
