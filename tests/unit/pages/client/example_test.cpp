// The example of docs/page-format.md, byte for byte: what is written there is what happens.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "client.h"

namespace pingloom::pages::test::example_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Lines of an offset, two spaces, up to sixteen bytes, two spaces, words; a text between them ends
// an example.
std::vector<Bytes> documentedExamples() {
  std::ifstream file(PINGLOOM_DOCS "/page-format.md");
  std::vector<Bytes> examples;
  bool within = false;
  for (std::string line; std::getline(file, line);) {
    const bool bytes = line.size() > 12 && line.compare(0, 4, "    ") == 0 &&
                       line.find_first_not_of("0123456789abcdef", 4) == 8;
    if (!bytes) {
      within = false;
      continue;
    }
    if (!within) examples.emplace_back();
    within = true;
    EXPECT_EQ(std::stoul(line.substr(4, 4), nullptr, 16), examples.back().size()) << line;
    std::istringstream hex(line.substr(10, 47));
    for (std::string byte; hex >> byte;) {
      examples.back().push_back(static_cast<std::uint8_t>(std::stoul(byte, nullptr, 16)));
    }
  }
  return examples;
}

TEST(Example, IsWhatHappens) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  const pingloom_label service{"service", "shop"};
  pingloom_pages_options options{};
  options.application = "orders";
  options.labels = &service;
  options.label_count = 1;
  const std::string socket = folder.socket();
  options.socket = socket.c_str();
  pingloom_pages* pages = nullptr;
  ASSERT_EQ(pingloom_pages_open(&options, &pages), PINGLOOM_OK);
  const pingloom_label till{"till", "1"};
  pingloom_metric metric{};
  metric.name = "orders_total";
  metric.help = "Orders.";
  metric.labels = &till;
  metric.label_count = 1;
  pingloom_shared_counter orders;
  ASSERT_EQ(pingloom_shared_counter_make(pages, &metric, &orders), PINGLOOM_OK);
  pingloom_shared_counter_add(orders, 42);
  pingloom_metric other{};
  other.name = "load";
  pingloom_gauge load_gauge;
  ASSERT_EQ(pingloom_gauge_make(pages, &other, &load_gauge), PINGLOOM_OK);
  pingloom_gauge_set(load_gauge, 1.5);
  pingloom_pages_status status;
  ASSERT_TRUE(eventually([&] {
    pingloom_pages_get_status(pages, &status);
    return status.known_metrics == 2;
  }));

  const auto examples = documentedExamples();
  ASSERT_EQ(examples.size(), 3u);
  const KnownOwner owner = agent.owners()[0];
  EXPECT_EQ(bytesOf({MessageType::kRegister, 0, owner.registration, {}}), examples[0]);
  const auto& [number, page] = *owner.pages.begin();
  EXPECT_EQ(bytesOf({MessageType::kDefine, number, page.definitions[0], {}}), examples[1]);
  pingloom_page seen = *page.memory;
  seen.header.heartbeat = 7;  // as the example has it
  Bytes begin(80);
  std::memcpy(begin.data(), &seen, begin.size());
  EXPECT_EQ(begin, examples[2]);
  pingloom_pages_close(pages);
}

TEST(Example, OfAHistogramsBuckets) {
  const pingloom_histogram_shape shape{10, 34, 2};
  EXPECT_EQ(pingloom_histogram_bucket(shape, 1'500), 2u);
  EXPECT_EQ(pingloom_histogram_upper(shape, 1), 1'280u);
  EXPECT_EQ(pingloom_histogram_upper(shape, 2), 1'536u);
  EXPECT_EQ(pingloom_histogram_buckets(shape), 98u);
}

// Every value is in the one bucket whose bounds it lies between, in all shapes that there are.
TEST(Histogram, ValuesAreWithinTheirBucketsBounds) {
  for (unsigned lowest = 0; lowest < 63; ++lowest) {
    for (unsigned highest = lowest + 1; highest <= 63; highest += 7) {
      for (unsigned precision = 0; precision <= std::min(5u, lowest); ++precision) {
        const pingloom_histogram_shape shape{static_cast<std::uint8_t>(lowest),
                                             static_cast<std::uint8_t>(highest),
                                             static_cast<std::uint8_t>(precision)};
        for (unsigned bucket = 0; bucket < pingloom_histogram_buckets(shape); ++bucket) {
          const std::uint64_t upper = pingloom_histogram_upper(shape, bucket);
          ASSERT_EQ(pingloom_histogram_bucket(shape, upper), bucket);
          if (upper == UINT64_MAX) continue;
          ASSERT_EQ(pingloom_histogram_bucket(shape, upper + 1), bucket + 1);
        }
        ASSERT_EQ(pingloom_histogram_bucket(shape, 0), 0u);
      }
    }
  }
}

}  // namespace
}  // namespace pingloom::pages::test::example_test
