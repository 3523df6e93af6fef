#include "collector/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "../pages/raw_exemplar.h"
#include "collector/metrics_protobuf.h"
#include "common/metrics_text.h"

namespace pingloom::collector::exposition_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Nanos kNow = 100 * kSecond;

pages::Metric metric(pingloom_metric_kind kind, const std::string& name, std::uint16_t first = 0,
                     pages::Labels labels = {}) {
  pages::Metric made;
  made.kind = kind;
  made.name = name;
  made.first_slot = first;
  made.slots = kind == PINGLOOM_INFO ? 0 : 1;
  made.labels = std::move(labels);
  return made;
}
pages::Metric histogram(const std::string& name) {
  pages::Metric made = metric(PINGLOOM_HISTOGRAM, name);
  made.shape = {2, 4, 1};
  made.slots = 7;
  return made;
}

PageView page(std::vector<pages::Metric> schema, std::vector<std::uint64_t> values,
              std::uint32_t pid = 5) {
  auto info = std::make_shared<PageInfo>();
  info->application = "shop";
  info->process = pid;
  info->schema = std::move(schema);
  PageView made;
  made.info = info;
  made.state = PageState::kFresh;
  made.read = kNow - kMillisecond;
  made.slots = static_cast<std::uint32_t>(values.size());
  made.values = std::move(values);
  return made;
}
AgentView agent(std::vector<PageView> pages, const std::string& host, FamilyNames& names) {
  AgentView made;
  made.agent = host + ":1";
  made.host = host;
  made.interval = kSecond;
  made.pages = std::move(pages);
  for (PageView& one : made.pages) setInfo(made, one, one.info, names);
  return made;
}
AgentView agent(std::vector<PageView> pages, const std::string& host = "a") {
  FamilyNames names;
  return agent(std::move(pages), host, names);
}
Exposition::MakeWriter writer(MetricsFormat format) {
  return [format] { return std::make_unique<MetricsText>(format); };
}
std::string text(const AgentView& view, MetricsFormat format = MetricsFormat::kPrometheus) {
  Exposition exposition(writer(format));
  exposition.add(view, kNow);
  return exposition.take();
}

std::string exactText(const AgentView& view) {
  Exposition exposition(writer(MetricsFormat::kPrometheus), true);
  exposition.add(view, kNow);
  return exposition.take();
}

TEST(Exposition, EveryKindInBothFormats) {
  const AgentView view =
      agent({page({metric(PINGLOOM_COUNTER, "requests_total"), metric(PINGLOOM_GAUGE, "load", 1),
                   metric(PINGLOOM_INFO, "build_info", 2, {{"version", "1.2"}})},
                  {7, std::bit_cast<std::uint64_t>(0.5)})});
  EXPECT_EQ(text(view),
            "# TYPE build_info gauge\n"
            "build_info{application=\"shop\",host=\"a\",pid=\"5\",version=\"1.2\"} 1\n"
            "# TYPE load gauge\n"
            "load{application=\"shop\",host=\"a\",pid=\"5\"} 0.5\n"
            "# TYPE requests_total counter\n"
            "requests_total{application=\"shop\",host=\"a\",pid=\"5\"} 7\n");
  EXPECT_EQ(text(view, MetricsFormat::kOpenMetrics),
            "# TYPE build info\n"
            "build_info{application=\"shop\",host=\"a\",pid=\"5\",version=\"1.2\"} 1\n"
            "# TYPE load gauge\n"
            "load{application=\"shop\",host=\"a\",pid=\"5\"} 0.5\n"
            "# TYPE requests counter\n"
            "requests_total{application=\"shop\",host=\"a\",pid=\"5\"} 7\n");
}

TEST(Exposition, ASummaryIsItsQuantilesSumAndCount) {
  pages::Metric one = metric(PINGLOOM_SUMMARY, "wait_seconds", 0, {{"way", "in"}});
  one.quantiles = {0.5, 0.99};
  one.slots = 4;
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const auto shown = [&](const std::string& p50, const std::string& p99, const std::string& sum,
                         const std::string& count) {
    const std::string labels = "application=\"shop\",host=\"a\",pid=\"5\",way=\"in\"";
    return "# TYPE wait_seconds summary\n"
           "wait_seconds{" +
           labels + ",quantile=\"0.5\"} " + p50 +
           "\n"
           "wait_seconds{" +
           labels + ",quantile=\"0.99\"} " + p99 +
           "\n"
           "wait_seconds_sum{" +
           labels + "} " + sum +
           "\n"
           "wait_seconds_count{" +
           labels + "} " + count + "\n";
  };
  const AgentView set = agent({page({one}, {7, bits(1.75), bits(0.25), bits(std::nan(""))})});
  for (const auto format : {MetricsFormat::kPrometheus, MetricsFormat::kOpenMetrics}) {
    EXPECT_EQ(text(set, format), shown("0.25", "NaN", "1.75", "7"));
  }
  EXPECT_EQ(text(agent({page({one}, {0, 0, 0, 0})})), shown("NaN", "NaN", "0", "0"))
      << "a page that is 0 says nothing about quantiles";
}

