#include "controller/http/routes.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "controller/http/openapi.h"

namespace pingloom::controller {
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

}  // namespace
}  // namespace pingloom::controller
