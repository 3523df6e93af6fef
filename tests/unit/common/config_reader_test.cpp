#include "common/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Settings {
  fs::path file;
  std::optional<SocketAddress> listen;
  IpAddress address;
  log::Level level = log::Level::kInfo;
  bool on = false;
  std::uint64_t size = 0;
  std::uint64_t room = 0;
  Nanos pause = 0;
  std::string name;
  std::uint16_t port = 0;
  double factor = 0;
  double any = 0;
};

constexpr auto kSettings = std::to_array<ConfigKey<Settings>>({
    {"file", readField<&Settings::file>},
    {"listen", readField<&Settings::listen>},
    {"address", readField<&Settings::address>},
    {"level", readField<&Settings::level>},
    {"on", readField<&Settings::on>},
    {"size", [](const yaml::Node& node,
                Settings& out) { return readSize(node, 4096, 1ULL << 40, out.size); }},
    {"room", [](const yaml::Node& node,
                Settings& out) { return readSize(node, 4096, kMaxSize, out.room); }},
    {"pause", [](const yaml::Node& node,
                 Settings& out) { return readDuration(node, kMillisecond, kHour, out.pause); }},
    {"name", [](const yaml::Node& node, Settings& out) { return readText(node, 4, out.name); }},
    {"port",
     [](const yaml::Node& node, Settings& out) { return readNumber(node, 1, 65535, out.port); }},
    {"factor",
     [](const yaml::Node& node, Settings& out) { return readReal(node, 1, 10, out.factor); }},
    {"any", [](const yaml::Node& node, Settings& out) { return readReal(node, out.any); }},
});

Result<Settings> read(std::string_view text, std::string_view file = "/etc/pingloom/a.yaml") {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  Settings settings;
  if (auto status = readMap(*root, kSettings, settings); !status) {
    return tl::unexpected(status.error());
  }
  return settings;
}

Result<log::Levels> readLevels(std::string_view text) {
  const auto root = yaml::parse(text, "a.yaml");
  if (!root) return tl::unexpected(root.error());
  log::Levels levels;
  if (auto status = readValue(*root, levels); !status) return tl::unexpected(status.error());
  return levels;
}

TEST(ConfigReader, ReadsLevelsByComponent) {
  const auto levels = readLevels("{ level: warning, rdma: debug }");
  ASSERT_TRUE(levels) << levels.error().text();
  EXPECT_EQ(levels->of(log::componentOf("/a/src/rdma/soft/soft_port.cpp")), log::Level::kDebug);
  EXPECT_EQ(levels->of(log::componentOf("/a/src/probe/event_loop.cpp")), log::Level::kWarning);
  EXPECT_EQ(levels->of(log::componentOf("/a/tests/unit/rdma/x.cpp")), log::Level::kWarning);
}

TEST(ConfigReader, AnUnknownComponentIsRefusedWithThoseThatThereAre) {
  const auto refused = readLevels("{ level: info, rmda: debug }");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().entity, "a.yaml:1:16");
  EXPECT_THAT(refused.error().reason, HasSubstr("'rmda' is no component (did you mean 'rdma'?)"));
  EXPECT_THAT(refused.error().reason, HasSubstr("controller, http, keys, net, pages"));
  EXPECT_FALSE(readLevels("{ rdma: loud }"));
  EXPECT_FALSE(readLevels("debug"));
  EXPECT_FALSE(readLevels("{ rdma: debug, rdma: info }"));
}

TEST(Log, EachComponentHasItsLevel) {
  constexpr log::Component kRdma = log::componentOf("src/rdma/open_device.cpp");
  static_assert(log::kComponents[kRdma] == "rdma");
  log::Levels levels(log::Level::kError);
  levels.own[kRdma] = log::Level::kDebug;
  log::setLevels(levels);
  EXPECT_TRUE(log::enabled(log::Level::kDebug, kRdma));
  EXPECT_FALSE(log::enabled(log::Level::kWarning));
  log::setLevels(log::Level::kWarning);
  EXPECT_FALSE(log::enabled(log::Level::kDebug, kRdma));
}

