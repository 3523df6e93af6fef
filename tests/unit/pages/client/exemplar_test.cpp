// Exemplars as an application writes them, read by the rules of those who read pages.
#include "pages/exemplar.h"

#include <gtest/gtest.h>
#include <time.h>

#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <pingloom/pages.hpp>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "client.h"
#include "pages/schema.h"

namespace pingloom::pages::test::client_exemplar_test {
namespace {

constexpr const char* kNoAgent = "/nonexistent/pages.sock";

std::optional<Exemplar> exemplarAt(const std::uint64_t* place) {
  std::array<std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS> copy;
  for (std::size_t i = 0; i < copy.size(); ++i) {
    copy[i] = __atomic_load_n(place + i, __ATOMIC_RELAXED);
  }
  const auto read = readExemplar(copy);
  EXPECT_TRUE(read);
  return read ? *read : std::nullopt;
}

// A counter and a histogram with room for exemplars.
class ClientExemplar : public testing::Test {
 protected:
  void SetUp() override {
    metric.options = PINGLOOM_EXEMPLARS;
    metric.name = "jobs_total";
    ASSERT_EQ(pingloom_counter_make(client, &metric, &counter), PINGLOOM_OK);
    ASSERT_EQ(pingloom_exemplars_make(client, &metric, &of_counter), PINGLOOM_OK);
    metric.name = "job_seconds";
    ASSERT_EQ(pingloom_shared_histogram_make(client, &metric, &histogram), PINGLOOM_OK);
    ASSERT_EQ(pingloom_exemplars_make(client, &metric, &of_histogram), PINGLOOM_OK);
  }
  int observe(std::uint64_t value, const char* trace) {
    const pingloom_label label{"trace_id", trace};
    return pingloom_shared_histogram_observe_exemplar(histogram, of_histogram, value, &label, 1);
  }
  std::optional<Exemplar> ofHistogram(std::size_t i) const {
    return exemplarAt(of_histogram.slots + i * PINGLOOM_EXEMPLAR_SLOTS);
  }

