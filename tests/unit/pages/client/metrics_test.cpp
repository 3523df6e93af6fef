// Metrics of one process, without an agent.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <thread>

#include "client.h"

namespace pingloom::pages::test::metrics_test {
namespace {

constexpr const char* kNoAgent = "/nonexistent/pages.sock";

double asDouble(std::uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

const pingloom_page* pageOf(const std::uint64_t* slot) {
  return reinterpret_cast<const pingloom_page*>(reinterpret_cast<std::uintptr_t>(slot) &
                                                ~std::uintptr_t{PINGLOOM_PAGE_BYTES - 1});
}

TEST(Metrics, WorkWithoutAnAgent) {
  Client client(kNoAgent);
  const auto counter = client.counter("requests_total");
  pingloom_counter_add(counter, 2);
  pingloom_counter_add(counter, 40);
  EXPECT_EQ(*counter.slot, 42u);
  pingloom_metric metric{};
  metric.name = "load";
  pingloom_gauge gauge;
  ASSERT_EQ(pingloom_gauge_make(client, &metric, &gauge), PINGLOOM_OK);
  pingloom_gauge_set(gauge, 1.5);
  pingloom_gauge_add(gauge, -0.25);
  EXPECT_EQ(asDouble(*gauge.slot), 1.25);
  const pingloom_page_header& header = pageOf(counter.slot)->header;
  EXPECT_EQ(header.magic, PINGLOOM_PAGE_MAGIC);
  EXPECT_EQ(header.version, PINGLOOM_PAGE_VERSION);
  EXPECT_EQ(header.slots, 2u);
  EXPECT_EQ(header.schema_version, 0u) << "nobody has the schema";
  EXPECT_TRUE(eventually([&] { return client.status().error == PINGLOOM_NO_AGENT; }));
  EXPECT_NE(std::string(client.status().error_text).find(kNoAgent), std::string::npos);
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameSlot) {
  Client client(kNoAgent);
  const pingloom_label one[] = {{"method", "GET"}, {"code", "200"}};
  const pingloom_label same[] = {{"code", "200"}, {"method", "GET"}};
  const pingloom_label other[] = {{"code", "500"}, {"method", "GET"}};
  std::set<std::uint64_t*> slots;
  for (const auto* labels : {one, same, other}) {
    pingloom_metric metric{};
    metric.name = "requests_total";
    metric.labels = labels;
    metric.label_count = 2;
    pingloom_shared_counter counter;
    ASSERT_EQ(pingloom_shared_counter_make(client, &metric, &counter), PINGLOOM_OK);
    slots.insert(counter.slot);
  }
  EXPECT_EQ(slots.size(), 2u);
  EXPECT_EQ(client.status().metrics, 2u);
}

TEST(Metrics, ANameIsOneKind) {
  Client client(kNoAgent);
  client.counter("things");
  pingloom_metric metric{};
  metric.name = "things";
  pingloom_gauge gauge;
  EXPECT_EQ(pingloom_gauge_make(client, &metric, &gauge), PINGLOOM_CONFLICT);
  pingloom_gauge_set(gauge, 3);  // harms nobody
  const pingloom_label label{"a", "b"};
  metric.labels = &label;
  metric.label_count = 1;
  EXPECT_EQ(pingloom_gauge_make(client, &metric, &gauge), PINGLOOM_CONFLICT);
  pingloom_shared_counter shared;
  EXPECT_EQ(pingloom_shared_counter_make(client, &metric, &shared), PINGLOOM_OK);
}

TEST(Metrics, WhatCannotBeMadeIsInert) {
  Client client(kNoAgent);
  const auto inert = client.counter("no name", nullptr, PINGLOOM_BAD_ARGUMENT);
  EXPECT_NE(std::string(pingloom_error_text()).find("no name"), std::string::npos);
  pingloom_counter_add(inert, 1);
  pingloom_metric metric{};
  metric.name = "too_fine_seconds";
  metric.shape = {10, 63, 5};
  pingloom_shared_histogram histogram;
  EXPECT_EQ(pingloom_shared_histogram_make(client, &metric, &histogram), PINGLOOM_BAD_ARGUMENT);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{2}, UINT64_MAX}) {
    pingloom_shared_histogram_observe(histogram, value);
  }
  pingloom_counter counter;
  EXPECT_EQ(pingloom_counter_make(nullptr, &metric, &counter), PINGLOOM_BAD_ARGUMENT);
  pingloom_counter_add(counter, 1);
  pingloom_group group;
  EXPECT_EQ(pingloom_group_make(nullptr, &group), PINGLOOM_BAD_ARGUMENT);
  pingloom_group_begin(group);
  pingloom_group_commit(group);
  EXPECT_EQ(client.status().metrics, 0u);
  EXPECT_EQ(client.status().pages, 0u);
}

TEST(Metrics, AreOnAsManyPagesAsTheyNeed) {
  Client client(kNoAgent);
  std::set<const pingloom_page*> pages;
  std::set<std::uint64_t*> slots;
  for (int i = 0; i < 1500; ++i) {
    const auto counter = client.counter("counter_" + std::to_string(i));
    pages.insert(pageOf(counter.slot));
    slots.insert(counter.slot);
  }
  EXPECT_EQ(slots.size(), 1500u);
  EXPECT_EQ(pages.size(), 3u);
  EXPECT_EQ(client.status().pages, 3u);
}

TEST(Metrics, AreOnFurtherPagesWhenTheirNamesOrInfosAreTooMany) {
  Client client(kNoAgent);
  const std::string value(256, 'v');
  std::vector<std::string> names;
  for (char c = 'a'; c < 'a' + 16; ++c) names.push_back(std::string(128, c));
  std::vector<pingloom_label> labels;
  for (const auto& name : names) labels.push_back({name.c_str(), value.c_str()});
  for (int i = 0; i < 50; ++i) {  // 6.2 KB each
    const std::string name = "counter_" + std::to_string(i);
    pingloom_metric metric{};
    metric.name = name.c_str();
    metric.labels = labels.data();
    metric.label_count = labels.size();
    pingloom_counter counter;
    ASSERT_EQ(pingloom_counter_make(client, &metric, &counter), PINGLOOM_OK);
  }
  EXPECT_EQ(client.status().pages, 2u);
  for (int i = 0; i < 200; ++i) {
    const std::string name = "info_" + std::to_string(i);
    pingloom_metric metric{};
    metric.name = name.c_str();
    ASSERT_EQ(pingloom_info_make(client, &metric), PINGLOOM_OK);
  }
  EXPECT_EQ(client.status().pages, 4u);  // 64 infos each
}

TEST(Metrics, BoundsThatAreNoneMakeAnInertHistogram) {
  Client client(kNoAgent);
  pingloom_metric metric{};
  metric.name = "h";
  pingloom_bounded_histogram histogram;
  const double falling[] = {2, 1};
  EXPECT_EQ(pingloom_bounded_histogram_make(client, &metric, falling, 2, &histogram),
            PINGLOOM_BAD_ARGUMENT);
  EXPECT_NE(std::string(pingloom_error_text()).find("ascending"), std::string::npos);
  EXPECT_EQ(histogram.bound_count, 0u);
  pingloom_bounded_histogram_observe(histogram, 5, 5);
  EXPECT_EQ(pingloom_bounded_histogram_make(client, &metric, falling, 503, &histogram),
            PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(client.status().metrics, 0u);
  const double one = 1;
  EXPECT_EQ(pingloom_bounded_histogram_make(client, &metric, &one, 1, &histogram), PINGLOOM_OK);
  const double two = 2;
  EXPECT_EQ(pingloom_bounded_histogram_make(client, &metric, &two, 1, &histogram),
            PINGLOOM_CONFLICT)
      << "the same metric has other bounds";
}

TEST(Metrics, ASummaryIsSetAtOnce) {
  Client client(kNoAgent);
  pingloom_metric metric{};
  metric.name = "wait_seconds";
  const double quantiles[] = {0.5, 0.99};
  pingloom_summary summary;
  ASSERT_EQ(pingloom_summary_make(client, &metric, quantiles, 2, &summary), PINGLOOM_OK);
  EXPECT_EQ(pageOf(summary.slots)->header.slots, 4u);
  const double values[] = {0.25, std::nan("")};
  pingloom_summary_set(summary, 7, 1.75, values);
  EXPECT_EQ(summary.slots[0], 7u);
  EXPECT_EQ(asDouble(summary.slots[1]), 1.75);
  EXPECT_EQ(asDouble(summary.slots[2]), 0.25);
  EXPECT_TRUE(std::isnan(asDouble(summary.slots[3])));
  pingloom_summary again;
  EXPECT_EQ(pingloom_summary_make(client, &metric, quantiles, 2, &again), PINGLOOM_OK);
  EXPECT_EQ(again.slots, summary.slots);
  EXPECT_EQ(pingloom_summary_make(client, &metric, quantiles, 1, &again), PINGLOOM_CONFLICT)
      << "the same metric has other quantiles";
  metric.name = "count_only";
  EXPECT_EQ(pingloom_summary_make(client, &metric, nullptr, 0, &again), PINGLOOM_OK);
  EXPECT_EQ(pageOf(summary.slots)->header.slots, 6u);
}

TEST(Metrics, QuantilesThatAreNoneMakeAnInertSummary) {
  Client client(kNoAgent);
  pingloom_metric metric{};
  metric.name = "s";
  const double good[] = {0.5};
  const auto refused = [&](const double* quantiles, std::size_t count) {
    pingloom_summary summary;
    EXPECT_EQ(pingloom_summary_make(client, &metric, quantiles, count, &summary),
              PINGLOOM_BAD_ARGUMENT);
    EXPECT_EQ(summary.quantile_count, 0u);
    pingloom_summary_set(summary, 1, 1, nullptr);  // harms nobody
  };
  for (const std::vector<double>& bad : {std::vector<double>{0.9, 0.5}, {1.5}, {-0.5}}) {
    refused(bad.data(), bad.size());
    EXPECT_NE(std::string(pingloom_error_text()).find("from 0 to 1 in ascending order"),
              std::string::npos);
  }
  refused(std::vector<double>(33).data(), 33);
  refused(nullptr, 1);
  const pingloom_label label{"quantile", "0.5"};
  metric.labels = &label;
  metric.label_count = 1;
  refused(good, 1);
  EXPECT_EQ(client.status().metrics, 0u);
}

TEST(Metrics, AUnitThatNoAgentTakesIsRefusedAtOnce) {
  Client client(kNoAgent);
  pingloom_metric metric{};
  metric.name = "busy_seconds_total";
  pingloom_counter counter;
  for (const double unit : {1e-31, 1e31, -1.0, std::nan("")}) {
    metric.unit = unit;
    EXPECT_EQ(pingloom_counter_make(client, &metric, &counter), PINGLOOM_BAD_ARGUMENT) << unit;
  }
  metric.unit = 1e-30;
  EXPECT_EQ(pingloom_counter_make(client, &metric, &counter), PINGLOOM_OK);
}

TEST(Metrics, ACounterMayHaveFractions) {
  Client client(kNoAgent);
  pingloom_metric metric{};
  metric.name = "spent_total";
  pingloom_fraction_counter spent;
  ASSERT_EQ(pingloom_fraction_counter_make(client, &metric, &spent), PINGLOOM_OK);
  pingloom_fraction_counter_add(spent, 1.5);
  for (const double nothing : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    pingloom_fraction_counter_add(spent, nothing);
  }
  pingloom_call_fraction_counter_add(&spent, 0.25);
  EXPECT_EQ(asDouble(*spent.slot), 1.75);
  pingloom_fraction_counter_set(spent, 1e30);
  pingloom_fraction_counter_set(spent, std::nan(""));
  EXPECT_EQ(asDouble(*spent.slot), 1e30);
  pingloom_counter whole;
  EXPECT_EQ(pingloom_counter_make(client, &metric, &whole), PINGLOOM_CONFLICT);
  metric.unit = 1e-9;
  EXPECT_EQ(pingloom_fraction_counter_make(client, &metric, &spent), PINGLOOM_BAD_ARGUMENT);
  EXPECT_NE(std::string(pingloom_error_text()).find("multiply"), std::string::npos);
}

TEST(Metrics, AGaugeMayHaveAUnit) {
  Client client(kNoAgent);
  pingloom_metric metric{};
  metric.name = "age_seconds";
  metric.unit = 1e-3;
  pingloom_scaled_gauge age;
  ASSERT_EQ(pingloom_scaled_gauge_make(client, &metric, &age), PINGLOOM_OK);
  pingloom_scaled_gauge_set(age, 1500);
  pingloom_scaled_gauge_add(age, -500);
  EXPECT_DOUBLE_EQ(asDouble(*age.gauge.slot), 1);
  pingloom_gauge plain;
  ASSERT_EQ(pingloom_gauge_make(client, &metric, &plain), PINGLOOM_OK) << "it ignores the unit";
  EXPECT_EQ(plain.slot, age.gauge.slot) << "both hold the unit of the name";
  metric.unit = -1;
  EXPECT_EQ(pingloom_scaled_gauge_make(client, &metric, &age), PINGLOOM_BAD_ARGUMENT);
  pingloom_scaled_gauge_set(age, 1);
  EXPECT_DOUBLE_EQ(asDouble(*plain.slot), 1) << "one that could not be made is inert";
}

TEST(Metrics, AHistogramIsOnOnePage) {
  Client client(kNoAgent);
  for (int i = 0; i < 6; ++i) {
    const std::string name = "took_seconds_" + std::to_string(i);
    pingloom_metric metric{};
    metric.name = name.c_str();
    metric.unit = 1e-9;
    pingloom_histogram histogram;
    ASSERT_EQ(pingloom_histogram_make(client, &metric, &histogram), PINGLOOM_OK);
    const unsigned slots = pingloom_histogram_slots(histogram.shape);
    EXPECT_EQ(pageOf(histogram.slots), pageOf(histogram.slots + slots - 1));
    pingloom_histogram_observe(histogram, 1'000'000);
    pingloom_histogram_observe(histogram, UINT64_MAX);
    EXPECT_EQ(histogram.slots[0], 999'999u);
    EXPECT_EQ(histogram.slots[slots - 1], 1u);
    EXPECT_EQ(histogram.slots[1 + pingloom_histogram_bucket(histogram.shape, 1'000'000)], 1u);
  }
  EXPECT_EQ(client.status().pages, 2u);
}

TEST(Metrics, MayHaveTheirOwnCacheLine) {
  Client client(kNoAgent);
  const auto first = client.counter("first");
  pingloom_metric metric{};
  metric.name = "alone";
  metric.options = PINGLOOM_OWN_LINE;
  pingloom_counter alone;
  ASSERT_EQ(pingloom_counter_make(client, &metric, &alone), PINGLOOM_OK);
  const auto last = client.counter("last");
  const auto line = [](const std::uint64_t* slot) {
    return reinterpret_cast<std::uintptr_t>(slot) / 64;
  };
  EXPECT_LT(line(first.slot), line(alone.slot));
  EXPECT_EQ(line(first.slot), line(last.slot)) << "which has room for more";
}

TEST(Metrics, SharedOnesLoseNothing) {
  Client client(kNoAgent);
  pingloom_metric metric{};
  metric.name = "shared_total";
  pingloom_shared_counter counter;
  ASSERT_EQ(pingloom_shared_counter_make(client, &metric, &counter), PINGLOOM_OK);
  metric.name = "spent_total";
  pingloom_fraction_counter spent;
  ASSERT_EQ(pingloom_fraction_counter_make(client, &metric, &spent), PINGLOOM_OK);
  metric.name = "level";
  pingloom_gauge gauge;
  ASSERT_EQ(pingloom_gauge_make(client, &metric, &gauge), PINGLOOM_OK);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) {
        pingloom_shared_counter_add(counter, 1);
        pingloom_gauge_add(gauge, 0.5);
        pingloom_fraction_counter_add(spent, 0.25);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(*counter.slot, 80'000u);
  EXPECT_EQ(asDouble(*gauge.slot), 40'000.0);
  EXPECT_EQ(asDouble(*spent.slot), 20'000.0);
}

TEST(Metrics, OpenAndCloseAgain) {
  for (int i = 0; i < 20; ++i) {
    Client client(kNoAgent);
    pingloom_counter_add(client.counter("a"), 1);
  }
  pingloom_pages_options options{};
  options.application = "";
  pingloom_pages* pages = nullptr;
  EXPECT_EQ(pingloom_pages_open(&options, &pages), PINGLOOM_BAD_ARGUMENT);
  EXPECT_EQ(pages, nullptr);
  pingloom_pages_close(pages);
}

}  // namespace
}  // namespace pingloom::pages::test::metrics_test
