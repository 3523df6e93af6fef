#include "controller/redis/path_keys.h"

#include <gmock/gmock.h>

namespace pingloom::controller::path_keys_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Nanos kNow = 1'795'230'720 * kSecond;

TracedPath traced(Nanos at, std::uint32_t spine) {
  TracedPath path;
  path.probe = "fabric";
  path.source = IpAddress::fromV4(0x0A010003);
  path.destination = IpAddress::fromV4(0x0A010103);
  path.path = 3;
  path.traced = at;
  path.end = PathEnd::kReached;
  path.hops = {{IpAddress::fromV4(0x0A010002), 1}, {IpAddress::fromV4(0x0A020000 + spine), 1}, {}};
  return path;
}

std::string changeOf(const KnownPath& known) {
  Commands out;
  path_keys::writeChange(
      known,
      [](const IpAddress& router) {
        return router == IpAddress::fromV4(0x0A010002) ? std::string("leaf0") : std::string();
      },
      out);
  return std::string(out.bytes());
}

TEST(PathKeys, AChangeIsAnEvent) {
  PathBoard board;
  EXPECT_EQ(changeOf(*board.take(traced(kNow, 1)).known), "") << "the first path is no change";
  const auto changed = board.take(traced(kNow + kMinute, 2));
  EXPECT_TRUE(changed.changed);
  const std::string event = changeOf(*changed.known);
  EXPECT_THAT(event, HasSubstr("pingloom:events"));
  EXPECT_THAT(event, HasSubstr("leaf0 10.2.0.1 ?"));
  EXPECT_THAT(event, HasSubstr("leaf0 10.2.0.2 ?"));
  EXPECT_THAT(event, HasSubstr("2026-11-21T03:13:00"));
  const auto same = board.take(traced(kNow + 2 * kMinute, 2));
  EXPECT_EQ(changeOf(*same.known), "") << "the same path again";
}

TEST(PathKeys, AnotherConnectionIsNoChange) {
  PathBoard board;
  const auto change = [&](Nanos at, std::uint32_t spine, std::uint16_t port) {
    TracedPath path = traced(at, spine);
    path.one_connection = true;
    path.source_port = port;
    return changeOf(*board.take(std::move(path)).known);
  };
  EXPECT_EQ(change(kNow, 1, 40'000), "");
  EXPECT_EQ(change(kNow + kMinute, 2, 40'001), "");
  EXPECT_THAT(change(kNow + 2 * kMinute, 3, 40'001), HasSubstr("leaf0 10.2.0.3 ?")) << "it moved";
}

TEST(PathKeys, AnEarlyEndIsNoChange) {
  PathBoard board;
  board.take(traced(kNow, 1));
  board.take(traced(kNow + kMinute, 2));
  TracedPath early = traced(kNow + 2 * kMinute, 2);
  early.hops.resize(1);
  early.end = PathEnd::kSilent;
  EXPECT_EQ(changeOf(*board.take(std::move(early)).known), "");
}

}  // namespace
}  // namespace pingloom::controller::path_keys_test
