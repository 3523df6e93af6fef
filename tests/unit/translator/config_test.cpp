#include "translator/config.h"

#include <gtest/gtest.h>

namespace pingloom::translator::config_test {
namespace {

constexpr std::string_view kLeast = "address: 10.0.0.1\ncollector: 10.0.0.5\n";

std::string errorOf(const std::string& text) {
  const auto config = parseConfig(text, "file");
  return config ? "" : config.error().text();
}

TEST(TranslatorConfig, NeedsTwoKeys) {
  const auto config = parseConfig(kLeast, "file");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->address->text(), "10.0.0.1");
  EXPECT_EQ(config->collector, "10.0.0.5:20717");
  EXPECT_EQ(config->listen.text(), "127.0.0.1:20716");
  EXPECT_EQ(config->http.text(), "127.0.0.1:20718");
  EXPECT_FALSE(config->name.empty());
  EXPECT_FALSE(curveOf(*config));
}

TEST(TranslatorConfig, ReadsACollectorsName) {
  const auto collector = [](const std::string& text) {
    const auto config = parseConfig("address: 10.0.0.1\ncollector: '" + text + "'\n", "file");
    return config ? config->collector : config.error().text();
  };
  EXPECT_EQ(collector("10.0.0.5:1"), "10.0.0.5:1");
  EXPECT_EQ(collector("fd00::5"), "[fd00::5]:20717");
  EXPECT_EQ(collector("[fd00::5]:9"), "[fd00::5]:9");
  EXPECT_EQ(collector("dpu-1"), "dpu-1:20717");
  EXPECT_EQ(collector("dpu-1:8"), "dpu-1:8");
}

TEST(TranslatorConfig, RefusesMistakes) {
  EXPECT_NE(errorOf("").find("is empty"), std::string::npos);
  EXPECT_NE(errorOf("collector: 10.0.0.5").find("'address' is missing"), std::string::npos);
  EXPECT_NE(errorOf("address: 10.0.0.1").find("'collector' is missing"), std::string::npos);
  EXPECT_NE(errorOf(std::string(kLeast) + "name: A B").find("characters"), std::string::npos);
  EXPECT_NE(errorOf(std::string(kLeast) + "listn: 1").find("listn"), std::string::npos);
  EXPECT_NE(errorOf(std::string(kLeast) + "keys: { secret: file }").find("collector"),
            std::string::npos);
}

TEST(TranslatorConfig, ReadsReporters) {
  const auto config = parseConfig(std::string(kLeast) + R"(
reporters:
  - { id: 4294967295, addresses: [10.1.0.0/16, 'fd00::1'], key: keys/7.key, tables: [latest, 3] }
  - { id: 0 }
)",
                                  "/etc/pingloom/translator.yaml");
  ASSERT_TRUE(config) << config.error().text();
  ASSERT_EQ(config->reporters.size(), 2U);
  const ReporterSpec& first = config->reporters[0];
  EXPECT_EQ(first.id, UINT32_MAX);
  EXPECT_TRUE(first.addresses.contains(IpAddress::fromV4(0x0a010203)));
  EXPECT_FALSE(first.addresses.contains(IpAddress::fromV4(0x7f000001)));
  EXPECT_EQ(first.key_file, "/etc/pingloom/keys/7.key");
  EXPECT_EQ(first.tables, (std::vector<std::string>{"latest", "3"}));
  EXPECT_TRUE(config->reporters[1].addresses.contains(IpAddress::fromV4(0x7f000001)));
  EXPECT_TRUE(config->reporters[1].key_file.empty());
}

TEST(TranslatorConfig, ReadsPublished) {
  EXPECT_FALSE(parseConfig(kLeast, "file")->published);
  const auto config = parseConfig(
      std::string(kLeast) + "published: { listen: '10.0.0.1:5', tables: { append: events } }\n",
      "file");
  ASSERT_TRUE(config) << config.error().text();
  ASSERT_TRUE(config->published);
  EXPECT_EQ(config->published->listen.text(), "10.0.0.1:5");
  EXPECT_EQ(config->published->tables[1], "events");
  EXPECT_EQ(config->published->tables[0], "");
}

TEST(TranslatorConfig, SaysWhatAReporterNeeds) {
  const auto with = [](const std::string& text) { return errorOf(std::string(kLeast) + text); };
  EXPECT_NE(with("reporters: [{ addresses: [::1] }]").find("'id' is missing"), std::string::npos);
  EXPECT_NE(with("reporters: [{ id: 1 }, { id: 1 }]").find("1 is here twice"), std::string::npos);
  EXPECT_NE(with("reporters: [{ id: 1, addresses: [10.0.0.1/8] }]").find("bits behind"),
            std::string::npos);
  EXPECT_NE(with("published: { listen: '10.0.0.1:5' }").find("'tables' is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace pingloom::translator::config_test
