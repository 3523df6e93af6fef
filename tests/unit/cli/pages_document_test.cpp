#include "cli/pages_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pingloom::cli::pages_document_test {
namespace {

using nlohmann::json;

json answerWith(std::uint64_t jobs, double age) {
  json page = {{"generation", 7},  {"application", "queue"}, {"pid", 41},
               {"state", "fresh"}, {"age_seconds", age},     {"labels", json::object()}};
  page["metrics"] = {
      {{"name", "jobs_total"},
       {"kind", "counter"},
       {"labels", {{"kind", "mail"}}},
       {"value", jobs}},
      {{"name", "depth"}, {"kind", "gauge"}, {"labels", json::object()}, {"value", 2.5}},
      {{"name", "job_seconds"},
       {"kind", "histogram"},
       {"labels", json::object()},
       {"value", {{"count", 4}, {"sum", 0.4}, {"p50", 0.09}, {"p99", nullptr}}},
       {"exemplars", json::array({{{"time", "2026-11-21T03:12:00Z"},
                                   {"value", 0.2},
                                   {"labels", {{"trace_id", "4bf9\"\n"}}}},
                                  "nonsense",
                                  {{"value", 1}, {"labels", json::object()}},
                                  {{"value", "1"}, {"labels", {{"a", "b"}}}}})}}};
  json agent = {{"agent", "10.0.0.1:20714"},
                {"host", "gpu-1"},
                {"state", "reading"},
                {"problem", nullptr},
                {"interval_seconds", 0.1}};
  agent["pages"] = json::array({page});
  return {{"agents", json::array({agent})}};
}

PagesDocument documentAt(Nanos now, std::uint64_t jobs, double age = 0) {
  return readPagesDocument(answerWith(jobs, age), now).value();
}

const PageMetric& jobs(const PagesDocument& document) {
  return document.at(0).pages.at(0).metrics.at(0);
}

TEST(PagesDocument, takesAgentsPagesAndValues) {
  const auto document = documentAt(5 * kSecond, 12, 0.5);
  const PagesAgent& agent = document.at(0);
  EXPECT_EQ(agent.name(), "gpu-1 (10.0.0.1:20714)");
  EXPECT_EQ(agent.problem, "");
  const ShownPage& page = agent.pages.at(0);
  EXPECT_EQ(page.application, "queue");
  EXPECT_EQ(page.process, "41");
  EXPECT_DOUBLE_EQ(page.read.value(), 4.5);
  EXPECT_EQ(page.metrics.at(0).name, "jobs_total{kind=\"mail\"}");
  EXPECT_EQ(page.metrics[0].count, 12U);
  EXPECT_EQ(page.metrics.at(1).value, 2.5);
  EXPECT_EQ(page.metrics[1].count, std::nullopt);
  EXPECT_EQ(page.metrics.at(2).count, 4U);
  EXPECT_EQ(page.metrics[2].p50, 0.09);
  EXPECT_EQ(page.metrics[2].p99, std::nullopt);
  ASSERT_EQ(page.metrics[2].exemplars.size(), 1U);  // the others are none
  EXPECT_EQ(page.metrics[2].exemplars[0].time, "2026-11-21T03:12:00Z");
  EXPECT_EQ(page.metrics[2].exemplars[0].value, 0.2);
  EXPECT_EQ(page.metrics[2].exemplars[0].labels, "{trace_id=\"4bf9\\\"?\"}");
}

TEST(PagesDocument, ratesAreOfTheTimeBetweenTheReadings) {
  const auto before = documentAt(10 * kSecond, 100, 0.0);
  auto now = documentAt(12 * kSecond, 400, 0.5);  // read at 11.5 s
  setRates(before, now);
  EXPECT_DOUBLE_EQ(jobs(now).rate.value(), 200);
}

TEST(PagesDocument, valuesNotReadAgainKeepTheirRate) {
  auto before = documentAt(10 * kSecond, 100);
  before[0].pages[0].metrics[0].rate = 7;
  auto now = documentAt(11 * kSecond, 100, 0.99);  // the same reading, a little late
  setRates(before, now);
  EXPECT_EQ(jobs(now).rate, 7);
  auto later = documentAt(12 * kSecond, 110);
  setRates(now, later);
  EXPECT_DOUBLE_EQ(jobs(later).rate.value(), 5);  // 10 in the two seconds since the reading
}

TEST(PagesDocument, aCounterThatBeganAnewHasNoRate) {
  const auto before = documentAt(10 * kSecond, 100);
  auto now = documentAt(11 * kSecond, 3);
  setRates(before, now);
  EXPECT_EQ(jobs(now).rate, std::nullopt);
}

TEST(PagesDocument, anotherProcessOnTheSameGenerationHasNoRate) {
  const auto before = documentAt(10 * kSecond, 100);
  json other = answerWith(200, 0);
  other["agents"][0]["pages"][0]["pid"] = 42;
  auto now = readPagesDocument(other, 11 * kSecond).value();
  setRates(before, now);
  EXPECT_EQ(jobs(now).rate, std::nullopt);
}

TEST(PagesDocument, hostileAnswers) {
  for (const char* none : {"null", "[]", "3", "{}", R"({"agents":{}})", R"({"agents":"x"})"}) {
    EXPECT_FALSE(readPagesDocument(json::parse(none), 0).has_value()) << none;
  }
  for (const char* odd :
       {R"({"agents":[1,null,"x",[]]})", R"({"agents":[{"agent":5,"pages":7}]})",
        R"({"agents":[{"pages":[{"metrics":[{"name":[],"labels":3,"value":{}},9]},null,4]}]})",
        R"({"agents":[{"interval_seconds":-1e308,"pages":[{"age_seconds":-4,"pid":-1,
           "metrics":[{"kind":"counter","value":-3},{"kind":"histogram","value":[1]},
                      {"kind":"gauge","value":"1"},{"kind":"counter","value":-0.5}]}]}]})"}) {
    auto document = readPagesDocument(json::parse(odd), kSecond);
    ASSERT_TRUE(document.has_value()) << odd;
    auto again = *document;
    setRates(*document, again);
    for (const PagesAgent& agent : again) {
      for (const ShownPage& page : agent.pages) {
        EXPECT_EQ(page.read, std::nullopt) << odd;
        for (const PageMetric& metric : page.metrics) {
          EXPECT_EQ(metric.count, std::nullopt) << odd;
          EXPECT_EQ(metric.value, std::nullopt) << odd;
        }
      }
    }
  }
}