TEST(Exposition, OpenMetricsHasNoNegativeSummaries) {
  pages::Metric one = metric(PINGLOOM_SUMMARY, "change");
  one.quantiles = {0, 1};
  one.slots = 4;
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const AgentView view = agent({page({one}, {3, bits(-1.5), bits(-2), bits(1)})});
  const std::string labels = "application=\"shop\",host=\"a\",pid=\"5\"";
  const std::string type = "# TYPE change summary\n";
  const std::string least = "change{" + labels + ",quantile=\"0\"} -2\n";
  const std::string most = "change{" + labels + ",quantile=\"1\"} 1\n";
  const std::string sum = "change_sum{" + labels + "} -1.5\n";
  const std::string count = "change_count{" + labels + "} 3\n";
  EXPECT_EQ(text(view), type + least + most + sum + count);
  EXPECT_EQ(text(view, MetricsFormat::kOpenMetrics), type + most + count);
}

TEST(Exposition, AnApplicationsLabelDoesNotReplaceASummarysQuantile) {
  pages::Metric one = metric(PINGLOOM_SUMMARY, "wait_seconds");
  one.quantiles = {0.5};
  one.slots = 3;
  PageView view = page({one, metric(PINGLOOM_GAUGE, "load", 3)}, {1, 0, 0, 0});
  auto info = std::make_shared<PageInfo>(*view.info);
  info->labels = {{"quantile", "mine"}};
  view.info = info;
  const std::string out = text(agent({view}));
  EXPECT_THAT(out,
              HasSubstr("exported_quantile=\"mine\",host=\"a\",pid=\"5\",quantile=\"0.5\"} 0\n"));
  EXPECT_THAT(out,
              HasSubstr("load{application=\"shop\",host=\"a\",pid=\"5\",quantile=\"mine\"} 0\n"));
}

TEST(Exposition, BucketsOfHistogramsAreCumulative) {
  pages::Metric one = histogram("wait_seconds");
  one.unit = 0.5;
  const std::string out = exactText(agent({page({one}, {100, 1, 2, 3, 4, 5, 6})}));
  const std::string labels = "{application=\"shop\",host=\"a\",pid=\"5\"";
  EXPECT_EQ(out,
            "# TYPE wait_seconds histogram\n"
            "wait_seconds_bucket" +
                labels +
                ",le=\"2\"} 1\n"
                "wait_seconds_bucket" +
                labels +
                ",le=\"3\"} 3\n"
                "wait_seconds_bucket" +
                labels +
                ",le=\"4\"} 6\n"
                "wait_seconds_bucket" +
                labels +
                ",le=\"6\"} 10\n"
                "wait_seconds_bucket" +
                labels +
                ",le=\"8\"} 15\n"
                "wait_seconds_bucket" +
                labels +
                ",le=\"+Inf\"} 21\n"
                "wait_seconds_sum" +
                labels +
                "} 50\n"
                "wait_seconds_count" +
                labels + "} 21\n");
}

TEST(Exposition, ClassicHistogramsShowTheBoundsThatArePowersOfTwo) {
  const std::string out = text(agent({page({histogram("wait_seconds")}, {100, 1, 2, 3, 4, 5, 6})}));
  const std::string labels = "{application=\"shop\",host=\"a\",pid=\"5\"";
  EXPECT_EQ(out, "# TYPE wait_seconds histogram\nwait_seconds_bucket" + labels +
                     ",le=\"4\"} 1\nwait_seconds_bucket" + labels +
                     ",le=\"8\"} 6\nwait_seconds_bucket" + labels +
                     ",le=\"16\"} 15\nwait_seconds_bucket" + labels +
                     ",le=\"+Inf\"} 21\nwait_seconds_sum" + labels + "} 100\nwait_seconds_count" +
                     labels + "} 21\n");
}

