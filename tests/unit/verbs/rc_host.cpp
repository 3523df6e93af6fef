#include "rc_host.h"

#include <poll.h>

#include <algorithm>

#include "unit/eventually.h"

namespace pingloom::rdma::verbs {

RcOptions RcSide::everything() {
  RcOptions options;
  options.access = kEverything;
  options.timeout = 10;  // 4 ms
  options.immediates = 4;
  return options;
}

RcSide::RcSide(std::string_view address, const RcOptions& options, Access access) : memory(kBytes) {
  auto opened = openVerbsDevice(at(address));
  EXPECT_TRUE(opened) << opened.error().text();
  device = std::move(opened.value());
  auto shared = device->createDomain();
  EXPECT_TRUE(shared) << shared.error().text();
  domain = std::move(shared.value());
  auto registered = domain->registerMemory(memory, access);
  EXPECT_TRUE(registered) << registered.error().text();
  region = std::move(registered.value());
  auto made = domain->createRc(options);
  EXPECT_TRUE(made) << made.error().text();
  endpoint = std::move(made.value());
}

void connect(RcSide& a, RcSide& b) {
  const auto first = a.endpoint->connect(b.endpoint->address());
  ASSERT_TRUE(first) << first.error().text();
  const auto second = b.endpoint->connect(a.endpoint->address());
  ASSERT_TRUE(second) << second.error().text();
}

Status RcSide::step(int milliseconds) {
  pollfd waiting{endpoint->descriptor(), POLLIN, 0};
  const Nanos most = milliseconds * kMillisecond;
  const Nanos wake = endpoint->nextWake();
  const Nanos until = wake == INT64_MAX ? most : std::clamp<Nanos>(wake - monotonicNow(), 0, most);
  ::poll(&waiting, 1, static_cast<int>((until + kMillisecond - 1) / kMillisecond));
  Status polled = endpoint->poll(events);
  for (const RcDone& one : events.done) {
    done[one.id].push_back(one.status);
    order.push_back(one.id);
  }
  arrived.insert(arrived.end(), events.arrived.begin(), events.arrived.end());
  return polled;
}

RcRequest RcSide::request(RcOperation operation, const RcSide& peer, std::size_t bytes,
                          std::size_t offset) {
  piece_ = {region.get(), std::span(memory).first(bytes)};
  RcRequest made;
  made.operation = operation;
  made.id = next_id_++;
  made.local = {&piece_, 1};
  made.remote_address = peer.region->address() + offset;
  made.rkey = peer.region->rkey();
  return made;
}

PostResult RcSide::post(const RcRequest& request) {
  const PostResult result = endpoint->post(request);
  endpoint->flush();
  return result;
}

std::optional<RcStatus> RcSide::endOf(std::uint64_t id) {
  test::eventually([&] { return done.contains(id); }, [&] { return step(); });
  const auto found = done.find(id);
  if (found == done.end() || found->second.size() != 1) return std::nullopt;
  return found->second.front();
}

std::string RcSide::failure() {
  Status polled;
  test::eventually([&] { return !polled; }, [&] { polled = step(); });
  return polled ? "" : polled.error().text();
}

}  // namespace pingloom::rdma::verbs
