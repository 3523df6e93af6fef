// The metric pages that a collector reads (GET /api/v1/pages), as values to display. The document
// comes from outside: fields that are missing or have a wrong type are left out, and all text is
// made printable. Plain values.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::cli {

// A value that a metric was given, with the trace that it belongs to.
struct PageExemplar {
  std::string time;    // as "2026-11-21T03:12:00Z"
  std::string labels;  // {trace_id="4bf9"}
  double value = 0;
};

struct PageMetric {
  std::string name;  // includes the labels: jobs_total{kind="mail"}
  std::string kind;
  std::optional<std::uint64_t> count;  // counters, histograms and summaries have one
  // A gauge's or fractional counter's value, or the sum of a histogram or summary.
  std::optional<double> value;
  std::optional<double> p50;   // histograms; summaries that have it
  std::optional<double> p99;   // the same
  std::optional<double> rate;  // growth of `count` per second; set by setRates()
  std::vector<PageExemplar> exemplars;
};

struct ShownPage {
  std::string key;  // unique among the pages of an agent
  std::string application;
  std::string process;
  std::string state;
  std::optional<double> read;  // when the values were read, in this host's monotonic seconds
  std::vector<PageMetric> metrics;
};

// A metric that explains an anomaly of an application.
struct PageAnomaly {
  std::string application;
  std::string process;
  std::string metric;  // with its labels, and with its part if it is of a histogram
  std::string statistic;
  std::optional<double> score;
  std::optional<double> value;
  std::optional<double> peers;  // the median of its replicas, if it was compared with them
  std::optional<double> usual;  // at this time of former days, if it was compared with them
};

struct PagesAgent {
  std::string agent;  // ADDRESS:PORT
  std::string host;   // "" until the agent has sent it
  std::string state;
  std::string problem;                // "" when there is none
  std::vector<std::string> warnings;  // metrics that /metrics shows under another name, and why
  std::vector<PageAnomaly> anomalies;
  double interval = 0;  // seconds between two rounds of reading
  std::vector<ShownPage> pages;

  std::string name() const { return host.empty() ? agent : host + " (" + agent + ")"; }
};

using PagesDocument = std::vector<PagesAgent>;

// Parses a collector's answer, which arrived at the monotonic time `now`. The result is an error
// when the document is not from a collector.
Result<PagesDocument> readPagesDocument(const nlohmann::json& json, Nanos now);

// Sets the rates in `now` from the growth since `before`. Values that have not been read again
// since then keep their previous rate.
void setRates(const PagesDocument& before, PagesDocument& now);

}  // namespace pingloom::cli
