#include "translator/ingest_group.h"

#include <string>
#include <utility>

#include "net/udp_group.h"
#include "rdma/open_device.h"

namespace pingloom::translator {
namespace {

// A reporter draws its incarnation at random, and keeps it while it runs.
constexpr net::PayloadField kIncarnation{.offset = 12, .mask = UINT32_MAX};

}  // namespace

std::string storeName(const Config& config, std::uint32_t thread) {
  return thread == 0 ? config.name : config.name + "-" + std::to_string(thread + 1);
}

Result<std::unique_ptr<IngestGroup>> IngestGroup::start(const Config& config) {
  auto devices = rdma::openDevices(*config.address, config.threads, config.device);
  if (!devices) return tl::unexpected(devices.error());
  auto receivers = Receiver::bindGroup(config.listen, config.threads, kIncarnation);
  if (!receivers) return tl::unexpected(receivers.error());
  std::unique_ptr<IngestGroup> made(new IngestGroup());
  for (std::uint32_t i = 0; i < config.threads; ++i) {
    // A switch's packets come in small numbers, so one thread takes all of them.
    auto thread = IngestThread::start(config, {storeName(config, i), i == 0},
                                      std::move((*devices)[i]), std::move((*receivers)[i]));
    if (!thread) return tl::unexpected(thread.error());
    made->threads_.push_back(std::move(*thread));
  }
  return made;
}

// No socket or device of the group closes while another thread uses its own: the kernel would
// number the others anew.
IngestGroup::~IngestGroup() {
  for (const auto& thread : threads_) thread->stop();
}

Counters IngestGroup::counters() const {
  Counters sums = threads_.front()->counters();
  for (std::size_t i = 1; i < threads_.size(); ++i) sums.add(threads_[i]->counters());
  return sums;
}

ReporterLosses IngestGroup::losses() const {
  ReporterLosses sums = threads_.front()->losses();
  for (std::size_t i = 1; i < threads_.size(); ++i) sums.add(threads_[i]->losses());
  return sums;
}

void IngestGroup::setReporters(const ReporterSpecs& specs) {
  for (const auto& thread : threads_) thread->setReporters(specs);
}

}  // namespace pingloom::translator
