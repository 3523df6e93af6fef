// What a collector says of the metric pages it reads (GET /api/v1/pages), as values to be shown.
// Everything comes from outside: what is missing or of another kind is left out, and all text is
// printable. Plain values.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::cli {

struct PageMetric {
  std::string name;  // with its labels: jobs_total{kind="mail"}
  std::string kind;
  std::optional<std::uint64_t> count;  // of counters and histograms
  std::optional<double> value;         // of gauges; the sum of histograms
  std::optional<double> p50;           // of histograms
  std::optional<double> p99;
  std::optional<double> rate;  // of the count, per second; setRates() knows it
};

struct ShownPage {
  std::string key;  // no two pages of an agent have the same one
  std::string application;
  std::string process;
  std::string state;
  std::optional<double> read;  // monotonic seconds of this host: when the values were
  std::vector<PageMetric> metrics;
};

struct PagesAgent {
  std::string agent;  // ADDRESS:PORT
  std::string host;   // "" until it has said so
  std::string state;
  std::string problem;  // "" where there is none
  double interval = 0;  // seconds between two rounds of reading
  std::vector<ShownPage> pages;

  std::string name() const { return host.empty() ? agent : host + " (" + agent + ")"; }
};

using PagesDocument = std::vector<PagesAgent>;

// `now`: monotonic, when the answer came. An error: it is none of a collector.
Result<PagesDocument> readPagesDocument(const nlohmann::json& json, Nanos now);

// Gives the counts of `now` their rates since `before`. Values that have not been read again since
// then keep the rate they had.
void setRates(const PagesDocument& before, PagesDocument& now);

}  // namespace pingloom::cli