TEST(Exposition, HistogramsMayHaveBoundsAndCountersAUnit) {
  pages::Metric bounded = metric(PINGLOOM_HISTOGRAM, "wait_seconds");
  bounded.bounds = {0.005, 0.1};
  bounded.slots = 4;
  bounded.unit = 1e-9;
  pages::Metric counter = metric(PINGLOOM_COUNTER, "busy_seconds_total", 4);
  counter.unit = 1e-9;
  const std::string out = text(agent({page({bounded, counter}, {1'500'000'000, 1, 2, 3, 100})}));
  const std::string labels = "{application=\"shop\",host=\"a\",pid=\"5\"";
  EXPECT_EQ(out, "# TYPE busy_seconds_total counter\nbusy_seconds_total" + labels +
                     "} 1e-07\n# TYPE wait_seconds histogram\nwait_seconds_bucket" + labels +
                     ",le=\"0.005\"} 1\nwait_seconds_bucket" + labels +
                     ",le=\"0.1\"} 3\nwait_seconds_bucket" + labels +
                     ",le=\"+Inf\"} 6\nwait_seconds_sum" + labels + "} 1.5\nwait_seconds_count" +
                     labels + "} 6\n");
}

TEST(Exposition, CountersMayHaveFractions) {
  pages::Metric spent = metric(PINGLOOM_COUNTER, "spent_total");
  spent.fractions = true;
  const auto shown = [&](double value) {
    return text(agent({page({spent}, {std::bit_cast<std::uint64_t>(value)})}),
                MetricsFormat::kOpenMetrics);
  };
  const std::string labels = "{application=\"shop\",host=\"a\",pid=\"5\"}";
  EXPECT_EQ(shown(1e-9), "# TYPE spent counter\nspent_total" + labels + " 1e-09\n");
  EXPECT_THAT(shown(1e30), HasSubstr(" 1e+30\n"));
  EXPECT_THAT(shown(-1), Not(HasSubstr("spent_total")));
  EXPECT_THAT(shown(std::nan("")), Not(HasSubstr("spent_total")));
}

TEST(Exposition, BucketsThatSumUpToTooMuchStayInOrder) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const std::string out = text(agent({page({histogram("h")}, {0, kMax, kMax, 1, 1, 1, 1})}));
  EXPECT_THAT(out, HasSubstr("le=\"+Inf\"} 18446744073709551615\n"));
  EXPECT_THAT(out,
              HasSubstr("h_count{application=\"shop\",host=\"a\",pid=\"5\"} 18446744073709551615"));
  EXPECT_THAT(out, Not(HasSubstr("} 3\n")));
}

TEST(Exposition, TextIsEscapedAsTheFormatHasIt) {
  pages::Metric one = metric(PINGLOOM_GAUGE, "g", 0, {{"path", "a\"b\\c\nd"}});
  one.help = "of \"x\" \\ y";
  const AgentView view = agent({page({one}, {0})});
  EXPECT_THAT(text(view), HasSubstr("path=\"a\\\"b\\\\c\\nd\""));
  EXPECT_THAT(text(view), HasSubstr("# HELP g of \"x\" \\\\ y\n"));
  EXPECT_THAT(text(view, MetricsFormat::kOpenMetrics), HasSubstr("# HELP g of \\\"x\\\" \\\\ y\n"));
}

TEST(Exposition, NumbersThatAreNone) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string out = text(agent({page(
      {metric(PINGLOOM_GAUGE, "a"), metric(PINGLOOM_GAUGE, "b", 1), metric(PINGLOOM_GAUGE, "c", 2)},
      {bits(std::nan("")), bits(infinity), bits(-infinity)})}));
  EXPECT_THAT(out, HasSubstr("pid=\"5\"} NaN\n"));
  EXPECT_THAT(out, HasSubstr("pid=\"5\"} +Inf\n"));
  EXPECT_THAT(out, HasSubstr("pid=\"5\"} -Inf\n"));
}

TEST(Exposition, WhoItIsOfIsNotForApplicationsToSay) {
  const std::string out = text(agent(
      {page({metric(PINGLOOM_GAUGE, "g", 0, {{"host", "b"}, {"pid", "1"}, {"zone", "x"}})}, {0})}));
  EXPECT_THAT(out, HasSubstr("g{application=\"shop\",exported_host=\"b\",exported_pid=\"1\","
                             "host=\"a\",pid=\"5\",zone=\"x\"}"));
}

TEST(Exposition, OwnersInPodsHaveTheirPodsLabels) {
  const auto in = [](const Pod& pod) {
    PageView made =
        page({metric(PINGLOOM_GAUGE, "g", 0, {{"container_id", "c"}, {"pod_uid", "p"}})}, {0});
    auto info = std::make_shared<PageInfo>(*made.info);
    info->pod = pod;
    made.info = info;
    return text(agent({made}));
  };
  EXPECT_THAT(in({}), HasSubstr("g{application=\"shop\",exported_container_id=\"c\","
                                "exported_pod_uid=\"p\",host=\"a\",pid=\"5\"}"))
      << "nobody claims a pod";
  EXPECT_THAT(in({"uid", "id"}),
              HasSubstr("g{application=\"shop\",container_id=\"id\",exported_container_id=\"c\","
                        "exported_pod_uid=\"p\",host=\"a\",pid=\"5\",pod_uid=\"uid\"}"));
  EXPECT_THAT(in({"uid", ""}), HasSubstr("exported_container_id=\"c\",exported_pod_uid=\"p\""));
}

TEST(Exposition, OwnersOfTheSameNameAreToldApartByTheirNumber) {
  const auto of = [](std::uint64_t owner, bool numbered, std::uint64_t value) {
    PageView made = page({metric(PINGLOOM_COUNTER, "c_total", 0, {{"owner", "me"}})}, {value});
    auto info = std::make_shared<PageInfo>(*made.info);
    info->owner = owner;
    info->numbered = numbered;
    made.info = info;
    return made;
  };
  const std::string first = "c_total{application=\"shop\",host=\"a\",owner=\"me\",pid=\"5\"} 1\n";
  const std::string second =
      "c_total{application=\"shop\",exported_owner=\"me\",host=\"a\",owner=\"4\",pid=\"5\"} 2\n";
  EXPECT_EQ(text(agent({of(3, false, 1), of(4, true, 2)})),
            "# TYPE c_total counter\n" + first + second);
  EXPECT_EQ(text(agent({of(4, true, 2)})), "# TYPE c_total counter\n" + second)
      << "it does not go on as the one that has ended";
}

TEST(Exposition, TheSameSeriesTwiceIsThereOnce) {
  const auto one = metric(PINGLOOM_GAUGE, "g");
  Exposition exposition(writer(MetricsFormat::kPrometheus));
  exposition.add(agent({page({one}, {0}), page({one}, {0})}), kNow);
  EXPECT_EQ(exposition.counters().duplicates, 1U);
  EXPECT_EQ(exposition.counters().series, 1U);
}

TEST(Exposition, OwnersThatDisagreeOnAKindAreBothShown) {
  FamilyNames names;
  const AgentView first = agent({page({metric(PINGLOOM_GAUGE, "jobs_total")}, {0}, 5)}, "a", names);
  const AgentView second = agent({page({metric(PINGLOOM_COUNTER, "jobs_total")}, {7}, 6),
                                  page({metric(PINGLOOM_COUNTER, "jobs_total")}, {8}, 7)},
                                 "b", names);
  const auto shown = [&](MetricsFormat format) {
    Exposition exposition(writer(format));
    exposition.add(first, kNow);
    exposition.add(second, kNow);
    EXPECT_EQ(exposition.counters().series, 3U);
    EXPECT_EQ(exposition.counters().renamed, 1U);
    EXPECT_EQ(exposition.counters().conflicts, 0U);
    return exposition.take();
  };
  const std::string counters =
      "jobs_counter_total{application=\"shop\",host=\"b\",pid=\"6\"} 7\n"
      "jobs_counter_total{application=\"shop\",host=\"b\",pid=\"7\"} 8\n";
  const std::string gauge =
      "# TYPE jobs_total gauge\njobs_total{application=\"shop\",host=\"a\",pid=\"5\"} 0\n";
  EXPECT_EQ(shown(MetricsFormat::kPrometheus),
            "# TYPE jobs_counter_total counter\n" + counters + gauge);
  EXPECT_EQ(shown(MetricsFormat::kOpenMetrics), "# TYPE jobs_counter counter\n" + counters + gauge);
}

TEST(Exposition, SeriesWithoutAFreeNameAreCounted) {
  AgentView view = agent({page({metric(PINGLOOM_GAUGE, "g")}, {0})});
  view.pages[0].families[0] = std::make_shared<FamilyName>();
  Exposition exposition(writer(MetricsFormat::kPrometheus));
  exposition.add(view, kNow);
  EXPECT_EQ(exposition.counters().conflicts, 1U);
  EXPECT_EQ(exposition.take(), "");
}

TEST(Exposition, ProcessMetricsOfApplicationsJoinTheCollectorsOwn) {
  Exposition exposition(writer(MetricsFormat::kPrometheus));
  exposition.addOwnProcess();
  exposition.add(agent({page({metric(PINGLOOM_GAUGE, "process_open_fds")},
                             {std::bit_cast<std::uint64_t>(12.0)})}),
                 kNow);
  const std::string out = exposition.take();
  EXPECT_THAT(out, testing::ContainsRegex("# TYPE process_open_fds gauge\nprocess_open_fds [0-9]+\n"
                                          "process_open_fds\\{application=\"shop\",host=\"a\","
                                          "pid=\"5\"\\} 12\n"));
}

class ExpositionExemplars : public testing::Test {
 protected:
  static constexpr Nanos kUtc = 1'700'000'000 * kSecond;

  // Places an exemplar of the histogram, which has seven slots.
  void put(std::size_t place, const pages::test::RawExemplar& exemplar) {
    const auto slots = exemplar.slots();
    std::copy(slots.begin(), slots.end(),
              values.begin() + 7 + static_cast<std::ptrdiff_t>(place * slots.size()));
  }
  std::string shown(const Exposition::MakeWriter& make) {
    pages::Metric one = histogram("wait_seconds");
    one.exemplars = true;
    one.unit = 1e-3;
    Exposition exposition(make, true, kUtc);
    exposition.add(agent({page({one}, values)}), kNow);
    counters = exposition.counters().exemplars;
    return exposition.take();
  }
  std::string shown(MetricsFormat format = MetricsFormat::kOpenMetrics) {
    return shown(writer(format));
  }

  std::vector<std::uint64_t> values = std::vector<std::uint64_t>(7 + 64);
  ExemplarCounters counters;
};

TEST_F(ExpositionExemplars, AreShownWhereTheirValuesLie) {
  values[2] = 1;
  put(1, {{{"trace_id", "a"}}, 5, kUtc});
  const std::string out = shown();
  EXPECT_THAT(out,
              HasSubstr("pid=\"5\",le=\"0.006\"} 1 # {trace_id=\"a\"} 0.005 1700000000.000\n"));
  EXPECT_EQ(counters.shown, 1U);
  EXPECT_THAT(shown(MetricsFormat::kPrometheus), Not(HasSubstr("trace_id")));
  EXPECT_EQ(counters.shown, 0U);
  EXPECT_THAT(shown([] { return std::make_unique<MetricsProtobuf>(); }), HasSubstr("trace_id"));
}

TEST_F(ExpositionExemplars, OldOnesAndThoseOfTheFutureAreNot) {
  put(0, {{{"t", "oldest"}}, 1, kUtc - kMaxExemplarAge});
  put(1, {{{"t", "older"}}, 5, kUtc - kMaxExemplarAge - 1});
  put(2, {{{"t", "latest"}}, 10, kUtc + kMaxExemplarLead});
  put(3, {{{"t", "later"}}, 100, kUtc + kMaxExemplarLead + 1});
  EXPECT_THAT(shown(), testing::AllOf(HasSubstr("oldest"), Not(HasSubstr("older")),
                                      HasSubstr("latest"), Not(HasSubstr("later"))));
  EXPECT_EQ(counters.shown, 2U);
  EXPECT_THAT(counters.left_out, testing::ElementsAre(0, 0, 1, 1));
  put(0, {{{"t", "end of time"}}, 1, UINT64_MAX});
  put(1, {{{"t", "1970"}}, 1, 0});
  EXPECT_THAT(shown(), Not(HasSubstr("19")));
  EXPECT_THAT(counters.left_out, testing::ElementsAre(0, 0, 1, 2));
}

TEST_F(ExpositionExemplars, HostileOnesAreCounted) {
  put(0, {{{"t", "torn"}}, 1, kUtc, 3});
  put(1, {{{"t", "} 1\n# EOF\n"}}, 1, kUtc});
  put(2, {{{"t\" 1", "x"}}, 1, kUtc});
  put(3, {{{"t", "\"} 1 # {\\"}}, 1, kUtc});
  const std::string out = shown();
  EXPECT_THAT(out, HasSubstr(R"( # {t="\"} 1 # {\\"} 0.001 )")) << "escaped";
  EXPECT_THAT(out, Not(HasSubstr("EOF")));
  EXPECT_THAT(counters.left_out, testing::ElementsAre(1, 2, 0, 0));
  values[7 + 3 * PINGLOOM_EXEMPLAR_SLOTS + 3] ^= 1;  // the last one's value
  shown();
  EXPECT_THAT(counters.left_out, testing::ElementsAre(2, 2, 0, 0));
}

TEST_F(ExpositionExemplars, AnOwnerMayNotHavePublishedThemYet) {
  put(1, {{{"trace_id", "a"}}, 5, kUtc});
  values.resize(7 + 63);
  EXPECT_THAT(shown(), testing::AllOf(HasSubstr("wait_seconds_count"), Not(HasSubstr("trace_id"))));
}

TEST(Exposition, ACountersExemplarHasItsUnit) {
  pages::Metric one = metric(PINGLOOM_COUNTER, "busy_seconds_total");
  one.unit = 1e-9;
  one.exemplars = true;
  const auto slots = pages::test::RawExemplar{{{"t", "x"}}, 5e8, 7 * kSecond}.slots();
  std::vector<std::uint64_t> values = {2'000'000'000};
  values.insert(values.end(), slots.begin(), slots.end());
  Exposition exposition(writer(MetricsFormat::kOpenMetrics), false, 8 * kSecond);
  exposition.add(agent({page({one}, values)}), kNow);
  EXPECT_THAT(exposition.take(), HasSubstr("} 2 # {t=\"x\"} 0.5 7.000\n"));
}

TEST(Exposition, BoundsAreAsShortAsTheyReadBack) {
  pages::Metric one = metric(PINGLOOM_HISTOGRAM, "wait_seconds");
  one.shape = {10, 34, 2};
  one.slots = static_cast<std::uint16_t>(pingloom_histogram_slots(one.shape));
  one.unit = 1e-9;
  const std::string out = exactText(agent({page({one}, std::vector<std::uint64_t>(one.slots))}));
  for (const char* bound : {"1.024e-06", "1.28e-06", "2.56e-06", "0.001048576", "17.179869184"}) {
    EXPECT_THAT(out, HasSubstr(std::string("le=\"") + bound + "\""));
  }
}

TEST(Exposition, OfTwoAgentsThatSayToBeTheSameHostTheFirstCounts) {
  Exposition exposition(writer(MetricsFormat::kPrometheus));
  exposition.add(agent({page({metric(PINGLOOM_GAUGE, "g")}, {0}, 1)}), kNow);
  exposition.add(agent({page({metric(PINGLOOM_GAUGE, "g")}, {0}, 2)}), kNow);
  exposition.add(agent({page({metric(PINGLOOM_GAUGE, "g")}, {0}, 2)}, "b"), kNow);
  EXPECT_EQ(exposition.counters().hosts, 1U);
  EXPECT_EQ(exposition.counters().series, 2U);
  EXPECT_THAT(exposition.take(), Not(HasSubstr("host=\"a\",pid=\"2\"")));
}

TEST(Exposition, OldValuesAreNotShown) {
  PageView view = page({metric(PINGLOOM_GAUGE, "g")}, {0});
  EXPECT_TRUE(Exposition::isCurrent(view, kSecond, kNow));
  view.state = PageState::kTorn;
  EXPECT_TRUE(Exposition::isCurrent(view, kSecond, kNow)) << "older ones, but undivided";
  view.read = kNow - kStaleAfter - kSecond;
  EXPECT_FALSE(Exposition::isCurrent(view, kSecond, kNow));
  EXPECT_TRUE(Exposition::isCurrent(view, kHour, kNow)) << "it is read once an hour";
  view.read = kNow;
  view.state = PageState::kStale;
  EXPECT_FALSE(Exposition::isCurrent(view, kSecond, kNow));
  view = page({metric(PINGLOOM_GAUGE, "g")}, {0});
  view.read = 0;
  EXPECT_FALSE(Exposition::isCurrent(view, kSecond, kNow)) << "never read";
}

TEST(Exposition, MetricsWhoseSlotsAreNotReadYetAreAbsent) {
  const std::string out =
      text(agent({page({metric(PINGLOOM_GAUGE, "a"), metric(PINGLOOM_GAUGE, "b", 1)}, {0})}));
  EXPECT_THAT(out, HasSubstr("a{"));
  EXPECT_THAT(out, Not(HasSubstr("b{")));
}

}  // namespace
}  // namespace pingloom::collector::exposition_test