  Client client{kNoAgent};
  pingloom_metric metric{};
  pingloom_counter counter{};
  pingloom_exemplars of_counter{};
  pingloom_shared_histogram histogram{};
  pingloom_exemplars of_histogram{};
};

TEST_F(ClientExemplar, AreBehindTheSlots) {
  EXPECT_EQ(of_counter.slots, counter.slot + 1);
  EXPECT_EQ(of_counter.count, 1u);
  EXPECT_EQ(of_histogram.slots, histogram.slots + pingloom_histogram_slots(histogram.shape));
  EXPECT_EQ(of_histogram.count, 4u);
  EXPECT_GE(histogram.slots, counter.slot + 17);
  EXPECT_FALSE(exemplarAt(of_counter.slots));
}

TEST_F(ClientExemplar, ACounterKeepsItsLast) {
  for (const char* trace : {"aa", "bb"}) {
    const pingloom_label labels[] = {{"trace_id", trace}, {"span_id", "00f067aa0ba902b7"}};
    EXPECT_EQ(pingloom_counter_add_exemplar(counter, of_counter, 3, labels, 2), PINGLOOM_OK);
  }
  EXPECT_EQ(*counter.slot, 6u);
  const auto exemplar = exemplarAt(of_counter.slots);
  ASSERT_TRUE(exemplar);
  EXPECT_EQ(exemplar->labels, (Labels{{"trace_id", "bb"}, {"span_id", "00f067aa0ba902b7"}}));
  EXPECT_EQ(exemplar->value, 3);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  EXPECT_NEAR(static_cast<double>(exemplar->time) / 1e9, static_cast<double>(now.tv_sec), 60);
}

TEST_F(ClientExemplar, AHistogramKeepsOneForEachQuarterOfItsBuckets) {
  EXPECT_EQ(observe(10'000'000'000, "slow"), PINGLOOM_OK);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(observe(2'000, "fast"), PINGLOOM_OK);
  ASSERT_TRUE(ofHistogram(0) && ofHistogram(3));
  EXPECT_EQ(ofHistogram(0)->labels[0].second, "fast");
  EXPECT_EQ(ofHistogram(3)->labels[0].second, "slow");
  EXPECT_EQ(ofHistogram(3)->value, 1e10);
  EXPECT_FALSE(ofHistogram(1) || ofHistogram(2));
  EXPECT_EQ(*histogram.slots, 10'000'000'000u + 200'000);
}

TEST_F(ClientExemplar, WhatIsNoExemplarIsCountedAllTheSame) {
  EXPECT_EQ(observe(7, "kept"), PINGLOOM_OK);
  const std::string longer(87, 'x');  // with the name and two lengths 97 bytes
  EXPECT_EQ(observe(7, longer.c_str()), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(observe(7, "a\nb"), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(observe(7, "\xff"), PINGLOOM_BAD_ARGUMENT);
  const auto with = [&](std::vector<pingloom_label> labels) {
    return pingloom_shared_histogram_observe_exemplar(histogram, of_histogram, 7, labels.data(),
                                                      labels.size());
  };
  EXPECT_EQ(with({}), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(with({{"a", ""}}), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(with({{"a", ""}, {"b", nullptr}}), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(with({{"a b", "x"}}), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(with({{nullptr, "x"}}), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(with({{"a", "x"}, {"a", "y"}}), PINGLOOM_BAD_ARGUMENT);
  const pingloom_label label{"a", "x"};
  EXPECT_EQ(pingloom_exemplar_put(&of_histogram, 0, 1, std::numeric_limits<double>::infinity(), 0,
                                  &label, 1),
            PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(pingloom_exemplar_put(&of_histogram, 4, 4, 1, 0, &label, 1), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(histogram.slots[1], 10u);
  ASSERT_TRUE(ofHistogram(0));
  EXPECT_EQ(ofHistogram(0)->labels[0].second, "kept");
  EXPECT_EQ(observe(7, longer.substr(1).c_str()), PINGLOOM_OK);
}

TEST_F(ClientExemplar, AMetricWithoutRoomHasNone) {
  pingloom_exemplars none{};
  for (const char* name : {"plain_total", "missing_total", "no name"}) {
    pingloom_metric plain{};
    plain.name = name;
    if (plain.name == std::string("plain_total")) client.counter(name);
    EXPECT_NE(pingloom_exemplars_make(client, &plain, &none), PINGLOOM_OK) << name;
    EXPECT_EQ(none.count, 0u);
    const pingloom_label label{"a", "x"};
    EXPECT_EQ(pingloom_exemplar_put(&none, 0, 1, 1, 0, &label, 1), PINGLOOM_OK) << "inert";
  }
  metric.name = "jobs_total";
  metric.options = 0;
  EXPECT_EQ(pingloom_counter_make(client, &metric, &counter), PINGLOOM_CONFLICT);
  metric.options = PINGLOOM_EXEMPLARS;
  metric.name = "load";
  pingloom_gauge gauge;
  EXPECT_EQ(pingloom_gauge_make(client, &metric, &gauge), PINGLOOM_BAD_ARGUMENT);
  metric.name = "large_seconds";
  metric.shape = {10, 37, 4};  // 435 slots
  EXPECT_EQ(pingloom_shared_histogram_make(client, &metric, &histogram), PINGLOOM_OK);
  metric.name = "larger_seconds";
  metric.shape = {10, 38, 4};  // 451 slots
  EXPECT_EQ(pingloom_shared_histogram_make(client, &metric, &histogram), PINGLOOM_BAD_ARGUMENT);
}

TEST_F(ClientExemplar, NothingIsWrittenWhileAnotherThreadWrites) {
  EXPECT_EQ(observe(7, "first"), PINGLOOM_OK);
  std::uint64_t& sequence = of_histogram.slots[1];
  EXPECT_EQ(sequence, 2u);
  sequence = 3;
  const std::vector<std::uint64_t> before(of_histogram.slots,
                                          of_histogram.slots + PINGLOOM_EXEMPLAR_SLOTS);
  EXPECT_EQ(observe(7, "second"), PINGLOOM_OK);
  EXPECT_EQ(before, std::vector<std::uint64_t>(of_histogram.slots,
                                               of_histogram.slots + PINGLOOM_EXEMPLAR_SLOTS));
  EXPECT_EQ(histogram.slots[1], 2u) << "both are counted";
  sequence = 4;
  EXPECT_EQ(observe(7, "third"), PINGLOOM_OK);
  EXPECT_EQ(sequence, 6u);
  ASSERT_TRUE(ofHistogram(0));
  EXPECT_EQ(ofHistogram(0)->labels[0].second, "third");
}

TEST_F(ClientExemplar, AHandleThatIsBecomingInertKeepsNone) {
  const pingloom_label label{"a", "x"};
  for (const pingloom_exemplars half :
       {pingloom_exemplars{nullptr, of_counter.count}, pingloom_exemplars{of_counter.slots, 0}}) {
    EXPECT_EQ(pingloom_exemplar_put(&half, 0, 1, 1, 0, &label, 1), PINGLOOM_OK);
  }
  EXPECT_FALSE(exemplarAt(of_counter.slots));
}

TEST_F(ClientExemplar, NoThreadEverShowsAMixture) {
  std::atomic<bool> stop = false;
  const auto write = [&](char letter) {
    const std::string trace(60, letter);
    while (!stop) observe(static_cast<std::uint64_t>(letter), trace.c_str());
  };
  std::thread one(write, 'a');
  std::thread other(write, 'b');
  std::set<char> seen;
  std::size_t torn = 0;
  for (int i = 0; i < 200'000 || (seen.size() < 2 && i < 20'000'000); ++i) {
    std::array<std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS> copy;
    for (std::size_t slot = 0; slot < copy.size(); ++slot) {
      copy[slot] = __atomic_load_n(of_histogram.slots + slot, __ATOMIC_RELAXED);
    }
    const auto read = readExemplar(copy);
    if (!read) {
      ASSERT_EQ(read.error(), ExemplarFault::kTorn);
      ++torn;
      continue;
    }
    if (!*read) continue;
    const std::string& trace = (*read)->labels.at(0).second;
    ASSERT_EQ(trace, std::string(60, trace[0]));
    ASSERT_EQ((*read)->value, trace[0]);
    seen.insert(trace[0]);
  }
  stop = true;
  one.join();
  other.join();
  EXPECT_EQ(seen, (std::set<char>{'a', 'b'}));
  RecordProperty("torn", static_cast<int>(torn));
}

// Whether C adds numbers of this type, without an exemplar and with one.
template <typename C, typename Number, typename = void>
constexpr bool kAdds = false;
template <typename C, typename Number>
constexpr bool kAdds<C, Number, std::void_t<decltype(std::declval<C>().add(Number{}))>> = true;
template <typename C, typename Number, typename = void>
constexpr bool kAddsWith = false;
template <typename C, typename Number>
constexpr bool kAddsWith<
    C, Number, std::void_t<decltype(std::declval<C>().add(Number{}, pingloom::Labels{}))>> = true;

TEST(ClientExemplarCpp, ACounterTakesNoFractions) {
  EXPECT_TRUE((kAdds<Counter, int> && kAdds<SharedCounter, std::uint64_t>));
  EXPECT_TRUE((kAddsWith<Counter, int> && kAddsWith<SharedCounter, std::uint64_t>));
  EXPECT_FALSE((kAdds<Counter, double> || kAdds<SharedCounter, float>));
  EXPECT_FALSE((kAddsWith<Counter, double> || kAddsWith<SharedCounter, float>));
}

TEST(ClientExemplarCpp, EveryKindTakesThem) {
  PagesOptions options;
  options.socket = kNoAgent;
  pingloom::Pages pages(options);
  MetricOptions asked{"a_total"};
  asked.exemplars = true;
  const pingloom::Labels trace = {{"trace_id", "4bf9"}};
  EXPECT_TRUE(pages.counter(asked).add(1, trace));
  asked.name = "b_total";
  EXPECT_TRUE(pages.sharedCounter(asked).add(1, trace));
  asked.name = "c_seconds";
  const auto histogram = pages.histogram(asked);
  EXPECT_TRUE(histogram.observe(1, trace));
  EXPECT_FALSE(histogram.observe(1, {{"no name", "x"}}));
  EXPECT_FALSE(histogram.observe(1, pingloom::Labels(100, {"a", ""}))) << "more than there may be";
  asked.name = "d_seconds";
  EXPECT_TRUE(pages.sharedHistogram(asked).observe(1, trace));
  asked.name = "e_seconds";
  const auto bounded = pages.boundedHistogram(asked, {0.5, 1});
  EXPECT_TRUE(bounded.observe(0.7, 7, trace));
  EXPECT_TRUE(bounded.exemplars().put(2, 3, 5, 1, trace));
  EXPECT_FALSE(bounded.exemplars().put(3, 3, 5, 1, trace));
  EXPECT_EQ(pages.lastError(), "");
  asked.name = "f";
  pages.gauge(asked);
  EXPECT_EQ(pages.lastError(), "f: only counters and histograms have exemplars");
  EXPECT_TRUE(Counter().add(1, trace)) << "an inert one keeps none";
}

TEST_F(ClientExemplar, ACounterWithFractionsKeepsItsLast) {
  Pages pages({"tested", {}, kNoAgent});
  MetricOptions asked{"spent_total"};
  asked.exemplars = true;
  const FractionCounter spent = pages.fractionCounter(asked);
  EXPECT_EQ(pages.lastError(), "");
  EXPECT_TRUE(spent.add(0.5, {{"trace_id", "a"}}));
  EXPECT_FALSE(spent.add(0.5, {{"no name", "a"}}));
  EXPECT_FALSE(spent.add(-5, {{"trace_id", "b"}})) << "which was not added";
  const auto kept = exemplarAt(spent.handle().slot + 1);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->value, 0.5);
}

}  // namespace
}  // namespace pingloom::pages::test::client_exemplar_test
