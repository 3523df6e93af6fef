#include "store/remote_reads.h"

#include <poll.h>

#include <algorithm>
#include <ctime>

#include "common/random.h"

namespace pingloom::store {
namespace {

constexpr std::uint8_t kReaderTimeout = 14;  // 67 ms, so a dead collector is noticed in 0.5 s

}  // namespace

Result<std::unique_ptr<RemoteReads>> RemoteReads::open(std::shared_ptr<StoreClient> client,
                                                       rdma::Device& device,
                                                       const std::string& name) {
  const ConnectRequest request{name, randomU64(), {}, Purpose::kRead};
  std::unique_ptr<RemoteReads> made(new RemoteReads(std::move(client), request));
  if (auto connected = made->connect(device); !connected) {
    return tl::unexpected(connected.error());
  }
  return made;
}

Status RemoteReads::connect(rdma::Device& device) {
  auto domain = device.createDomain();
  if (!domain) return tl::unexpected(domain.error());
  domain_ = std::move(*domain);
  auto region = domain_->registerMemory(buffer_, rdma::Access::kNone);
  if (!region) return tl::unexpected(region.error());
  region_ = std::move(*region);
  rdma::RcOptions options;
  options.timeout = kReaderTimeout;
  auto endpoint = domain_->createRc(options);
  if (!endpoint) return tl::unexpected(endpoint.error());
  endpoint_ = std::move(*endpoint);
  request_.endpoint = endpoint_->address();
  auto connected = client_->connect(request_);
  if (!connected) return tl::unexpected(connected.error());
  connected_ = std::move(*connected);
  said_ = monotonicNow();
  return endpoint_->connect(connected_.endpoint);
}

RemoteReads::~RemoteReads() {
  if (said_ != 0 && !failure_) client_->leave(request_);
}

Status RemoteReads::reachable() const {
  return failure_ ? Status(tl::unexpected(*failure_)) : Status();
}

void RemoteReads::read(std::uint64_t base, std::span<const ReadPiece> pieces) const {
  if (const Nanos now = monotonicNow(); !failure_ && now - said_ >= kKeepAlive) {
    client_->keepAlive(request_);
    said_ = now;
  }
  if (!failure_) {
    if (const Status done = readNow(base, pieces); !done) failure_ = done.error();
  }
  if (!failure_) return;
  for (const ReadPiece& piece : pieces) std::ranges::fill(piece.into, 0);
}

// As many pieces as the buffer has room for are in flight together.
Status RemoteReads::readNow(std::uint64_t base, std::span<const ReadPiece> pieces) const {
  while (!pieces.empty()) {
    std::size_t count = 0;
    std::size_t used = 0;
    for (; count < pieces.size() && used + pieces[count].into.size() <= buffer_.size(); ++count) {
      const auto place = std::span(buffer_).subspan(used, pieces[count].into.size());
      if (auto posted = post(base + pieces[count].offset, place); !posted) return posted;
      used += place.size();
    }
    if (count == 0) return makeError(client_->collector(), "a piece is larger than the buffer");
    endpoint_->flush();
    if (auto done = await(count); !done) return done;
    used = 0;
    for (const ReadPiece& piece : pieces.first(count)) {
      std::ranges::copy(std::span(buffer_).subspan(used, piece.into.size()), piece.into.begin());
      used += piece.into.size();
    }
    pieces = pieces.subspan(count);
  }
  return {};
}

Status RemoteReads::post(std::uint64_t offset, std::span<std::uint8_t> into) const {
  const rdma::LocalPiece local{region_.get(), into};
  rdma::RcRequest request;
  request.local = {&local, 1};
  request.remote_address = connected_.address + (offset - kRegionOffset);
  request.rkey = connected_.rkey;
  if (endpoint_->post(request) == rdma::PostResult::kPosted) return {};
  return makeError(client_->collector(), "the store's endpoint takes no request");
}

Status RemoteReads::await(std::size_t reads) const {
  for (;;) {
    events_.clear();
    Status polled = endpoint_->poll(events_);
    for (const rdma::RcDone& done : events_.done) {
      if (done.status != rdma::RcStatus::kOk) {
        return makeError(client_->collector(),
                         "the READ of a store failed: " + std::string(rdma::name(done.status)));
      }
      --reads;
    }
    if (!polled) return polled;
    if (reads == 0) return {};
    pollfd ready{endpoint_->descriptor(), POLLIN, 0};
    const Nanos time = std::clamp<Nanos>(endpoint_->nextWake() - monotonicNow(), 0, kSecond);
    const timespec timeout{time / kSecond, time % kSecond};
    ppoll(&ready, 1, &timeout, nullptr);
  }
}

}  // namespace pingloom::store
