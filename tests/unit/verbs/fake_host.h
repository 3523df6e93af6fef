// A host with the devices that a test writes down, and endpoints on them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fake_verbs.h"
#include "rdma/verbs/verbs_device.h"

namespace pingloom::rdma::verbs {

// Each test has its own devices, and leaves no libibverbs object behind.
class FakeVerbsTest : public testing::Test {
 protected:
  void TearDown() override;
  // The lines of tests/fake_verbs/config.h.
  void setDevices(const std::string& lines);

 private:
  std::string directory_;
};

IpAddress ip(std::string_view text);
DeviceChoice at(std::string_view address);

// One side of an exchange.
struct Side {
  std::unique_ptr<Device> device;
  std::unique_ptr<UdEndpoint> endpoint;
  UdEvents events;

  // REQUIRES that it works.
  explicit Side(const DeviceChoice& choice, const UdOptions& options = {});
  // Waits for the descriptor as an event loop does, at most `milliseconds`, and polls.
  Status step(int milliseconds = 20);
  // Posts and flushes, waiting while the path is being resolved.
  PostResult send(const UdPath& path, const UdAddress& to, std::string_view payload,
                  std::uint64_t id = 1);
  PostResult send(const UdAddress& to, std::string_view payload, std::uint64_t id = 1);
  // The next one, within a few seconds.
  std::optional<UdSent> nextSent();
  struct Packet {
    std::string payload;
    UdPath from;
    std::uint32_t qpn = 0;
    std::uint64_t ticks = 0;
  };
  std::optional<Packet> nextPacket();
  // What poll() fails with, within a few seconds; "" where it does not.
  std::string failure();

 private:
  void collect();
  std::vector<UdSent> sent_;
  std::vector<Packet> packets_;
};

std::string_view textOf(std::span<const std::uint8_t> payload);

}  // namespace pingloom::rdma::verbs
