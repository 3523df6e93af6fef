// Soft devices that share the port of one address.
#include <gtest/gtest.h>

#include <thread>

#include "soft_rc_host.h"

namespace pingloom::rdma::soft::soft_shared_port_test {
namespace {

constexpr std::uint32_t kDevices = 3;
constexpr std::size_t kRead = 64 << 10;
constexpr int kRounds = 50;

class SoftSharedPort : public testing::TestWithParam<bool> {
 protected:
  SoftSharedPort() { options.raw_socket = GetParam(); }

  SoftOptions options;
  IpAddress address = freshLoopback();
};
INSTANTIATE_TEST_SUITE_P(Icrc, SoftSharedPort, testing::Bool(),
                         [](const auto& test) { return test.param ? "Exact" : "Residual"; });

// Packets that came to the device and were for another one.
std::uint64_t misdirected(const RcEndpoint& endpoint) {
  for (const DropCount& drop : endpoint.drops()) {
    if (drop.reason == "qpn") return drop.count;
  }
  ADD_FAILURE() << "they are not counted";
  return 0;
}

// A thread may be kept from running for a while.
RcOptions patient(Access access) {
  RcOptions options = permitting(access);
  options.timeout = 18;  // 1.1 s
  return options;
}

// Reads the peer's memory again and again on one thread, which polls both sides. Returns "" if
// every READ brought what is there.
std::string readAll(Domain& domain, RcHost& peer, RcEndpoint& endpoint) {
  std::vector<std::uint8_t> memory(kRead);
  const auto region = domain.registerMemory(memory, Access::kNone);
  if (!region) return region.error().text();
  const LocalPiece piece = {region->get(), memory};
  RcEvents events;
  for (int round = 0; round < kRounds; ++round) {
    std::fill(memory.begin(), memory.end(), std::uint8_t{0});
    RcRequest request;
    request.local = {&piece, 1};
    request.remote_address = peer.region->address();
    request.rkey = peer.region->rkey();
    if (endpoint.post(request) != PostResult::kPosted) return "a READ cannot be posted";
    endpoint.flush();
    const auto done = [&] {
      peer.poll();
      if (auto polled = endpoint.poll(events); !polled) return true;
      return !events.done.empty();
    };
    if (!test::eventually(done, [] {})) return "a READ is never done";
    if (events.done.front().status != RcStatus::kOk) return "a READ failed";
    if (!std::equal(memory.begin(), memory.end(), peer.memory.begin())) return "it read nonsense";
  }
  return misdirected(endpoint) == 0 ? "" : "it got packets of another device";
}

TEST_P(SoftSharedPort, EachDeviceHasItsOwnThreadAndItsOwnPackets) {
  auto devices = openSoftDevices(address, kDevices, options);
  ASSERT_TRUE(devices) << devices.error().text();
  ASSERT_EQ(devices->size(), kDevices);
  std::vector<std::string> problems(kDevices, "it did not run");
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kDevices; ++i) {
    threads.emplace_back([&, i] {
      const auto domain = std::move(*(*devices)[i]->createDomain());
      const auto endpoint = domain->createRc(patient(Access::kNone));
      RcHost peer(freshLoopback(), patient(kAll), options);
      if (!endpoint || !peer.endpoint || !(*endpoint)->connect(peer.endpoint->address()) ||
          !peer.endpoint->connect((*endpoint)->address())) {
        problems[i] = "no connection";
        return;
      }
      problems[i] = readAll(*domain, peer, **endpoint);
      if ((*endpoint)->address().qpn % kDevices != i) problems[i] += " another device's QPN";
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t i = 0; i < kDevices; ++i) EXPECT_EQ(problems[i], "") << i;
}

TEST_P(SoftSharedPort, NobodyElseGetsThePort) {
  const auto devices = openSoftDevices(address, kDevices, options);
  ASSERT_TRUE(devices) << devices.error().text();
  for (const std::uint32_t count : {1U, kDevices}) {
    const auto taken = openSoftDevices(address, count, options);
    ASSERT_FALSE(taken) << count;
    EXPECT_NE(taken.error().reason.find("another soft device"), std::string::npos);
  }
}

}  // namespace
}  // namespace pingloom::rdma::soft::soft_shared_port_test
