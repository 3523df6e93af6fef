// A soft device with one RC endpoint and a region of memory, for tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "soft_host.h"

namespace pingloom::rdma::soft {

constexpr Access kAll = Access::kRead | Access::kWrite | Access::kAtomic;
constexpr std::size_t kBytes = (1 << 20) + 4096;

inline RcOptions permitting(Access access, std::uint32_t mtu = 0) {
  RcOptions options;
  options.access = access;
  options.mtu = mtu;
  options.timeout = 13;  // 34 ms
  options.immediates = 16;
  return options;
}

struct RcHost {
  explicit RcHost(const IpAddress& address, const RcOptions& rc = permitting(kAll),
                  const SoftOptions& soft = {}) {
    auto opened = openSoftDevice(address, soft);
    if (!opened) return;
    device = std::move(*opened);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      memory[i] = static_cast<std::uint8_t>(i * 31 + (i >> 9) + address.bytes()[3]);
    }
    domain = std::move(*device->createDomain());
    region = std::move(*domain->registerMemory(memory, kAll));
    endpoint = std::move(*domain->createRc(rc));
  }
  void poll() {
    const Status polled = endpoint->poll(events);
    if (!polled) why = polled.error().reason;
    done.insert(done.end(), events.done.begin(), events.done.end());
    arrived.insert(arrived.end(), events.arrived.begin(), events.arrived.end());
  }
  std::uint64_t drops(std::string_view reason) const {
    for (const DropCount& drop : endpoint->drops()) {
      if (drop.reason == reason) return drop.count;
    }
    ADD_FAILURE() << "no reason " << reason;
    return 0;
  }
  std::string allDrops() const {
    std::string text = "; drops:";
    for (const DropCount& drop : endpoint->drops()) {
      if (drop.count == 0) continue;
      text += " " + std::string(drop.reason) + " " + std::to_string(drop.count);
    }
    return text;
  }

  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(kBytes);
  std::unique_ptr<Device> device;
  std::unique_ptr<Domain> domain;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<RcEndpoint> endpoint;  // nullptr: could not be made
  RcEvents events;
  std::vector<RcDone> done;
  std::vector<RcArrived> arrived;
  std::string why;
};

}  // namespace pingloom::rdma::soft
