#include "cli/read_run.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "cli/read_pattern.h"
#include "common/poll_set.h"

namespace pingloom::cli {
namespace {

constexpr std::uint64_t kLine = 64;  // READs begin at multiples of it

bool hasHungUp(int socket) {
  char byte = 0;
  const ssize_t got = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace

Result<std::unique_ptr<ReadRun>> ReadRun::create(std::unique_ptr<rdma::Domain> domain,
                                                 const ReadJob& job,
                                                 std::unique_ptr<rdma::RcEndpoint> endpoint,
                                                 RemoteRegion remote, int stop) {
  std::unique_ptr<ReadRun> made(new ReadRun(job, std::move(remote), stop));
  made->memory_.resize(std::max<std::size_t>(std::size_t{job.bytes} * job.depth, 1));
  made->domain_ = std::move(domain);
  made->endpoint_ = std::move(endpoint);
  auto region = made->domain_->registerMemory(made->memory_, rdma::Access::kNone);
  if (!region) return tl::unexpected(region.error());
  made->region_ = std::move(*region);
  return made;
}

std::span<std::uint8_t> ReadRun::memoryOf(std::uint32_t place) {
  return std::span(memory_).subspan(std::size_t{place} * job_.bytes, job_.bytes);
}

// Advances from one part of the region to the next, and wraps around at its end.
void ReadRun::post(std::uint32_t place) {
  const std::uint64_t starts = (remote_.length - job_.bytes) / kLine + 1;
  const std::uint64_t apart = (job_.bytes + kLine - 1) / kLine;
  places_[place].offset = next_++ * apart % starts * kLine;
  const rdma::LocalPiece piece{region_.get(), memoryOf(place)};
  rdma::RcRequest request;
  request.id = place;
  request.local = {&piece, 1};
  request.remote_address = remote_.address + places_[place].offset;
  request.rkey = remote_.rkey;
  // The buffer is filled with another value, so that bytes that a READ does not write are noticed.
  if (!piece.memory.empty()) piece.memory.front() = piece.memory.back() = 0;
  places_[place].filled = false;
  places_[place].posted = monotonicNow();
  endpoint_->post(request);  // the endpoint's depth is the job's
}

void ReadRun::wait(ReadPhase& phase) {
  constexpr std::uint32_t kBusyRounds = 256;  // a busy loop asks the kernel only now and then
  if (job_.busy && ++rounds_ % kBusyRounds != 0) return;
  const Nanos wake = endpoint_->nextWake();
  enum class Wake { kStop, kServer, kEndpoint, kCount };
  PollSet<Wake> wakes;
  wakes.watch(Wake::kStop, stop_);
  wakes.watch(Wake::kServer, remote_.control.get());
  wakes.watch(Wake::kEndpoint, endpoint_->descriptor());
  wakes.wait(job_.busy ? 0 : std::min(wake - monotonicNow(), kSecond));
  phase.stopped = wakes.ready(Wake::kStop);
  if (wakes.ready(Wake::kServer) && hasHungUp(remote_.control.get())) {
    phase.failure = "the server has gone or has closed this connection";
  }
}

void ReadRun::check(ReadPhase& phase, std::uint32_t place) {
  if (remote_.pattern == 0 || job_.bytes == 0) return;
  ++phase.checked;
  if (!hasPattern(memoryOf(place), remote_.pattern, places_[place].offset)) ++phase.wrong;
}

void ReadRun::take(ReadPhase& phase, std::vector<std::uint32_t>& free) {
  const Status polled = endpoint_->poll(events_);
  const Nanos now = monotonicNow();
  for (const rdma::RcDone& done : events_.done) {
    const auto place = static_cast<std::uint32_t>(done.id);
    free.push_back(place);
    if (done.status != rdma::RcStatus::kOk) {
      ++phase.failed[static_cast<std::size_t>(done.status)];
      continue;
    }
    ++phase.done;
    phase.elapsed = now - begin_;
    places_[place].filled = true;
    phase.latency.add(static_cast<std::uint64_t>(now - places_[place].posted));
    if (phase.depth == 1) check(phase, place);
  }
  if (!polled) phase.failure = polled.error().text();
}

ReadPhase ReadRun::run(std::uint32_t depth) {
  ReadPhase phase;
  phase.depth = depth;
  places_.assign(depth, {});
  std::vector<std::uint32_t> free;
  for (std::uint32_t place = depth; place-- > 0;) free.push_back(place);
  std::uint64_t posted = 0;
  begin_ = monotonicNow();
  while (phase.done < job_.count && phase.complete()) {
    for (; !free.empty() && posted < job_.count; ++posted) {
      post(free.back());
      free.pop_back();
    }
    endpoint_->flush();
    wait(phase);
    take(phase, free);
  }
  for (std::uint32_t place = 0; depth > 1 && place < depth; ++place) {
    if (places_[place].filled) check(phase, place);
  }
  return phase;
}

}  // namespace pingloom::cli
