#include "chain.h"

#include <utility>

#include "common/time.h"
#include "rdma/soft/soft_device.h"
#include "shared/clocks.h"
#include "store/writer_status.h"

namespace pingloom::bench {
namespace {

// Loopback addresses that nothing else uses.
constexpr std::uint32_t kCollectorAddress = 0x7f2d0001;   // 127.45.0.1
constexpr std::uint32_t kTranslatorAddress = 0x7f2d0002;  // 127.45.0.2
constexpr Nanos kMaxSilence = 30 * kSecond;               // more than all retries of the endpoint

}  // namespace

Chain::Chain(store::Head head) : head_(std::move(head)), file_(head_.bytes) {}

Chain::~Chain() { writer_.reset(); }

Result<std::unique_ptr<Chain>> Chain::create(const std::vector<store::TableSpec>& tables) {
  auto head = store::layOut(tables, utcNow());
  if (!head) return tl::unexpected(head.error());
  std::unique_ptr<Chain> made(new Chain(std::move(*head)));
  if (auto opened = made->open(); !opened) return tl::unexpected(opened.error());
  return made;
}

Status Chain::open() {
  constexpr rdma::Access kAccess = rdma::Access::kRead | rdma::Access::kWrite;
  const auto opened = [](std::uint32_t address, auto& device, auto& domain) -> Status {
    auto made = rdma::soft::openSoftDevice(IpAddress::fromV4(address));
    if (!made) return tl::unexpected(made.error());
    device = std::move(*made);
    auto shared = device->createDomain();
    if (!shared) return tl::unexpected(shared.error());
    domain = std::move(*shared);
    return {};
  };
  if (auto status = opened(kCollectorAddress, collector_, collector_domain_); !status)
    return status;
  if (auto status = opened(kTranslatorAddress, device_, domain_); !status) return status;
  auto region =
      collector_domain_->registerMemory(std::span(file_).subspan(store::kRegionOffset), kAccess);
  if (!region) return tl::unexpected(region.error());
  region_ = std::move(*region);
  auto shadow = translator::Shadow::create(head_, *domain_);
  if (!shadow) return tl::unexpected(shadow.error());
  shadow_ = std::move(*shadow);
  auto writer = translator::StoreWriter::create(*domain_, counters_);
  if (!writer) return tl::unexpected(writer.error());
  writer_ = std::move(*writer);
  rdma::RcOptions options;
  options.access = kAccess;
  auto endpoint = collector_domain_->createRc(options);
  if (!endpoint) return tl::unexpected(endpoint.error());
  collector_endpoint_ = std::move(*endpoint);
  if (auto status = collector_endpoint_->connect(writer_->address()); !status) return status;
  const store::Connected connected{collector_endpoint_->address(), region_->address(),
                                   region_->rkey(), head_};
  if (auto status = writer_->connect(connected); !status) return status;
  writer_->serve(*shadow_, false);
  return {};
}

Result<ChainCost> Chain::run(const Load& load, std::uint64_t flush_every) {
  const SocketAddress source{IpAddress::fromV4(0x7f000001), 1};
  const auto each = [&](double nanos) { return nanos / static_cast<double>(load.reports()); };
  const Nanos utc = utcNow();
  const Nanos cpu_before = threadCpu();
  const Nanos before = monotonicNow();
  const auto placed = [&] {
    return counters_.accepted[0] + counters_.accepted[1] + counters_.accepted[2] +
           counters_.accepted[3];
  };
  const std::uint64_t placed_before = placed();
  std::uint64_t flushed = placed_before;
  collector_time_ = 0;
  for (std::size_t i = 0; i < load.datagrams(); ++i) {
    intake_.take(load.datagram(i), source, *shadow_, before, utc);
    if (placed() - flushed < flush_every) continue;
    if (auto status = flush(); !status) return tl::unexpected(status.error());
    flushed = placed();
  }
  if (auto status = flush(); !status) return tl::unexpected(status.error());
  const Nanos cpu = threadCpu() - cpu_before;
  if (placed() - placed_before != load.reports()) {
    return makeError("chain", "reports were refused or dropped");
  }
  // The clock of a thread's CPU time is too slow to be read around each poll.
  const double share =
      static_cast<double>(collector_time_) / static_cast<double>(monotonicNow() - before);
  return ChainCost{each(static_cast<double>(cpu)), each(static_cast<double>(cpu) * share)};
}

// Writes all that has changed, and then the status, by whose arrival the end is seen.
Status Chain::flush() {
  store::WriterStatus status;
  status.beat = ++beat_;
  writer_->flush(status);
  const Nanos limit = monotonicNow() + kMaxSilence;
  for (;;) {
    if (auto polled = writer_->poll(); !polled) return polled;
    if (auto polled = pollCollector(); !polled) return polled;
    const auto arrived =
        store::decodeStatus(std::span(file_).subspan(store::kStatusOffset, store::kStatusBytes));
    if (arrived && arrived->beat == beat_) return {};
    if (monotonicNow() > limit) return makeError("chain", "the status does not arrive");
  }
}

Status Chain::pollCollector() {
  const Nanos before = monotonicNow();
  events_.clear();
  auto polled = collector_endpoint_->poll(events_);
  collector_time_ += monotonicNow() - before;
  if (!polled) return tl::unexpected(polled.error());
  return {};
}

}  // namespace pingloom::bench
