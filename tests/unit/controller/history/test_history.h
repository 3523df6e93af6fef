// A history of a test's own: a file in a temporary folder, or, where PINGLOOM_TEST_POSTGRES names
// the folder of a PostgreSQL server's socket (tests/integration/postgres.py), a database there.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "controller/cluster/cluster_tables.h"
#include "controller/history/ledger_tables.h"
#include "controller/history/past_source.h"
#include "unit/common/temporary_directory.h"

namespace pingloom::controller::test {

// What a window counted of one destination.
inline const PairCounts& countsAt(const PastWindow& window, std::size_t destination) {
  return std::find_if(window.counts.begin(), window.counts.end(),
                      [&](const CountRun& run) { return destination < run.end; })
      ->counts;
}

class TestHistory {
 public:
  TestHistory() {
    if (!onPostgres()) return;
    static int made = 0;
    name_ = fmt::format("test_{}_{}", ::getpid(), ++made);
    onServer("CREATE DATABASE " + name_);
    const auto status = initHistory(place());
    EXPECT_TRUE(status) << status.error().text();
    const auto cluster = initCluster(place());
    EXPECT_TRUE(cluster) << cluster.error().text();
  }
  TestHistory(const TestHistory&) = delete;
  TestHistory& operator=(const TestHistory&) = delete;
  ~TestHistory() {
    if (!name_.empty()) onServer("DROP DATABASE " + name_ + " WITH (FORCE)");
  }

  static bool onPostgres() { return std::getenv("PINGLOOM_TEST_POSTGRES") != nullptr; }
  HistoryPlace place() const { return onPostgres() ? at(name_) : HistoryPlace(file()); }
  std::filesystem::path file() const { return folder_ / "history.sqlite"; }
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  static HistoryPlace at(const std::string& database) {
    PostgresPlace place;
    place.servers.push_back({std::getenv("PINGLOOM_TEST_POSTGRES"), 5432});
    place.database = database;
    place.user = "postgres";
    return place;
  }
  static void onServer(const std::string& sql) {
    auto server = Database::open(at("postgres"));
    ASSERT_TRUE(server) << server.error().text();
    const auto status = server->execute(sql.c_str());
    EXPECT_TRUE(status) << status.error().text();
  }

  pingloom::test::TemporaryDirectory folder_;
  std::string name_;
};

}  // namespace pingloom::controller::test
