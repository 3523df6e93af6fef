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

}  // namespace
}  // namespace pingloom::translator::config_test
