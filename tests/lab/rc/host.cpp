#include "host.h"

#include <fcntl.h>
#include <sched.h>

#include "check.h"
#include "rdma/soft/soft_device.h"
#include "rdma/verbs/verbs_device.h"

namespace pingloom::lab {
namespace {

Result<std::unique_ptr<rdma::Device>> openDevice(const Place& place) {
  const auto address = IpAddress::parse(place.address);
  if (!address) return makeError(place.address, "not an address");
  if (!place.isSoft()) return rdma::verbs::openVerbsDevice({.address = *address});
  const InNetwork there(place.network);
  return rdma::soft::openSoftDevice(*address);
}

}  // namespace

InNetwork::InNetwork(const std::string& name)
    : home_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
  const UniqueFd there(::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  require(home_.valid() && there.valid() && ::setns(there.get(), CLONE_NEWNET) == 0,
          "no network namespace " + name);
}

InNetwork::~InNetwork() {
  if (::setns(home_.get(), CLONE_NEWNET) != 0) fail("cannot leave a network namespace");
}

rdma::RcOptions permitting(rdma::Access access, std::uint32_t mtu) {
  rdma::RcOptions options;
  options.access = access;
  options.mtu = mtu;
  options.immediates = 16;
  return options;
}

Host::Host(const Place& place, std::size_t bytes) : place_(place), memory_(bytes) {
  auto opened = openDevice(place);
  if (!opened) fail(opened.error().text());
  device_ = std::move(*opened);
  auto domain = device_->createDomain();
  if (!domain) fail(domain.error().text());
  domain_ = std::move(*domain);
  registerMemory(kAll);
}

void Host::registerMemory(rdma::Access access) {
  region_.reset();
  auto made = domain_->registerMemory(memory_, access);
  if (!made) fail(made.error().text());
  region_ = std::move(*made);
}

void Host::makeEndpoint(const rdma::RcOptions& options) {
  endpoint_.reset();
  done_.clear();
  arrived_.clear();
  why_.clear();
  auto made = domain_->createRc(options);
  if (!made) fail(made.error().text());
  endpoint_ = std::move(*made);
}

void Host::poll() {
  if (auto polled = endpoint_->poll(events_); !polled) why_ = polled.error().text();
  done_.insert(done_.end(), events_.done.begin(), events_.done.end());
  arrived_.insert(arrived_.end(), events_.arrived.begin(), events_.arrived.end());
}

std::uint64_t Host::dropped(std::string_view reason) const {
  for (const rdma::DropCount& drop : endpoint_->drops()) {
    if (drop.reason == reason) return drop.count;
  }
  fail(std::string("no reason ") + std::string(reason));
}

}  // namespace pingloom::lab
