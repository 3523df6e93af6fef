// A context's thread: what arrives for its queue pairs, when it is due.
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "objects.h"

namespace fake {
namespace {

constexpr std::int64_t kFaultsApart = 20'000'000;  // ns

}  // namespace

Context::Context(Device& opened) : verbs_context(), device(opened) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  context.async_fd = ends[0];
  async_write = ends[1];
  wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  context.device = &device;
  context.cmd_fd = -1;
  context.num_comp_vectors = 1;
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  sz = sizeof(verbs_context);
  device.contexts.insert(this);
  thread = std::thread([this] { run(); });
}

Context::~Context() {
  {
    const Lock lock(bigLock());
    device.contexts.erase(this);
    stop = true;
    wake();
  }
  thread.join();
  close(context.async_fd);
  close(async_write);
  close(wake_fd);
}

void Context::raise(const ibv_async_event& event) {
  if (write(async_write, &event, sizeof event) != sizeof event) std::abort();
}

void Context::wake() {
  const std::uint64_t one = 1;
  if (write(wake_fd, &one, sizeof one) != sizeof one) std::abort();
}

timespec Context::nextDue(std::int64_t now) const {
  std::int64_t wait = kFaultsApart;
  for (const QueuePair* pair : pairs) {
    if (!pair->arrivals.empty()) wait = std::min(wait, pair->arrivals.begin()->first - now);
    const bool works = pair->state == IBV_QPS_RTS && !device.hangs;
    if (works && !pair->requests.empty()) wait = std::min(wait, pair->requests.front().due - now);
  }
  wait = std::max<std::int64_t>(wait, 0);
  return {0, static_cast<long>(wait)};
}

void Context::run() {
  std::vector<pollfd> waiting;
  for (;;) {
    timespec timeout{};
    {
      const Lock lock(bigLock());
      if (stop) return;
      timeout = nextDue(monotonicNanos());
      waiting.assign(1, {wake_fd, POLLIN, 0});
      for (const QueuePair* pair : pairs) waiting.push_back({pair->socket, POLLIN, 0});
    }
    ppoll(waiting.data(), waiting.size(), &timeout, nullptr);
    applyNewFaults();
    const Lock lock(bigLock());
    std::uint64_t woken = 0;
    while (read(wake_fd, &woken, sizeof woken) > 0) {
    }
    for (QueuePair* pair : pairs) readSocket(*pair);
    if (device.racing == 0) deliverDue(monotonicNanos());
  }
}

void Context::readSocket(QueuePair& pair) {
  std::array<std::uint8_t, sizeof(PacketHeader) + kMaxPayload> bytes;
  for (;;) {
    const ssize_t got = recv(pair.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0) return;
    Arrival arrival;
    if (static_cast<std::size_t>(got) < sizeof arrival.header) continue;
    std::memcpy(&arrival.header, bytes.data(), sizeof arrival.header);
    if (arrival.header.magic != PacketHeader::kMagic) continue;
    arrival.payload.assign(bytes.begin() + sizeof arrival.header, bytes.begin() + got);
    pair.arrivals.emplace(arrival.header.due, std::move(arrival));
  }
}

void Context::deliverDue(std::int64_t now) {
  for (QueuePair* pair : pairs) {
    while (!pair->arrivals.empty() && pair->arrivals.begin()->first <= now) {
      auto due = pair->arrivals.extract(pair->arrivals.begin());
      pair->deliver(due.mapped());
    }
    pair->carryOutDue(now);
  }
}

}  // namespace fake
