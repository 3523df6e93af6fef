#include "wire/nic_counter_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::wire::nic_counter_codec_test {
namespace {

using testing::HasSubstr;

CounterId portCounter(std::string_view name) {
  return counterNamed(CounterOrigin::kPort, name).value();
}

PortCounters& addPort(CounterUpdate& to, const std::string& device, std::uint32_t port) {
  PortCounters& made = *to.add_ports();
  made.set_device(device);
  made.set_port(port);
  return made;
}
void addCounter(PortCounters& to, const std::string& name, std::uint64_t value) {
  Counter& made = *to.add_counters();
  made.set_name(name);
  made.set_value(value);
}

TEST(NicCounterCodec, ComesBackAsItWas) {
  const CounterId pause = counterNamed(CounterOrigin::kEthtool, "rx_prio5_pause").value();
  const CounterId drop = counterNamed(CounterOrigin::kInterface, "receive_drop_total").value();
  const NicUpdate update{true,
                         {{"eth0", 0, {{drop, 0}, {pause, 12}}},
                          {"mlx5_0", 1, {{portCounter("symbol_error_total"), UINT64_MAX}}}}};
  CounterUpdate wire;
  encode(update, wire);
  const auto back = decode(wire);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, update);
}

TEST(NicCounterCodec, LeavesOutCountersThatItDoesNotKnow) {
  CounterUpdate wire;
  PortCounters& port = addPort(wire, "mlx5_0", 1);
  addCounter(port, "of_a_later_version_total", 3);
  addCounter(port, "link_downed_total", 2);
  addCounter(port, "rx_prio5_pause", 2);  // no RDMA port has it
  const auto update = decode(wire);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->ports, (NicPorts{{"mlx5_0", 1, {{portCounter("link_downed_total"), 2}}}}));
}

TEST(NicCounterCodec, RefusesWhatBreaksTheBounds) {
  const auto refusal = [](auto spoil) {
    CounterUpdate wire;
    spoil(wire);
    const auto update = decode(wire);
    return update ? std::string("taken") : update.error().text();
  };
  EXPECT_THAT(refusal([](CounterUpdate& to) { addPort(to, "", 1); }), HasSubstr("malformed"));
  EXPECT_THAT(refusal([](CounterUpdate& to) { addPort(to, "mlx5 0", 1); }), HasSubstr("malformed"));
  EXPECT_THAT(refusal([](CounterUpdate& to) { addPort(to, "a\x1b[2J", 1); }),
              HasSubstr("malformed"));
  EXPECT_THAT(refusal([](CounterUpdate& to) { addPort(to, std::string(65, 'a'), 1); }),
              HasSubstr("malformed"));
  EXPECT_THAT(refusal([](CounterUpdate& to) { addPort(to, "mlx5_0", 256); }),
              HasSubstr("above 255"));
  EXPECT_THAT(refusal([](CounterUpdate& to) {
                addPort(to, "mlx5_0", 1);
                addPort(to, "mlx5_0", 1);
              }),
              HasSubstr("come twice"));
  EXPECT_THAT(refusal([](CounterUpdate& to) {
                PortCounters& port = addPort(to, "mlx5_0", 1);
                addCounter(port, "link_downed_total", 1);
                addCounter(port, "link_downed_total", 2);
              }),
              HasSubstr("is there twice"));
  EXPECT_THAT(refusal([](CounterUpdate& to) {
                for (int i = 0; i < 65; ++i) addPort(to, "mlx5_" + std::to_string(i), 1);
              }),
              HasSubstr("more than 64"));
  EXPECT_THAT(refusal([](CounterUpdate& to) {
                PortCounters& port = addPort(to, "mlx5_0", 1);
                for (int i = 0; i < 2049; ++i) addCounter(port, "x", 0);
              }),
              HasSubstr("more than 2048"));
}

}  // namespace
}  // namespace pingloom::wire::nic_counter_codec_test
