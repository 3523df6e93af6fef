#include "collector/page_directory.h"

#include <gtest/gtest.h>

#include "../pages/raw_metric.h"
#include "pages.pb.h"

namespace pingloom::collector::page_directory_test {
namespace {

using pages::test::RawMetric;

wire::Directory range(std::uint64_t epoch, bool complete = true) {
  wire::Directory made;
  made.set_epoch(epoch);
  made.set_version(1);
  made.set_complete(complete);
  made.set_pages(100);
  return made;
}
wire::DirectoryPage& add(wire::Directory& to, std::uint32_t place, const RawMetric& metric = {}) {
  wire::DirectoryPage& page = *to.add_changed();
  page.set_place(place);
  page.set_generation(1000 + place);
  page.set_application("app");
  const auto raw = metric.bytes();
  page.set_schema(raw.data(), raw.size());
  return page;
}

TEST(PageDirectory, FollowsDifferencesAndForgetsOtherEpochs) {
  PageDirectory directory;
  wire::Directory first = range(1);
  add(first, 3, RawMetric{.first = 9});
  add(first, 4);
  ASSERT_TRUE(directory.apply(first));
  EXPECT_EQ(directory.byPlace().at(3)->slots, 10U);
  wire::Directory difference = range(1, false);
  difference.add_gone(3);
  difference.add_gone(50);
  add(difference, 5);
  ASSERT_TRUE(directory.apply(difference));
  EXPECT_EQ(directory.byPlace().size(), 2U);
  EXPECT_FALSE(directory.apply(range(2, false))) << "of an epoch that was not asked for";
  EXPECT_EQ(directory.epoch(), 1U);
  ASSERT_TRUE(directory.apply(range(2)));
  EXPECT_TRUE(directory.byPlace().empty());
}

TEST(PageDirectory, TakesPodsThatKubeletsCouldHave) {
  const std::string uid = "2b1c5a7e-93d0-4f0a-8a54-0c9c3b5f7d21";
  wire::Directory update = range(1);
  const auto add_in = [&](std::uint32_t place, const std::string& pod,
                          const std::string& container) {
    wire::DirectoryPage& page = add(update, place);
    page.set_pod_uid(pod);
    page.set_container_id(container);
  };
  add_in(1, uid, "0123456789ab");
  add_in(2, uid, "0123456789ab\n");
  add_in(3, uid + "\"", "0123456789ab");
  add_in(4, "", "0123456789ab");
  PageDirectory directory;
  ASSERT_TRUE(directory.apply(update));
  EXPECT_EQ(directory.byPlace().at(1)->pod, (Pod{uid, "0123456789ab"}));
  EXPECT_EQ(directory.byPlace().at(2)->pod, (Pod{uid, ""}));
  EXPECT_EQ(directory.byPlace().at(3)->pod, Pod());
  EXPECT_EQ(directory.byPlace().at(4)->pod, Pod());
}

// Whether the owners at these places have the label `owner`.
std::vector<bool> numbered(const PageDirectory& directory, std::initializer_list<unsigned> places) {
  std::vector<bool> made;
  for (const unsigned place : places) made.push_back(directory.byPlace().at(place)->numbered);
  return made;
}

TEST(PageDirectory, SeriesOfNamesakesStayTheirOwners) {
  using Flags = std::vector<bool>;
  PageDirectory directory;
  wire::Directory update = range(1);
  add(update, 1);
  add(update, 2).set_process(5);
  wire::DirectoryPage& second = add(update, 3);
  second.set_process(5);
  second.set_namesake(true);
  add(update, 4).set_process(6);
  directory.begin(70);
  ASSERT_TRUE(directory.apply(update));
  EXPECT_EQ(numbered(directory, {1, 2, 3, 4}), Flags({true, false, true, false}))
      << "0: no process";
  wire::Directory difference = range(1, false);
  difference.add_gone(2);
  ASSERT_TRUE(directory.apply(difference));
  EXPECT_EQ(numbered(directory, {3, 4}), Flags({true, false}));
  directory.begin(70);
  EXPECT_TRUE(directory.byPlace().empty());
  ASSERT_TRUE(directory.apply(update));
  EXPECT_EQ(numbered(directory, {1, 2, 3, 4}), Flags({true, false, true, false}))
      << "the link was lost, the agent is the same";
  directory.begin(70);
  directory.begin(71);
  ASSERT_TRUE(directory.apply(update));
  EXPECT_EQ(numbered(directory, {1, 2, 3, 4}), Flags({true, true, true, false}))
      << "of another incarnation the first may be what was the second";
}

TEST(PageDirectory, RefusesPlacesOutsideTheRangeAndRangesThatAreTooLarge) {
  PageDirectory directory;
  for (const std::uint32_t place : {0U, 100U, 0xFFFFFFFFU}) {
    wire::Directory update = range(1);
    add(update, place);
    EXPECT_FALSE(directory.apply(update)) << place;
    update = range(1);
    update.add_gone(place);
    EXPECT_FALSE(directory.apply(update)) << place;
  }
  for (const std::uint32_t pages : {0U, PageDirectory::kMaxPages + 1, 0xFFFFFFFFU}) {
    wire::Directory update = range(1);
    update.set_pages(pages);
    EXPECT_FALSE(directory.apply(update)) << pages;
  }
  EXPECT_EQ(directory.epoch(), 0U) << "nothing has changed";
}

TEST(PageDirectory, RefusesAGenerationAtTwoPlaces) {
  PageDirectory directory;
  wire::Directory update = range(1);
  add(update, 3);
  add(update, 4).set_generation(1003);
  EXPECT_FALSE(directory.apply(update));
  EXPECT_EQ(directory.epoch(), 0U);
  update = range(1);
  add(update, 3);
  ASSERT_TRUE(directory.apply(update));
  wire::Directory difference = range(1, false);
  add(difference, 4).set_generation(1003);
  EXPECT_FALSE(directory.apply(difference));
  EXPECT_EQ(directory.byPlace().size(), 1U) << "nothing has changed";
  difference.add_gone(3);
  ASSERT_TRUE(directory.apply(difference)) << "it has moved";
  EXPECT_EQ(directory.byPlace().count(4), 1U);
  wire::Directory again = range(1, false);
  add(again, 4).set_generation(1003);
  EXPECT_TRUE(directory.apply(again)) << "the same place said again";
}

TEST(PageDirectory, LeavesOutPagesThatAreNotDescribed) {
  PageDirectory directory;
  wire::Directory update = range(1);
  add(update, 1);
  add(update, 2).set_schema("rubbish");
  add(update, 3).set_application("a\nb");
  add(update, 4).set_application(std::string(65, 'a'));
  (*add(update, 5).mutable_labels())["le"] = "1";
  (*add(update, 6).mutable_labels())["a"] = "\n";
  wire::DirectoryPage& many = add(update, 7);
  for (char c = 'a'; c <= 'q'; ++c) (*many.mutable_labels())[std::string(1, c)] = "";
  ASSERT_TRUE(directory.apply(update));
  EXPECT_EQ(directory.byPlace().size(), 1U);
  ASSERT_EQ(directory.leftOut().size(), 6U);
  EXPECT_EQ(directory.leftOut().at(2).fault, PageFault::kSchema);
  EXPECT_EQ(directory.leftOut().at(2).application, "app") << "whose it is";
  for (const std::uint32_t place : {3U, 4U, 5U, 6U, 7U}) {
    EXPECT_EQ(directory.leftOut().at(place).fault, PageFault::kOwner) << place;
  }
  EXPECT_EQ(directory.leftOut().at(4).application, "") << "it is no name";
  wire::Directory difference = range(1, false);
  add(difference, 2);
  difference.add_gone(3);
  ASSERT_TRUE(directory.apply(difference));
  EXPECT_EQ(directory.byPlace().size(), 2U);
  EXPECT_EQ(directory.leftOut().size(), 4U) << "one is as it has to be now, one has gone";
}

TEST(PageDirectory, AllSchemasTogetherAreBounded) {
  PageDirectory directory;
  std::string schema;
  RawMetric metric{.help = std::string(512, 'x'), .labels = {}};
  for (char c = 'a'; c <= 'o'; ++c) {
    metric.labels.emplace_back(std::string(1, c), std::string(256, 'x'));
  }
  for (metric.first = 0; metric.first < 55; ++metric.first) {
    const auto raw = metric.bytes();
    schema.append(raw.begin(), raw.end());
  }
  const std::size_t most = PageDirectory::kMaxSchemaBytes / schema.size();
  for (int round = 0; round < 2; ++round) {  // one that is described again counts once
    for (std::uint32_t place = 1; place <= most + 5; ++place) {
      wire::Directory update = range(1, place == 1 && round == 0);
      update.set_pages(1000);
      add(update, place).set_schema(schema);
      ASSERT_TRUE(directory.apply(update));
    }
    EXPECT_EQ(directory.byPlace().size(), most);
    EXPECT_EQ(directory.leftOut().size(), 5U);
    EXPECT_EQ(directory.leftOut().begin()->second.fault, PageFault::kSpace);
  }
}

}  // namespace
}  // namespace pingloom::collector::page_directory_test
