#include "plan/endpoint_codec.h"

#include <gtest/gtest.h>

#include <functional>

namespace pingloom::plan::endpoint_codec_test {
namespace {

IpAddress at(const char* text) { return *IpAddress::parse(text); }

Endpoint endpointOf(const char* address, std::uint32_t qpn) {
  Endpoint made;
  made.address = at(address);
  made.gid[10] = made.gid[11] = 0xff;
  made.gid[15] = 1;
  made.qpn = qpn;
  made.q_key = 0x7fffffff;
  made.device = "soft";
  made.clock = ClockSource::kKernel;
  made.incarnation = 77;
  return made;
}

wire::EndpointUpdate updateOf(std::uint64_t version, std::uint64_t base,
                              const std::vector<Endpoint>& changed) {
  wire::EndpointUpdate update;
  update.set_controller(9);
  update.set_version(version);
  update.set_base_version(base);
  for (const Endpoint& endpoint : changed) encode(endpoint, *update.add_changed());
  return update;
}

wire::EndpointUpdate completeOf(std::uint64_t version, const std::vector<Endpoint>& all) {
  return updateOf(version, 0, all);
}

TEST(EndpointCodec, EveryFieldSurvives) {
  Endpoint endpoint = endpointOf("fd00::1", 0xfffffe);
  endpoint.lid = 17;
  wire::Endpoint wire;
  encode(endpoint, wire);
  const auto decoded = decodeEndpoint(wire);
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(*decoded, endpoint);
}

TEST(EndpointCodec, TheAddressAsAGidNeedNotBeSaid) {
  for (const char* address : {"10.0.0.1", "fd00::1"}) {
    Endpoint endpoint = endpointOf(address, 17);
    endpoint.gid = {};
    if (endpoint.address.isV4()) {
      endpoint.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
    } else {
      endpoint.gid = endpoint.address.bytes();
    }
    wire::Endpoint wire;
    encode(endpoint, wire);
    EXPECT_TRUE(wire.gid().empty());
    EXPECT_EQ(*decodeEndpoint(wire), endpoint);
    endpoint.gid[0] = 0xfe;
    encode(endpoint, wire);
    EXPECT_EQ(wire.gid().size(), 16U);
    EXPECT_EQ(*decodeEndpoint(wire), endpoint);
  }
}

TEST(EndpointCodec, RefusesWhatCannotBeSentTo) {
  const auto fault = [](const std::function<void(wire::Endpoint&)>& change) {
    wire::Endpoint wire;
    encode(endpointOf("10.0.0.1", 17), wire);
    change(wire);
    return !decodeEndpoint(wire);
  };
  EXPECT_FALSE(fault([](auto&) {}));
  EXPECT_TRUE(fault([](auto& e) { e.set_address("abc"); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_address(std::string(4, '\0')); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_gid("short"); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_gid(std::string(16, '\0')); })) << "neither GID nor LID";
  EXPECT_FALSE(fault([](auto& e) {
    e.set_gid(std::string(16, '\0'));
    e.set_lid(4);
  }));
  EXPECT_TRUE(fault([](auto& e) { e.set_lid(0xc000); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_qpn(1); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_qpn(0xffffff); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_qpn(1U << 24); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_q_key(1U << 31); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_clock(0); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_clock(4); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_device(std::string(65, 'a')); }));
  EXPECT_TRUE(fault([](auto& e) { e.set_device("a\nb"); }));
}

TEST(EndpointTable, FollowsDifferences) {
  auto held = apply(completeOf(3, {endpointOf("10.0.0.1", 17), endpointOf("10.0.0.2", 18)}), {});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->table->size(), 2U);
  auto difference = updateOf(4, 3, {endpointOf("10.0.0.1", 99), endpointOf("10.0.0.3", 20)});
  difference.add_removed(at("10.0.0.2").wire());
  const auto next = apply(difference, *held);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->table->size(), 2U);
  EXPECT_EQ(next->table->at(at("10.0.0.1")).qpn, 99U);
  EXPECT_EQ(next->version, (EndpointVersion{9, 4}));
  EXPECT_EQ(held->table->at(at("10.0.0.1")).qpn, 17U) << "who holds the old table keeps it";
  EXPECT_FALSE(apply(difference, *next)) << "it starts from another one";
  EXPECT_FALSE(apply(difference, {}));
  difference.set_controller(10);
  EXPECT_FALSE(apply(difference, *held)) << "another run of the controller";
}

TEST(EndpointTable, SurvivesOnDisk) {
  const auto held =
      *apply(completeOf(3, {endpointOf("10.0.0.1", 17), endpointOf("fd00::2", 18)}), {});
  const auto loaded = apply(encode(held), {});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(*loaded->table, *held.table);
  EXPECT_EQ(loaded->version, held.version);
}

TEST(EndpointTable, RefusesHostileUpdates) {
  EXPECT_FALSE(apply(wire::EndpointUpdate{}, {}));
  auto bad = completeOf(1, {endpointOf("10.0.0.1", 17)});
  bad.mutable_changed(0)->set_qpn(0);
  EXPECT_FALSE(apply(bad, {}));
  auto removed = completeOf(1, {});
  removed.add_removed("xyz");
  EXPECT_FALSE(apply(removed, {}));
  auto many = completeOf(1, {});
  Endpoint endpoint = endpointOf("10.0.0.1", 17);
  for (std::size_t i = 0; i <= kMaxEndpoints; ++i) {
    endpoint.address = IpAddress::fromV4(0x0a000001 + static_cast<std::uint32_t>(i));
    encode(endpoint, *many.add_changed());
  }
  EXPECT_FALSE(apply(many, {}));
}

}  // namespace
}  // namespace pingloom::plan::endpoint_codec_test
