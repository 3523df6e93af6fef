#include "wire/path_codec.h"

#include <gtest/gtest.h>

#include <string>

namespace pingloom::wire {
namespace {

pingloom::TracedPath sample() {
  pingloom::TracedPath path;
  path.probe = "fabric";
  path.source = *IpAddress::parse("10.0.0.1");
  path.destination = *IpAddress::parse("fd00::2");
  path.path = 7;
  path.hops = {{*IpAddress::parse("10.2.0.1"), 24'000}, {}, {*IpAddress::parse("fd00::9"), 1}};
  path.end = PathEnd::kReached;
  path.destination_rtt = 31'000;
  path.traced = 1'790'000'000'000'000'000;
  return path;
}

TracedPath encoded(const pingloom::TracedPath& path) {
  TracedPath made;
  encode(path, made);
  return made;
}

TEST(PathCodec, CarriesAPath) {
  const auto path = decode(encoded(sample()));
  ASSERT_TRUE(path);
  EXPECT_EQ(path->probe, "fabric");
  EXPECT_EQ(path->source, sample().source);
  EXPECT_EQ(path->destination, sample().destination);
  EXPECT_EQ(path->path, 7U);
  EXPECT_EQ(path->hops, sample().hops);
  EXPECT_EQ(path->end, PathEnd::kReached);
  EXPECT_EQ(path->destination_rtt, 31'000);
  EXPECT_EQ(path->traced, sample().traced);
  EXPECT_EQ(path->state(), PathState::kPartial);
}

TEST(PathCodec, CarriesThePortOfATcpConnectionOnly) {
  pingloom::TracedPath path = sample();
  path.source_port = 49'200;
  EXPECT_EQ(decode(encoded(path))->source_port, 0);
  EXPECT_FALSE(decode(encoded(path))->one_connection);
  path.one_connection = true;
  EXPECT_EQ(decode(encoded(path))->source_port, 49'200);
  EXPECT_TRUE(decode(encoded(path))->one_connection);
}

TEST(PathCodec, RefusesWhatNoAgentSends) {
  const auto refused = [](auto&& change) {
    TracedPath path = encoded(sample());
    change(path);
    return !decode(path);
  };
  EXPECT_FALSE(refused([](TracedPath&) {}));
  EXPECT_TRUE(refused([](TracedPath& path) { path.clear_probe(); }));
  EXPECT_TRUE(refused([](TracedPath& path) { path.set_source("abc"); }));
  EXPECT_TRUE(refused([](TracedPath& path) { path.set_destination(""); }));
  EXPECT_TRUE(refused([](TracedPath& path) { path.set_end(TracedPath::UNKNOWN); }));
  EXPECT_TRUE(refused([](TracedPath& path) { path.set_end(static_cast<TracedPath::End>(9)); }));
  EXPECT_TRUE(refused([](TracedPath& path) { path.set_destination_rtt_ns(~0ULL); }));
  EXPECT_TRUE(refused([](TracedPath& path) { path.set_source_port(65'536); }));
  EXPECT_TRUE(refused([](TracedPath& path) {
    path.mutable_hops(0)->set_rtt_ns(static_cast<std::uint64_t>(kMinute) + 1);
  }));
  EXPECT_TRUE(refused([](TracedPath& path) {
    while (path.hops_size() <= static_cast<int>(kMaxPathHops)) path.add_hops();
  }));
  for (const char* router : {"224.0.0.1", "255.255.255.255", "0.0.0.0", "ff02::1", "::"}) {
    EXPECT_TRUE(refused([&](TracedPath& path) {
      path.mutable_hops(0)->set_router(IpAddress::parse(router)->wire());
    })) << router;
  }
}

}  // namespace
}  // namespace pingloom::wire
