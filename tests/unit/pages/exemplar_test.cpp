#include "pages/exemplar.h"

#include <gtest/gtest.h>

#include <limits>

#include "raw_exemplar.h"

namespace pingloom::pages::exemplar_test {
namespace {

using namespace std::string_literals;
using test::RawExemplar;

TEST(Exemplar, ReadsWhatItSays) {
  const RawExemplar raw{{{"trace_id", "4bf92f35"}, {"note", "a \"b\" \xC3\xA9"}, {"empty", ""}}};
  const auto read = readExemplar(raw.slots());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->labels, (Labels{raw.labels.begin(), raw.labels.end()}));
  EXPECT_EQ((*read)->value, 1500);
  EXPECT_EQ((*read)->time, 1'700'000'000'123'456'789U);
}

TEST(Exemplar, LabelsMayFillThePlace) {
  const RawExemplar full{{{"a", std::string(93, 'x')}}};
  const auto read = readExemplar(full.slots());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->labels[0].second.size(), 93U);
}

TEST(Exemplar, AnUnusedPlaceHasNone) {
  const auto read = readExemplar(std::array<std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS>{});
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
}

// A READ may see any of two writers' words, in any combination.
TEST(Exemplar, NoMixtureOfTwoIsShown) {
  const auto before = RawExemplar{{{"trace_id", "aaaaaaaa"}}, 1, 1, 2}.slots();
  const auto after = RawExemplar{{{"trace_id", "bbbbbbbb"}}, 2, 2, 4}.slots();
  std::size_t differ = 0;
  for (std::size_t i = 0; i < before.size(); ++i) differ += before[i] != after[i] ? 1 : 0;
  EXPECT_EQ(differ, 6U) << "checksum, sequence, time, value and two words of the label";
  for (unsigned from = 1; from + 1 < 1U << before.size(); ++from) {
    auto mixed = before;
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      if ((from >> i & 1) != 0) mixed[i] = after[i];
    }
    if (mixed == before || mixed == after) continue;
    const auto read = readExemplar(mixed);
    ASSERT_FALSE(read) << from;
    ASSERT_EQ(read.error(), ExemplarFault::kTorn) << from;
  }
}

TEST(Exemplar, OneThatIsBeingWrittenIsTorn) {
  const auto read = readExemplar(RawExemplar{.sequence = 3}.slots());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), ExemplarFault::kTorn);
}

TEST(Exemplar, RefusesWhatIsNone) {
  struct Case {
    const char* what;
    std::array<std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS> slots;
  };
  const auto with = [](std::vector<std::pair<std::string, std::string>> labels) {
    return RawExemplar{std::move(labels)}.slots();
  };
  const Case cases[] = {
      {"no labels", with({})},
      {"an empty label", with({{"a", ""}})},
      {"only empty labels", with({{"a", ""}, {"b", ""}})},
      {"a name that is none", with({{"trace id", "x"}})},
      {"a name with a quote", with({{"a\"", "x"}})},
      {"a reserved name", with({{"__name__", "x"}})},
      {"a bucket's name", with({{"le", "1"}})},
      {"a name twice", with({{"a", "1"}, {"a", "2"}})},
      {"a value with a newline", with({{"a", "b\nc"}})},
      {"a value that is not UTF-8", with({{"a", "\xff"}})},
      {"a name without a value",
       RawExemplar{}.slotsWith(std::string(1, 95) + std::string(95, 'a'))},
      {"a value behind the end", RawExemplar{}.slotsWith("\x01"
                                                         "a\xff"s)},
      {"a name behind the end", RawExemplar{}.slotsWith("\xff"s)},
      {"value NaN", RawExemplar{.value = std::numeric_limits<double>::quiet_NaN()}.slots()},
      {"an infinite value", RawExemplar{.value = std::numeric_limits<double>::infinity()}.slots()},
  };
  for (const Case& one : cases) {
    const auto read = readExemplar(one.slots);
    ASSERT_FALSE(read) << one.what;
    EXPECT_EQ(read.error(), ExemplarFault::kMalformed) << one.what;
  }
}

}  // namespace
}  // namespace pingloom::pages::exemplar_test
