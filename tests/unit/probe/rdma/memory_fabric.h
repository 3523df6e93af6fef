// RDMA devices whose packets stay in this process. They test what the transport does around an
// endpoint, and their endpoints fail on request.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/fd.h"
#include "rdma/device.h"

namespace pingloom::probe::rdma_ud {

class MemoryEndpoint;

// Shared by all devices; any thread.
class MemoryFabric {
 public:
  Result<std::unique_ptr<rdma::Device>> open(const IpAddress& address);

  std::mutex mutex;
  std::map<std::uint32_t, MemoryEndpoint*> endpoints;  // by queue pair
  std::map<IpAddress, std::string> refused;     // addresses without a device, with the reason
  std::map<IpAddress, rdma::PostResult> posts;  // the result of posting to an address
  std::map<std::uint32_t, int> answers;         // PONGs and ACKs that left, by flow label
  bool lose_acks = false;
  int pongs_of_which_one_arrives = 1;
  int pongs = 0;
  bool no_timestamps = false;
  std::uint32_t next_qpn = 100;
  int opened = 0;
};

struct MemoryPacket {
  std::vector<std::uint8_t> bytes;
  rdma::UdPath from;
  std::uint32_t qpn = 0;
  std::uint64_t ticks = 0;
};

class MemoryEndpoint final : public rdma::UdEndpoint {
 public:
  MemoryEndpoint(MemoryFabric& fabric, const IpAddress& address) : fabric_(&fabric) {
    const std::lock_guard lock(fabric.mutex);
    address_.gid = rdma::Gid::of(address);
    address_.qpn = fabric.next_qpn++;
    address_.q_key = 77;
    fabric.endpoints[address_.qpn] = this;
  }
  ~MemoryEndpoint() override {
    const std::lock_guard lock(fabric_->mutex);
    fabric_->endpoints.erase(address_.qpn);
  }
  // REQUIRES: the fabric's mutex is held.
  void fail() {
    failed_ = true;
    wake();
  }

  const rdma::UdAddress& address() const override { return address_; }
  const TickClock& clock() const override { return clock_; }
  std::size_t maxPayload() const override { return 1024; }
  void prepare(const rdma::UdPath&) override {}
  void recheck(const rdma::UdPath&) override { ++rechecked; }
  std::optional<std::uint16_t> sourcePort(const rdma::UdPath&) const override {
    return std::nullopt;
  }
  int descriptor() const override { return event_.get(); }
  Nanos nextWake() const override { return INT64_MAX; }
  std::vector<rdma::DropCount> drops() const override { return {{"every_endpoint_one", 1}}; }

  rdma::PostResult post(const rdma::UdMessage& message) override {
    const std::lock_guard lock(fabric_->mutex);
    const auto special = fabric_->posts.find(message.path.gid.address());
    if (special != fabric_->posts.end()) return special->second;
    posted_.emplace_back(message,
                         std::vector<std::uint8_t>(message.payload.begin(), message.payload.end()));
    return rdma::PostResult::kPosted;
  }
  void flush() override {
    const std::lock_guard lock(fabric_->mutex);
    for (auto& [message, bytes] : posted_) leave(message, std::move(bytes));
    posted_.clear();
  }
  Status poll(rdma::UdEvents& events) override {
    const std::lock_guard lock(fabric_->mutex);
    events.clear();
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_.get(), &count, sizeof count);
    if (failed_) return makeError("memory", "queue pair in error");
    events.sent = std::exchange(sent_, {});
    current_ = std::exchange(arrived_, {});
    for (const MemoryPacket& packet : current_) {
      rdma::UdReceived received{packet.bytes, packet.from, packet.qpn, packet.ticks};
      if (fabric_->no_timestamps) received.ticks.reset();
      events.received.push_back(received);
    }
    return {};
  }

  int rechecked = 0;

 private:
  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
  }
  void leave(const rdma::UdMessage& message, std::vector<std::uint8_t> bytes) {
    const auto now = static_cast<std::uint64_t>(utcNow());
    sent_.push_back({message.id, true, now});
    wake();
    const bool is_ack = bytes.size() > 3 && bytes[3] == 3;
    if (bytes.size() > 3 && bytes[3] >= 2) ++fabric_->answers[message.path.flow_label];
    const auto to = fabric_->endpoints.find(message.qpn);
    if (to == fabric_->endpoints.end() || message.q_key != to->second->address_.q_key) return;
    if (is_ack && fabric_->lose_acks) return;
    const bool is_pong = bytes.size() > 3 && bytes[3] == 2;
    if (is_pong && ++fabric_->pongs % fabric_->pongs_of_which_one_arrives != 0) return;
    rdma::UdPath back = message.path;
    back.gid = address_.gid;
    back.flow_label = 0;  // IPv4 has none
    to->second->arrived_.push_back({std::move(bytes), back, address_.qpn, now + 2000});
    to->second->wake();
  }

  MemoryFabric* fabric_;
  rdma::UdAddress address_;
  TickClock clock_ = TickClock::nanoseconds(ClockSource::kKernel);
  UniqueFd event_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  std::vector<std::pair<rdma::UdMessage, std::vector<std::uint8_t>>> posted_;
  std::vector<rdma::UdSent> sent_;
  std::vector<MemoryPacket> arrived_;
  std::vector<MemoryPacket> current_;
  bool failed_ = false;
};

class MemoryDevice final : public rdma::Device {
 public:
  MemoryDevice(MemoryFabric& fabric, const IpAddress& address)
      : fabric_(&fabric), address_(address) {
    info_.name = "memory";
  }
  const rdma::DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<rdma::UdEndpoint>> createUd(const rdma::UdOptions&) override {
    return std::make_unique<MemoryEndpoint>(*fabric_, address_);
  }

 private:
  MemoryFabric* fabric_;
  IpAddress address_;
  rdma::DeviceInfo info_;
};

inline Result<std::unique_ptr<rdma::Device>> MemoryFabric::open(const IpAddress& address) {
  const std::lock_guard lock(mutex);
  ++opened;
  const auto found = refused.find(address);
  if (found != refused.end()) return makeError(address.text(), found->second);
  return std::make_unique<MemoryDevice>(*this, address);
}

}  // namespace pingloom::probe::rdma_ud
