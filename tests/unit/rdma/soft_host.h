// A soft device with one UD endpoint on a loopback address that no other test has, for tests.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/random.h"
#include "rdma/soft/soft_device.h"
#include "unit/eventually.h"
#include "unit/net/arrival_stamps.h"

namespace pingloom::rdma::soft {

// Tests run side by side, and each host takes port 4791 of its address.
inline IpAddress freshLoopback() {
  const auto low = static_cast<std::uint32_t>(randomU64() % 0xFDFFFF);
  return IpAddress::fromV4(0x7F010000 + low);
}

class SoftHost {
 public:
  explicit SoftHost(const IpAddress& address, const SoftOptions& options = {},
                    const UdOptions& ud = {}) {
    net::awaitArrivalStamps();
    auto opened = openSoftDevice(address, options);
    if (!opened) return;
    device = std::move(*opened);
    auto created = device->createUd(ud);
    if (created) endpoint = std::move(*created);
  }
  explicit SoftHost(const SoftOptions& options = {}, const UdOptions& ud = {})
      : SoftHost(freshLoopback(), options, ud) {}

  struct Message {
    std::vector<std::uint8_t> payload;
    UdPath from;
    std::uint32_t qpn;
    std::optional<std::uint64_t> ticks;
  };

  PostResult post(const UdAddress& to, const std::vector<std::uint8_t>& payload,
                  std::uint64_t id = 1, std::uint32_t flow_label = 0,
                  std::uint8_t traffic_class = 0) {
    UdMessage message;
    message.path = {to.gid, 0, traffic_class, flow_label};
    message.qpn = to.qpn;
    message.q_key = to.q_key;
    message.payload = payload;
    message.id = id;
    return endpoint->post(message);
  }
  void send(const UdAddress& to, const std::vector<std::uint8_t>& payload, std::uint64_t id = 1) {
    EXPECT_EQ(post(to, payload, id), PostResult::kPosted);
    endpoint->flush();
  }
  // Polls once, keeping what comes.
  void poll() {
    ASSERT_TRUE(endpoint->poll(events_));
    sent.insert(sent.end(), events_.sent.begin(), events_.sent.end());
    for (const UdReceived& one : events_.received) {
      received.push_back({{one.payload.begin(), one.payload.end()}, one.from, one.qpn, one.ticks});
    }
  }
  // Polls as an event loop would until `done`.
  template <typename Done>
  bool until(Done&& done) {
    const auto polled = [&] {
      poll();
      return done();
    };
    return test::eventually(polled, [&] {
      const Nanos due = endpoint->nextWake() - monotonicNow();
      const timespec timeout = {0, std::clamp<Nanos>(due, 0, 100 * kMillisecond)};
      pollfd readable = {endpoint->descriptor(), POLLIN, 0};
      ppoll(&readable, 1, &timeout, nullptr);
    });
  }
  bool untilReceived(std::size_t count) {
    return until([&] { return received.size() >= count; });
  }
  bool untilSent(std::size_t count) {
    return until([&] { return sent.size() >= count; });
  }
  const UdAddress& address() const { return endpoint->address(); }
  std::uint64_t drops(std::string_view reason) const {
    for (const DropCount& drop : endpoint->drops()) {
      if (drop.reason == reason) return drop.count;
    }
    ADD_FAILURE() << "no reason " << reason;
    return 0;
  }
  std::uint64_t allDrops() const {
    std::uint64_t sum = 0;
    for (const DropCount& drop : endpoint->drops()) sum += drop.count;
    return sum;
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<UdEndpoint> endpoint;  // nullptr: could not be made
  std::vector<UdSent> sent;
  std::vector<Message> received;

 private:
  UdEvents events_;
};

inline std::vector<std::uint8_t> bytesUpTo(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + size);
  return bytes;
}

}  // namespace pingloom::rdma::soft
