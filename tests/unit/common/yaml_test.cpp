#include "common/yaml.h"

#include <gtest/gtest.h>

namespace pingloom::yaml_test {
namespace {

TEST(Yaml, ControlCharactersAreNoText) {
  const auto zero = yaml::parse(std::string_view("a: \0", 4), "a.yaml");
  ASSERT_FALSE(zero);
  EXPECT_EQ(zero.error().text(), "a.yaml:1:4: is a control character, which is no text");
  EXPECT_FALSE(yaml::parse("a: \x1b[0m", "a.yaml"));
  EXPECT_TRUE(yaml::parse("a:\tb\r\nc: d\n", "a.yaml"));
}

TEST(Yaml, OneDocumentOnly) {
  EXPECT_TRUE(yaml::parse("", "a.yaml"));
  EXPECT_TRUE(yaml::parse("---\na: b\n...\n", "a.yaml"));
  EXPECT_FALSE(yaml::parse("a: b\n---\nc: d\n", "a.yaml"));
  EXPECT_FALSE(yaml::parse(",", "a.yaml"));  // yaml-cpp finds documents in it without end
}

}  // namespace
}  // namespace pingloom::yaml_test
