#include "soft_loop.h"

#include <array>
#include <span>

#include "bare_loop.h"
#include "common/duration.h"
#include "rdma/soft/soft_device.h"

namespace pingloom::bench {
namespace {

constexpr rdma::Access kAll = rdma::Access::kRead | rdma::Access::kWrite | rdma::Access::kAtomic;
constexpr Nanos kLongestSilence = 10 * kSecond;  // more than all retries of the endpoint

}  // namespace

Status SoftLoop::Side::open(std::uint32_t address, bool raw, const rdma::RcOptions& rc) {
  rdma::soft::SoftOptions options;
  options.raw_socket = raw;
  auto opened = rdma::soft::openSoftDevice(IpAddress::fromV4(address), options);
  if (!opened) return tl::unexpected(opened.error());
  device = std::move(*opened);
  if (raw && device->info().icrc_check != "exact") return makeError("soft loop", "no CAP_NET_RAW");
  auto shared = device->createDomain();
  if (!shared) return tl::unexpected(shared.error());
  domain = std::move(*shared);
  auto registered = domain->registerMemory(memory, kAll);
  if (!registered) return tl::unexpected(registered.error());
  region = std::move(*registered);
  auto created = domain->createRc(rc);
  if (!created) return tl::unexpected(created.error());
  endpoint = std::move(*created);
  return {};
}

Status SoftLoop::Side::poll() {
  if (auto polled = endpoint->poll(events); !polled) return tl::unexpected(polled.error());
  return {};
}

Result<double> SoftLoop::run(const Task& task, bool raw, Cores cores) {
  if (auto opened = open(task, raw); !opened) return tl::unexpected(opened.error());
  const auto answer = [this] { return answering_.poll(); };
  Task warming = task;
  warming.operations /= kWarming;
  if (auto warmed = ask(warming, answer); !warmed) return tl::unexpected(warmed.error());
  return measure(
      cores, task.operations, [&](auto&& meanwhile) { return ask(task, meanwhile); }, answer);
}

template <typename Meanwhile>
Status SoftLoop::ask(const Task& task, Meanwhile&& meanwhile) {
  std::uint64_t posted = 0;
  std::uint64_t done = 0;
  Nanos progress = monotonicNow();
  while (done < task.operations) {
    for (; posted < task.operations && posted - done < task.depth; ++posted) {
      if (auto went = post(task, posted); !went) return went;
    }
    asking_.endpoint->flush();
    if (auto went = meanwhile(); !went) return went;
    if (auto polled = asking_.poll(); !polled) return polled;
    if (!asking_.events.done.empty()) progress = monotonicNow();
    if (monotonicNow() - progress > kLongestSilence) {
      return makeError("soft loop",
                       "no operation was completed within " + formatDuration(kLongestSilence));
    }
    done += asking_.events.done.size();
  }
  return {};
}

Status SoftLoop::open(const Task& task, bool raw) {
  rdma::RcOptions rc;
  rc.access = kAll;
  rc.mtu = task.mtu;
  rc.reads = 64;
  if (auto opened = asking_.open(kAskingAddress, raw, rc); !opened) return opened;
  if (auto opened = answering_.open(kAnsweringAddress, raw, rc); !opened) return opened;
  auto connected = asking_.endpoint->connect(answering_.endpoint->address());
  if (!connected) return connected;
  return answering_.endpoint->connect(asking_.endpoint->address());
}

Status SoftLoop::post(const Task& task, std::uint64_t number) {
  const std::size_t at = number % task.depth * task.bytes;
  const std::array<rdma::LocalPiece, 1> pieces = {
      {{asking_.region.get(), std::span(asking_.memory).subspan(at, task.bytes)}}};
  rdma::RcRequest request;
  request.operation = task.operation;
  request.local = pieces;
  request.remote_address = answering_.region->address() + at;
  request.rkey = answering_.region->rkey();
  request.add_or_swap = 1;
  if (asking_.endpoint->post(request) == rdma::PostResult::kPosted) return {};
  return makeError("soft loop", "cannot post");
}

}  // namespace pingloom::bench
