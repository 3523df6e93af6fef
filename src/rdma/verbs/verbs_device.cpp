#include "rdma/verbs/verbs_device.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <mutex>

#include "rdma/verbs/device_query.h"
#include "rdma/verbs/handles.h"
#include "rdma/verbs/port_counters.h"
#include "rdma/verbs/quirks.h"
#include "rdma/verbs/rc_domain.h"
#include "rdma/verbs/verbs_memory_region.h"
#include "rdma/verbs/verbs_rc_endpoint.h"
#include "rdma/verbs/verbs_ud_endpoint.h"

namespace pingloom::rdma::verbs {
namespace {

DeviceInfo describe(const DeviceDetails& device, const PortDetails& port, const GidDetails& gid) {
  DeviceInfo info;
  info.name = device.name;
  info.port = port.number;
  info.link_layer = port.link_layer;
  info.gid = gid.gid;
  info.lid = port.link_layer == LinkLayer::kInfiniband ? port.lid : std::uint16_t{0};
  info.mtu = port.active_mtu;
  if (device.hasHardwareTimestamps()) {
    info.clock = TickClock(ClockSource::kHardware, device.core_clock_khz, device.timestamp_mask);
  }
  const PortChoice choice = portChoiceOf(device, gid);
  info.flow_label_chooses_path = choice == PortChoice::kFlowLabel;
  info.source_ports_known = choice != PortChoice::kUnknown;
  return info;
}

class VerbsDomain final : public Domain {
 public:
  VerbsDomain(std::shared_ptr<RcDomain> domain, const PortDetails& port, const GidDetails& gid)
      : domain_(std::move(domain)), port_(port), gid_(gid) {}

  Result<std::unique_ptr<RcEndpoint>> createRc(const RcOptions& options) override {
    return VerbsRcEndpoint::create(domain_, port_, gid_, options);
  }
  Result<std::unique_ptr<rdma::MemoryRegion>> registerMemory(std::span<std::uint8_t> memory,
                                                             Access access) override {
    return VerbsMemoryRegion::create(domain_, memory, access);
  }

 private:
  std::shared_ptr<RcDomain> domain_;
  PortDetails port_;
  GidDetails gid_;
};

// Keeps the device open so that its endpoints can open it too.
class VerbsDevice final : public Device {
 public:
  VerbsDevice(Context context, DeviceDetails details, PortDetails port, GidDetails gid)
      : context_(std::move(context)),
        details_(std::move(details)),
        port_(std::move(port)),
        gid_(std::move(gid)),
        info_(describe(details_, port_, gid_)) {}

  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<UdEndpoint>> createUd(const UdOptions& options) override {
    return VerbsUdEndpoint::create(context_->device, details_, port_, gid_, options);
  }
  Result<std::unique_ptr<Domain>> createDomain() override {
    auto context = rcContext();
    if (!context) return tl::unexpected(context.error());
    auto domain = RcDomain::create(std::move(*context));
    if (!domain) return tl::unexpected(domain.error());
    return std::make_unique<VerbsDomain>(std::move(*domain), port_, gid_);
  }

 private:
  // Opens the device for its domains when the first one is created; UD endpoints do not need it.
  Result<std::shared_ptr<RcContext>> rcContext() {
    const std::lock_guard lock(mutex_);
    if (rc_context_ != nullptr) return rc_context_;
    auto made =
        RcContext::create(context_->device, fmt::format("{} port {}", details_.name, port_.number),
                          port_.number, gid_);
    if (made) rc_context_ = *made;
    return made;
  }

  Context context_;
  DeviceDetails details_;
  PortDetails port_;
  GidDetails gid_;
  DeviceInfo info_;
  std::mutex mutex_;
  std::shared_ptr<RcContext> rc_context_;  // guarded by `mutex_`
};

std::vector<DeviceDetails> queryAll(const DeviceList& list) {
  std::vector<DeviceDetails> all;
  for (ibv_device* device : list.devices()) all.push_back(queryDevice(device));
  return all;
}

}  // namespace

Result<std::unique_ptr<Device>> openVerbsDevice(const DeviceChoice& choice) {
  const auto list = DeviceList::get();
  if (!list) return tl::unexpected(list.error());
  const auto all = queryAll(*list);
  const auto chosen = explainChoice(all, choice);
  if (!chosen) return tl::unexpected(chosen.error());
  if (chosen->gid->index > std::numeric_limits<std::uint8_t>::max()) {
    return makeError(
        chosen->device->name,
        fmt::format("GID {} is beyond what an address handle can name (255)", chosen->gid->index));
  }
  const auto at = static_cast<std::size_t>(chosen->device - all.data());
  auto context = openContext(list->devices()[at]);
  if (!context) return tl::unexpected(context.error());
  return std::make_unique<VerbsDevice>(std::move(*context), *chosen->device, *chosen->port,
                                       *chosen->gid);
}

Result<std::vector<DeviceDetails>> listDevices() {
  const auto list = DeviceList::get();
  if (!list) return tl::unexpected(list.error());
  return queryAll(*list);
}

Result<Chosen> explainChoice(const std::vector<DeviceDetails>& devices,
                             const DeviceChoice& choice) {
  return choose(devices, choice, choice.address ? ipoibGid(*choice.address) : std::nullopt);
}

std::vector<PortCounter> portCounters(const DeviceDetails& device, std::uint8_t port) {
  return readPortCounters(std::filesystem::path(device.sysfs_path) / "ports" /
                          std::to_string(port));
}

}  // namespace pingloom::rdma::verbs