TEST(PagesDocument, quotesInLabelsAreEscaped) {
  json quoting = answerWith(1, 0);
  quoting["agents"][0]["pages"][0]["metrics"][0]["labels"] = {{"path", "a\"b\\c"}};
  const auto document = readPagesDocument(quoting, 0).value();
  EXPECT_EQ(jobs(document).name, R"(jobs_total{path="a\"b\\c"})");
}

TEST(PagesDocument, countersMayHaveFractions) {
  json early = answerWith(0, 0);
  json late = early;
  early["agents"][0]["pages"][0]["metrics"][0]["value"] = 1.5;
  late["agents"][0]["pages"][0]["metrics"][0]["value"] = 2.5;
  const auto before = readPagesDocument(early, 0).value();
  auto now = readPagesDocument(late, 2 * kSecond).value();
  setRates(before, now);
  EXPECT_EQ(jobs(now).value, 2.5);
  EXPECT_EQ(jobs(now).rate, 0.5);
}

TEST(PagesDocument, takesWarnings) {
  json warning = answerWith(1, 0);
  warning["agents"][0]["warnings"] = {"g is shown as h", 7, "i\n"};
  const auto document = readPagesDocument(warning, 0).value();
  EXPECT_EQ(document[0].warnings, (std::vector<std::string>{"g is shown as h", "i?"}));
}

TEST(PagesDocument, takesAnomalies) {
  json answer = answerWith(1, 0);
  answer["agents"][0]["anomalies"] = {{{"application", "trainer\n"},
                                       {"pid", 7},
                                       {"metric", "step"},
                                       {"part", "p99"},
                                       {"statistic", "peers"},
                                       {"score", 3},
                                       {"value", 0.9},
                                       {"peers", nullptr},
                                       {"usual", 0.3}},
                                      5};
  const auto document = readPagesDocument(answer, 0).value();
  ASSERT_EQ(document[0].anomalies.size(), 2U);
  const PageAnomaly& anomaly = document[0].anomalies[0];
  EXPECT_EQ(anomaly.application, "trainer?");
  EXPECT_EQ(anomaly.process, "7");
  EXPECT_EQ(anomaly.metric, "step p99");
  EXPECT_EQ(anomaly.statistic, "peers");
  EXPECT_EQ(anomaly.score, 3);
  EXPECT_EQ(anomaly.value, 0.9);
  EXPECT_EQ(anomaly.peers, std::nullopt);
  EXPECT_EQ(anomaly.usual, 0.3);
  EXPECT_EQ(document[0].anomalies[1].metric, "");
}

TEST(PagesDocument, textCannotSteerTheTerminal) {
  json steering = answerWith(1, 0);
  json& agent = steering["agents"][0];
  agent["host"] = "a\x1b[2J";
  agent["problem"] = "b\r\n";
  agent["pages"][0]["application"] =
      "c\xc2\x9b"
      "1m";
  agent["pages"][0]["metrics"][0]["labels"] = {{"d\x07", "e\x7f"}};
  const auto document = readPagesDocument(steering, 0).value();
  EXPECT_EQ(document[0].host, "a?[2J");
  EXPECT_EQ(document[0].problem, "b??");
  EXPECT_EQ(document[0].pages[0].application, "c?1m");
  EXPECT_EQ(jobs(document).name, "jobs_total{d?=\"e?\"}");
}

}  // namespace
}  // namespace pingloom::cli::pages_document_test
