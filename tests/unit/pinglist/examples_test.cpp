// What the documents show is what the parser takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/file.h"
#include "pinglist/pinglist.h"

namespace pingloom::pinglist::examples_test {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
const std::string kSource = PINGLOOM_SOURCE_DIR;

TEST(Examples, TheShippedPinglistIsValid) {
  const auto parsed = load(kSource + "/config/pinglist.yaml");
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_THAT(parsed->warnings, testing::IsEmpty());
  EXPECT_EQ(parsed->plan.probes.size(), 3U);
}

TEST(Examples, OfTheReferenceAreValid) {
  const auto document = readFile(kSource + "/docs/pinglist.md", kMaxBytes);
  ASSERT_TRUE(document) << document.error().text();
  const std::string open = "```yaml\n";
  int examples = 0;
  for (auto at = document->find(open); at != std::string::npos; at = document->find(open, at + 1)) {
    const auto begin = at + open.size();
    const std::string text = document->substr(begin, document->find("```", begin) - begin);
    const auto parsed = parse(text, "example");
    EXPECT_TRUE(parsed) << parsed.error().text() << "\n" << text;
    ++examples;
  }
  EXPECT_EQ(examples, 9);
}

}  // namespace
}  // namespace pingloom::pinglist::examples_test
