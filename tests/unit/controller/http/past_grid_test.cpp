#include "controller/http/past_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "controller/history/ledger.h"
#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::past_grid_test {
namespace {

using Json = nlohmann::json;
using test::goodRow;
using test::ip;
using test::lossRow;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;
constexpr std::uint64_t kIndex = kUtc / (10 * kSecond);

// Two hosts; 10.0.0.1 has three windows to 10.0.0.2: 9 us, 36 us, all lost.
class PastGridTest : public testing::Test {
 protected:
  PastGridTest() {
    const auto file = folder_ / "history.sqlite";
    auto ledger = Ledger::open({file, 365 * 24 * kHour, 1ULL << 30}, kUtc);
    EXPECT_TRUE(ledger) << ledger.error().text();
    std::uint64_t sequence = 0;
    for (const auto& row :
         {goodRow("10.0.0.2"), goodRow("10.0.0.2", 36'000), lossRow("10.0.0.2")}) {
      const std::vector<LedgerBatch> batches = {test::ledgerBatchOf(
          {1, sequence + 1}, test::reportOf("mesh", "10.0.0.1", kIndex + sequence, {row}))};
      EXPECT_TRUE((*ledger)->commit(batches, kUtc));
      ++sequence;
    }
    const std::vector<SeverityRecord> severities = {
        {kUtc, "mesh", ip("10.0.0.1"), std::string(1, '\1')},
        {kUtc + 10 * kSecond, "mesh", ip("10.0.0.1"), std::string(1, '\3')},
        {kUtc + 20 * kSecond, "mesh", ip("10.0.0.1"), std::string(1, '\2')}};
    EXPECT_TRUE((*ledger)->record({}, {}, {}, severities));
    reader_.emplace(file);
  }

  http::Response ask(std::map<std::string, std::string> query) {
    http::Request request;
    request.path = "/api/v1/history/grid";
    request.query = std::move(query);
    request.query.try_emplace("probe", "mesh");
    request.query.try_emplace("metric", "network_p50");
    auto answer = pastGridOf(request);
    if (auto* const now = std::get_if<http::Response>(&answer)) return std::move(*now);
    std::promise<http::Response> promise;
    std::get<http::Later>(answer)(
        [&](http::Response response) { promise.set_value(std::move(response)); });
    return promise.get_future().get();
  }
  static std::optional<std::string> pieceOf(const http::Response& response) {
    std::promise<std::optional<std::string>> promise;
    response.stream->next(
        [&](std::optional<std::string> made) { promise.set_value(std::move(made)); });
    return promise.get_future().get();
  }
  // Returns all pieces together.
  static std::string bodyOf(const http::Response& response) {
    std::string body;
    for (auto piece = pieceOf(response); piece && !piece->empty(); piece = pieceOf(response)) {
      body += *piece;
    }
    return body;
  }
  Json askJson(std::map<std::string, std::string> query) {
    const auto response = ask(std::move(query));
    EXPECT_EQ(response.status, 200U) << response.body;
    return Json::parse(bodyOf(response));
  }
  http::Answer pastGridOf(const http::Request& request) {
    return api::pastGrid(plan_, *reader_, request);
  }

  test::TemporaryDirectory folder_;
  std::shared_ptr<const GridPlan> plan_ = makeGridPlan(
      test::pinglistOf("  - { name: mesh, protocol: udp, mesh: ['10.0.0.[1-2]'] }\n"), 1);
  std::optional<HistoryReader> reader_;
};

TEST_F(PastGridTest, ShowsWhatWasJudgedThen) {
  const Json first = askJson({{"at", "2026-11-21T03:12:05Z"}});
  EXPECT_EQ(first["severities"][0], Json({nullptr, "ok"}));
  EXPECT_EQ(first["severities"][1], Json({"none", nullptr})) << "it has no window";
  const Json second = askJson({{"at", "2026-11-21T03:12:15Z"}});
  EXPECT_EQ(second["severities"][0][1], "very slow");
  EXPECT_EQ(second["states"][0][1], "ok");
}

TEST_F(PastGridTest, IsTheDifferenceToAnotherTime) {
  const std::map<std::string, std::string> query = {{"at", "2026-11-21T03:12:15Z"},
                                                    {"against", "2026-11-21T03:12:05Z"}};
  const Json json = askJson(query);
  EXPECT_EQ(json["against"], "2026-11-21T03:12:05Z");
  EXPECT_NEAR(json["values"][0][1].get<double>(), 27'000, 27'000 * 0.03);
  EXPECT_EQ(json["values"][1][0], nullptr);
  EXPECT_EQ(json["severities"][0][1], "very slow");
  const Json back = askJson({{"at", query.at("against")}, {"against", query.at("at")}});
  EXPECT_NEAR(back["values"][0][1].get<double>(), -27'000, 27'000 * 0.03);
  const Json loss = askJson(
      {{"at", "2026-11-21T03:12:25Z"}, {"against", "2026-11-21T03:12:15Z"}, {"metric", "loss"}});
  EXPECT_EQ(loss["values"][0][1], 1);
  auto cells = query;
  cells["format"] = "cells";
  const std::string bytes = bodyOf(ask(cells));
  ASSERT_EQ(bytes.size(), 16U + 2 * (16 + 4));
  EXPECT_NEAR(static_cast<unsigned char>(bytes[16 + 16 + 3]), 128 + 127 * std::log10(4.0) / 3, 2);
}

TEST_F(PastGridTest, IsTheWorstOfAWhile) {
  const Json json = askJson({{"worst", "1h"}, {"at", "2026-11-21T03:12:25Z"}});
  EXPECT_EQ(json["severities"][0][1], "very slow");
  EXPECT_NEAR(json["values"][0][1].get<double>(), 36'000, 36'000 * 0.03)
      << "the pair became very slow in the second window, and lost all in the last one";
  EXPECT_EQ(json["worst_of_ns"], kHour);
  const Json newest = askJson({{"worst", "1m"}});
  EXPECT_EQ(newest["severities"][0][1], "very slow");
  EXPECT_EQ(newest["window"]["start"], "2026-11-21T03:12:10Z") << "every source has that one";
  EXPECT_EQ(newest["severities"][1][0], "none");
  EXPECT_EQ(newest["values"][1][0], nullptr);
  const Json loss = askJson({{"worst", "1h"}, {"at", "2026-11-21T03:12:25Z"}, {"metric", "loss"}});
  EXPECT_EQ(loss["values"][0][1], 1) << "it is the time's own window";
  const Json before = askJson({{"worst", "1m"}, {"at", "2026-11-21T03:12:05Z"}});
  EXPECT_NEAR(before["values"][0][1].get<double>(), 9'000, 9'000 * 0.03) << "nothing was bad yet";
}

TEST_F(PastGridTest, WhatWasBadBeforeTheWorstOfAWhileCounts) {
  // The third window's record is in force when the minute that is asked for begins.
  auto ledger = Ledger::open({folder_ / "history.sqlite", 365 * 24 * kHour, 1ULL << 30}, kUtc);
  const auto commit = [&](std::uint64_t window, std::uint64_t network) {
    const std::vector<LedgerBatch> batches = {test::ledgerBatchOf(
        {1, 10 + window},
        test::reportOf("mesh", "10.0.0.1", kIndex + window, {goodRow("10.0.0.2", network)}))};
    EXPECT_TRUE((*ledger)->commit(batches, kUtc));
  };
  commit(3, 50'000);
  commit(8, 20'000);
  const std::vector<SeverityRecord> severities = {
      {kUtc + 70 * kSecond, "mesh", ip("10.0.0.1"), std::string(1, '\1')}};
  ASSERT_TRUE((*ledger)->record({}, {}, {}, severities));
  const Json json = askJson({{"worst", "1m"}, {"at", "2026-11-21T03:13:25Z"}});
  EXPECT_EQ(json["severities"][0][1], "slow");
  EXPECT_NEAR(json["values"][0][1].get<double>(), 50'000, 50'000 * 0.03);
}

TEST_F(PastGridTest, RefusesWhatMakesNoSense) {
  for (const auto& query : std::vector<std::map<std::string, std::string>>{
           {},
           {{"worst", "1h"}, {"against", "2026-11-21T03:12:05Z"}},
           {{"worst", "1s"}},
           {{"worst", "x"}},
           {{"against", "yesterday"}}}) {
    EXPECT_EQ(ask(query).status, 400U);
  }
}

TEST_F(PastGridTest, AsCsvItComesInPieces) {
  const auto response = ask({{"at", "2026-11-21T03:12:15Z"}, {"format", "csv"}});
  ASSERT_NE(response.stream, nullptr);
  const auto first = pieceOf(response);
  ASSERT_TRUE(first);
  EXPECT_THAT(*first, testing::HasSubstr("10.0.0.2,10.0.0.2,ok,"));
  EXPECT_THAT(*first, testing::HasSubstr(",very slow,2026-11-21T03:12:20Z\r\n"));
  EXPECT_EQ(pieceOf(response), "");
  reader_->stop();
  EXPECT_EQ(pieceOf(response), std::nullopt) << "it can be read no further";
}

// 400 hosts: the document is larger than a piece, and so is each matrix in it.
TEST_F(PastGridTest, AsJsonItComesInPiecesToo) {
  plan_ = makeGridPlan(
      test::pinglistOf("  - { name: mesh, protocol: udp, mesh: ['10.0.[0-1].[1-200]'] }\n"), 1);
  const auto response = ask({{"at", "2026-11-21T03:12:15Z"}});
  ASSERT_NE(response.stream, nullptr);
  EXPECT_EQ(response.content_type, "application/json");
  std::string body;
  std::size_t pieces = 0;
  for (auto piece = pieceOf(response); piece && !piece->empty(); piece = pieceOf(response)) {
    EXPECT_LT(piece->size(), 280'000U);
    body += *piece;
    ++pieces;
  }
  EXPECT_GT(pieces, 10U);
  const Json json = Json::parse(body);
  for (const char* matrix : {"values", "states", "severities"}) {
    ASSERT_EQ(json[matrix].size(), 400U) << matrix;
    for (const Json& line : json[matrix]) ASSERT_EQ(line.size(), 400U) << matrix;
  }
  EXPECT_EQ(json["states"][0][1], "ok");
  EXPECT_EQ(json["states"][399][398], "stale");  // nobody recorded who was there
  EXPECT_EQ(json["severities"][0][1], "very slow");
  EXPECT_EQ(json["window"]["end"], "2026-11-21T03:12:20Z");
  const auto stopped = ask({{"at", "2026-11-21T03:12:15Z"}});
  EXPECT_TRUE(pieceOf(stopped));
  reader_->stop();
  EXPECT_EQ(pieceOf(stopped), std::nullopt) << "what follows cannot be read";
}

}  // namespace
}  // namespace pingloom::controller::past_grid_test
