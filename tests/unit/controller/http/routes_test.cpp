#include "controller/http/routes.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "controller/http/openapi.h"
#include "http/target.h"

namespace pingloom::controller::routes_test {
namespace {

// The keys below `paths:` of the description: they are indented by two.
std::set<std::string> describedPaths() {
  std::set<std::string> paths;
  std::istringstream lines{std::string(openApi())};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  /") && line.ends_with(":"))
      paths.insert(line.substr(2, line.size() - 3));
  }
  return paths;
}

TEST(Routes, TheDescriptionHasAllAndNoOthers) {
  std::set<std::string> served;
  for (const Route& route : routes()) served.emplace(route.path);
  EXPECT_EQ(describedPaths(), served);
}

TEST(Routes, AFixedPathMatchesWhole) {
  const Route fixed{"/api/v1/grid", nullptr};
  EXPECT_TRUE(fixed.matches("/api/v1/grid"));
  EXPECT_FALSE(fixed.matches("/api/v1/grid/"));
  EXPECT_FALSE(fixed.matches("/api/v1/gri"));
}

TEST(Routes, ParametersMatchAnything) {
  const Route pairs{"/api/v1/pairs/{probe}/{source}/{destination}", nullptr};
  EXPECT_TRUE(pairs.matches("/api/v1/pairs/a/10.0.0.1/fd00::1"));
  EXPECT_TRUE(pairs.matches("/api/v1/pairs/a"));  // which says what is missing
  EXPECT_FALSE(pairs.matches("/api/v1/pairs"));
}

// "" where nothing is refused, otherwise the answer.
std::string refusal(const std::string& target) {
  const auto parsed = http::parseTarget(target);
  http::Request request;
  request.path = parsed->path;
  request.query = parsed->query;
  request.doubled = parsed->doubled;
  for (const Route& route : routes()) {
    if (!route.matches(request.path)) continue;
    const auto refused = refusedParameter(route, request);
    if (!refused) return "";
    EXPECT_EQ(refused->status, 400U) << target;
    return refused->body;
  }
  return "no route";
}

TEST(Routes, KnownParametersAreTaken) {
  for (const char* target :
       {"/api/v1/status?format=csv", "/api/v1/history?format=csv",
        "/api/v1/bursts/0000000000000abc?format=csv", "/api/v1/hosts?format=csv",
        "/api/v1/grid?probe=p&metric=m&format=cells",
        "/api/v1/worst?probe=p&metric=m&sort=-value&count=1&format=csv",
        "/api/v1/history/grid?probe=p&metric=m&at=t&format=cells",
        "/api/v1/history/pairs/p/a/b?from=t&to=t&points=1&path=1&format=csv",
        "/api/v1/counters?host=gpu-1&format=csv",
        "/api/v1/history/counters?host=h&from=t&to=t&limit=1&format=csv",
        "/api/v1/history/events?probe=p&from=t&to=t&source=a&destination=b&limit=1&bins=1",
        "/api/v1/history/paths?probe=p&from=t&to=t&source=a&destination=b&limit=1&format=csv"}) {
    EXPECT_EQ(refusal(target), "") << target;
  }
}

TEST(Routes, UnknownParametersAreNamed) {
  EXPECT_THAT(refusal("/api/v1/grid?probe=p&metric=network_p50&at=2026-01-01T00:00:00Z"),
              testing::HasSubstr("unknown parameter 'at'"));
  EXPECT_THAT(refusal("/api/v1/session?format=csv"), testing::HasSubstr("'format'"));
  EXPECT_THAT(refusal("/api/v1/pairs/p/a/b?path=9"), testing::HasSubstr("'path'"));
  EXPECT_THAT(refusal("/api/v1/bursts/0000000000000000?x"), testing::HasSubstr("'x'"));
  EXPECT_THAT(refusal("/api/v1/grid?metrc=loss"), testing::HasSubstr("did you mean 'metric'"));
}

TEST(Routes, DoubledParametersAreNamed) {
  EXPECT_THAT(refusal("/api/v1/grid?probe=p&metric=a&metric=b"),
              testing::HasSubstr("'metric' is given twice"));
}

TEST(Routes, WhatIsNotOfTheApiTakesAnyParameter) {
  EXPECT_EQ(refusal("/metrics?a=1&a=2"), "");
  EXPECT_EQ(refusal("/healthz?now"), "");
}

TEST(Routes, ATableWithoutLinesHasAHead) {
  for (const Route& route : routes()) {
    if (route.csv == nullptr || route.csv->array.empty() || route.csv->array == kMembers) continue;
    http::Response empty;
    empty.body = "{\"" + std::string(route.csv->array) + "\":[]}";
    const auto answer = asCsv(std::move(empty), *route.csv);
    EXPECT_THAT(std::get<http::Response>(answer).body, testing::MatchesRegex("[a-z].*,[a-z].*\r\n"))
        << route.path;
  }
}

}  // namespace
}  // namespace pingloom::controller::routes_test