TEST(ConfigReader, ReadsEachKindOfValue) {
  const auto settings = read(
      "file: x/../y\nlisten: '[::1]:80'\naddress: 10.0.0.1\nlevel: debug\non: true\nsize: 1TiB\n"
      "room: 4KiB\npause: 1.5s\nname: four\nport: 9\n"
      "factor: 1.5\nany: -3e5\n");
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(settings->file, "/etc/pingloom/y");
  EXPECT_EQ(settings->factor, 1.5);
  EXPECT_EQ(settings->any, -3e5);
  EXPECT_EQ(settings->listen->text(), "[::1]:80");
  EXPECT_EQ(settings->address.text(), "10.0.0.1");
  EXPECT_EQ(settings->level, log::Level::kDebug);
  EXPECT_TRUE(settings->on);
  EXPECT_EQ(settings->size, 1ULL << 40);
  EXPECT_EQ(settings->room, 4096U);
  EXPECT_EQ(settings->pause, 1500 * kMillisecond);
  EXPECT_EQ(settings->name, "four");
  EXPECT_EQ(settings->port, 9);
}

TEST(ConfigReader, LeavesWhatIsNotThere) {
  const auto settings = read("port: 9\n");
  ASSERT_TRUE(settings);
  EXPECT_TRUE(settings->file.empty());
  EXPECT_FALSE(settings->listen);
}

TEST(ConfigReader, PathsAreRelativeToTheFile) {
  EXPECT_EQ(read("file: b\n", "/etc/a.yaml")->file, "/etc/b");
  EXPECT_EQ(read("file: /b\n", "/etc/a.yaml")->file, "/b");
  EXPECT_EQ(read("file: b\n", "a.yaml")->file, fs::current_path() / "b");
}

TEST(ConfigReader, ReadsInTheTablesOrder) {
  struct Order {
    std::string seen;
  };
  constexpr auto kKeys = std::to_array<ConfigKey<Order>>({
      {"first", [](const yaml::Node&, Order& out) { return out.seen += "1", Status(); }},
      {"second", [](const yaml::Node&, Order& out) { return out.seen += "2", Status(); }},
  });
  Order order;
  ASSERT_TRUE(readMap(*yaml::parse("second: x\nfirst: x\n", "a.yaml"), kKeys, order));
  EXPECT_EQ(order.seen, "12");
}

TEST(ConfigReader, SaysWhereAndWhatIsAccepted) {
  const struct {
    const char* text;
    const char* error;
  } table[] = {
      {"- port\n", "a.yaml:1:1: expected keys with values"},
      {"prt: 1\n", "a.yaml:1:1: unknown key 'prt' (did you mean 'port'?)"},
      {"port: 1\nport: 2\n", "a.yaml:2:1: key 'port' is here twice"},
      {"port: 0\n", "a.yaml:1:7: port: '0' is not a whole number from 1 to 65535"},
      {"file: ''\n", "a.yaml:1:7: file: is empty; write a path"},
      {"file: [a]\n", "a.yaml:1:7: file: expected a single value"},
      {"listen: here\n", "a.yaml:1:9: listen: 'here': not ADDRESS:PORT"},
      {"address: here\n", "a.yaml:1:10: address: address 'here': not an IPv4 or IPv6 address"},
      {"level: loud\n", "not one of debug, info, warning, error"},
      {"on: maybe\n", "'maybe' is neither true nor false"},
      {"size: 5MB\n", "a.yaml:1:7: size: '5MB': not a size; write a whole number with B, KiB"},
      {"size: 1KiB\n", "'1KiB' is not a size from 4KiB to 1TiB"},
      {"size: 2TiB\n", "'2TiB' is not a size from 4KiB to 1TiB"},
      {"room: 1KiB\n", "'1KiB' is not a size of at least 4KiB"},
      {"pause: 5\n", "has no unit"},
      {"pause: 2h\n", "a.yaml:1:8: pause: '2h' is not a duration from 1ms to 1h"},
      {"pause: 1us\n", "'1us' is not a duration from 1ms to 1h"},
      {"factor: 0.5\n", "a.yaml:1:9: factor: '0.5' is not a number from 1 to 10"},
      {"factor: nan\n", "'nan' is no number"},
      {"any: 1x\n", "a.yaml:1:6: any: '1x' is no number"},
      {"name: ''\n", "has 1 to 4 characters"},
      {"name: fives\n", "has 1 to 4 characters"},
  };
  for (const auto& line : table) {
    const auto settings = read(line.text, "a.yaml");
    ASSERT_FALSE(settings) << line.text;
    EXPECT_THAT(settings.error().text(), HasSubstr(line.error)) << line.text;
  }
}

}  // namespace
}  // namespace pingloom
