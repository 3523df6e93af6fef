// The example of docs/control-messages.md, byte for byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/report.h"
#include "control.pb.h"

namespace pingloom::agent::control_example_test {
namespace {

constexpr std::uint64_t kIncarnation = 1'763'694'720'000'000'000;

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<std::uint8_t>(byte));
  }
  return text;
}

TEST(ControlExample, Register) {
  wire::AgentMessage message;
  wire::Register& body = *message.mutable_registration();
  body.set_control_version(1);
  body.set_host("gpu-001");
  body.set_incarnation(kIncarnation);
  body.set_software_version("0.1.0");
  body.add_addresses(IpAddress::parse("10.0.0.1")->wire());
  body.set_port(20710);
  EXPECT_EQ(hex(message.SerializeAsString()),
            "0a 26 08 01 12 07 67 70 75 2d 30 30 31 18 80 80 d4 ee 8d e0 f9 bc 18 22 05 30 2e 31 "
            "2e 30 2a 04 0a 00 00 01 30 e6 a1 01");
}

TEST(ControlExample, Registered) {
  wire::ControllerMessage message;
  message.mutable_registered()->set_heartbeat_interval_ns(kSecond);
  message.mutable_registered()->set_lease_ns(4 * kSecond);
  EXPECT_EQ(hex(message.SerializeAsString()), "0a 0c 08 80 94 eb dc 03 10 80 d0 ac f3 0e");
}

TEST(ControlExample, Batch) {
  auto assignment = std::make_shared<plan::Assignment>();
  assignment->probe.name = "udp";
  assignment->source = *IpAddress::parse("10.0.0.1");
  assignment->destinations = {*IpAddress::parse("10.0.0.2")};
  probe::ClosedWindow window;
  window.assignment = assignment;
  window.index = 176'369'472;
  window.pairs.resize(1);
  window.pairs[0].sent = window.pairs[0].received = 2;
  window.pairs[0].addNetwork(812);
  window.pairs[0].addNetwork(905);
  window.pairs[0].rtt.add(4100);
  window.pairs[0].rtt.add(4000);
  std::string batch;
  BatchEncoder encoder([&](std::string_view reports) {
    batch = serializeBatch({kIncarnation, 1}, reports);
  });
  encoder.add(window);
  encoder.finish();
  EXPECT_EQ(hex(batch),
            "08 80 80 d4 ee 8d e0 f9 bc 18 10 01 "
            "1a 36 0a 03 75 64 70 12 04 0a 00 00 01 18 01 20 c0 de 8c 54 28 80 c8 af a0 25 30 02 "
            "42 1a 0a 04 0a 00 00 02 10 02 18 02 5a 05 0a 03 ac 06 5d 72 05 0a 03 a0 1f 64 78 5d");
}

TEST(ControlExample, BatchAck) {
  wire::ControllerMessage message;
  message.mutable_ack()->set_incarnation(kIncarnation);
  message.mutable_ack()->set_sequence(1);
  EXPECT_EQ(hex(message.SerializeAsString()), "2a 0c 08 80 80 d4 ee 8d e0 f9 bc 18 10 01");
}

}  // namespace
}  // namespace pingloom::agent::control_example_test
