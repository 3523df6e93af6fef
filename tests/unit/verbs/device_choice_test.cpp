#include "rdma/verbs/device_choice.h"

#include "fake_host.h"
#include "rdma/verbs/device_query.h"
#include "rdma/verbs/quirks.h"

namespace pingloom::rdma::verbs::device_choice_test {
namespace {

// Two NICs with two ports each, as a host with VLANs and both RoCE versions has them.
constexpr const char* kManyGids =
    "device mlx5_0 clock_khz=156250 mask_bits=41\n"
    "port 1\n"
    "gid 0 fe80::a v1\ngid 1 fe80::a v2\n"
    "gid 2 10.0.0.1 v1\ngid 3 10.0.0.1 v2\n"
    "gid 4 10.0.7.1 v1\ngid 5 10.0.7.1 v2\n"  // a VLAN
    "gid 9 fd00::1 v2\n"                      // after a hole
    "port 2\n"
    "gid 0 fe80::b v2\ngid 1 10.1.0.1 v1\ngid 2 10.1.0.1 v2\n"
    "device mlx5_1\n"
    "port 1\ngid 0 10.2.0.1 v1\n"
    "port 2 state=down\ngid 0 10.3.0.1 v2\n"
    "device ib_0\n"
    "port 1 link=infiniband lid=7\ngid 0 fe80::77 ib\ngid 1 fec0::77 ib\n";

struct Place {
  std::string device;
  int port;
  std::uint32_t gid;
  bool operator==(const Place&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << place.device << " " << place.port << " " << place.gid;
}

class DeviceChoiceTest : public FakeVerbsTest {
 protected:
  void SetUp() override {
    setDevices(kManyGids);
    devices_ = listDevices().value();
  }
  Place chosen(const DeviceChoice& choice, const std::optional<Gid>& port_gid = {}) {
    const auto found = choose(devices_, choice, port_gid);
    if (!found) return {found.error().text(), 0, 0};
    return {found->device->name, found->port->number, found->gid->index};
  }
  std::string refusal(const DeviceChoice& choice) {
    const auto found = choose(devices_, choice, std::nullopt);
    return found ? "chosen" : found.error().text();
  }
  std::vector<DeviceDetails> devices_;
};

TEST_F(DeviceChoiceTest, ByAddress) {
  EXPECT_EQ(chosen(at("10.0.0.1")), (Place{"mlx5_0", 1, 3}));
  EXPECT_EQ(chosen(at("10.0.7.1")), (Place{"mlx5_0", 1, 5}));
  EXPECT_EQ(chosen(at("fd00::1")), (Place{"mlx5_0", 1, 9}));
  EXPECT_EQ(chosen(at("10.1.0.1")), (Place{"mlx5_0", 2, 2}));
}

TEST_F(DeviceChoiceTest, TheEndpointIsOnThatGid) {
  const auto device = openVerbsDevice(at("10.1.0.1"));
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->info().port, 2);
  EXPECT_EQ((*device)->info().gid.address(), ip("10.1.0.1"));
  const auto endpoint = (*device)->createUd({});
  ASSERT_TRUE(endpoint);
  EXPECT_EQ((*endpoint)->address().gid.address(), ip("10.1.0.1"));
}

TEST_F(DeviceChoiceTest, ByName) {
  EXPECT_EQ(chosen({.device = "mlx5_0"}), (Place{"mlx5_0", 1, 3}));
  EXPECT_EQ(chosen({.device = "mlx5_0", .port = 2}), (Place{"mlx5_0", 2, 2}));
  EXPECT_EQ(chosen({.address = ip("fd00::1"), .device = "mlx5_0"}), (Place{"mlx5_0", 1, 9}));
  EXPECT_EQ(chosen({.device = "ib_0"}), (Place{"ib_0", 1, 0}));
  EXPECT_EQ(chosen({.address = ip("10.9.0.1"), .device = "ib_0"}), (Place{"ib_0", 1, 0}))
      << "on InfiniBand the address only names the host";
}

TEST_F(DeviceChoiceTest, ByIpoibAddress) {
  const Gid gid = Gid::of(ip("fec0::77"));
  EXPECT_EQ(chosen(at("10.9.0.1"), gid), (Place{"ib_0", 1, 1}));
}

TEST_F(DeviceChoiceTest, RefusalsSayWhatToDo) {
  EXPECT_EQ(refusal({.device = "mlx5_9"}),
            "mlx5_9: there is no RDMA device 'mlx5_9'; there are: mlx5_0, mlx5_1, ib_0, "
            "or write 'device: soft' (for commands: --device soft)");
  EXPECT_EQ(refusal(at("10.2.0.1")),
            "10.2.0.1: mlx5_1 port 1 has it as RoCE v1 only: enable RoCE v2");
  EXPECT_EQ(refusal({.device = "mlx5_1", .port = 1}),
            "mlx5_1 port 1: mlx5_1 port 1 has no RoCE v2 GID: give its network interface an IP "
            "address, and enable RoCE v2 if the driver only offers v1");
  EXPECT_EQ(refusal(at("10.3.0.1")),
            "10.3.0.1: mlx5_1 port 2 is down (down): check the cable and the link (ip link)");
  EXPECT_EQ(refusal({.device = "mlx5_0", .port = 3}), "mlx5_0 port 3: the device has no such port");
  EXPECT_EQ(refusal(at("10.9.9.9")),
            "10.9.9.9: no RDMA port has this address; those with RoCE v2: 10.0.0.1 (mlx5_0), "
            "10.0.7.1 (mlx5_0), fd00::1 (mlx5_0), 10.1.0.1 (mlx5_0), 10.3.0.1 (mlx5_1); write "
            "'device: NAME' to use another device (here: mlx5_0, mlx5_1, ib_0), or write 'device: "
            "soft' (for commands: --device soft)");
}

TEST_F(DeviceChoiceTest, DetailsOfAll) {
  ASSERT_EQ(devices_.size(), 3U);
  const DeviceDetails& nic = devices_[0];
  EXPECT_EQ(nic.firmware, "1.2.3");
  EXPECT_EQ(nic.core_clock_khz, 156'250U);
  EXPECT_EQ(nic.timestamp_mask, (1ULL << 41) - 1);
  EXPECT_TRUE(nic.hasHardwareTimestamps());
  EXPECT_FALSE(devices_[1].hasHardwareTimestamps());
  ASSERT_EQ(nic.ports.size(), 2U);
  EXPECT_TRUE(nic.ports[0].active);
  EXPECT_EQ(nic.ports[0].active_mtu, 1024U);
  EXPECT_EQ(nic.ports[0].bits_per_second, 100'000'000'000U);
  EXPECT_EQ(nic.ports[0].gids.size(), 7U);
  EXPECT_EQ(nic.ports[0].gids[2].type, GidType::kRoceV1);
  EXPECT_EQ(devices_[2].ports[0].link_layer, LinkLayer::kInfiniband);
  EXPECT_EQ(devices_[2].ports[0].lid, 7);
}

TEST_F(DeviceChoiceTest, FlowLabelsChoosePathsWhereTheNicIsKnownToUseThem) {
  setDevices(
      "device mlx5_0\nport 1\ngid 0 10.0.0.1 v2\n"
      "device mlx4_0 part=0x1007\nport 1\ngid 0 10.0.0.2 v2\n"
      "device other vendor=0x14e4\nport 1\ngid 0 10.0.0.3 v2\n"
      "device rxe1 vendor=0xffffff part=0\nport 1\ngid 0 10.0.0.4 v2\n");
  EXPECT_TRUE(openVerbsDevice(at("10.0.0.1")).value()->info().flow_label_chooses_path);
  EXPECT_FALSE(openVerbsDevice(at("10.0.0.2")).value()->info().flow_label_chooses_path);
  EXPECT_FALSE(openVerbsDevice(at("10.0.0.3")).value()->info().flow_label_chooses_path);
  EXPECT_FALSE(openVerbsDevice(at("10.0.0.4")).value()->info().flow_label_chooses_path);
}

TEST_F(DeviceChoiceTest, PathsAreTracedWhereTheSourcePortIsKnown) {
  setDevices(
      "device mlx5_0\nport 1\ngid 0 10.0.0.1 v2\n"
      "device other vendor=0x14e4\nport 1\ngid 0 10.0.0.3 v2\n"
      "device rxe1 vendor=0xffffff part=0\nport 1\ngid 0 10.0.0.4 v2\n");
  const auto known = [](std::string_view address) {
    return openVerbsDevice(at(address)).value()->info().source_ports_known;
  };
  EXPECT_TRUE(known("10.0.0.1"));
  EXPECT_FALSE(known("10.0.0.3"));
  EXPECT_TRUE(known("10.0.0.4"));
}

// The packets of tests/data/rxe/rxe-ud-send.pcap have this port and this queue pair.
TEST(SourcePortOfAQueuePair, IsTheOneOfSoftRoce) {
  EXPECT_EQ(sourcePortOf(PortChoice::kQueuePair, 7, 0x11), 0xDF94);
  EXPECT_EQ(sourcePortOf(PortChoice::kFlowLabel, 7, 0x11), 0xC007);
}

TEST(OwnLabel, DependsOnTheAddressAndIsNotTheNicsChoice) {
  const Gid gid = Gid::of(ip("10.0.0.1"));
  const std::uint32_t label = ownLabelOf(PortChoice::kFlowLabel, gid);
  EXPECT_GT(label, 0U);
  EXPECT_LE(label, 0xFFFFFU);
  EXPECT_EQ(ownLabelOf(PortChoice::kFlowLabel, gid), label);
  EXPECT_NE(ownLabelOf(PortChoice::kFlowLabel, Gid::of(ip("10.0.0.2"))), label);
  EXPECT_EQ(ownLabelOf(PortChoice::kQueuePair, gid), 0U);
  EXPECT_EQ(sourcePortOf(PortChoice::kUnknown, 7, 0x11), std::nullopt);
}

TEST(IpoibTest, GidOfHardwareAddress) {
  const auto gid =
      gidOfHardwareAddress("80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52");
  ASSERT_TRUE(gid);
  EXPECT_EQ(gid->address().text(), "fe80::7cfe:9003:29:2652");
  EXPECT_FALSE(gidOfHardwareAddress("7c:fe:90:29:26:52"));
  EXPECT_FALSE(gidOfHardwareAddress(""));
  EXPECT_FALSE(gidOfHardwareAddress("80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:5x"));
}

}  // namespace
}  // namespace pingloom::rdma::verbs::device_choice_test
