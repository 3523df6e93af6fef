#include "controller/http/csv.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "controller/http/api.h"
#include "unit/controller/http/small_board.h"

namespace pingloom::controller::csv_test {
namespace {

using Json = nlohmann::json;

std::string field(std::string_view text) {
  std::string out;
  appendCsvField(out, text);
  return out;
}

std::string csvOf(std::string body, std::string_view array, std::string_view columns = "") {
  http::Response response;
  response.body = std::move(body);
  const auto answer = asCsv(std::move(response), CsvTable{array, columns});
  return std::get<http::Response>(answer).body;
}

TEST(Csv, FieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(field("gpu-001"), "gpu-001");
  EXPECT_EQ(field("a,b"), "\"a,b\"");
  EXPECT_EQ(field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(field(""), "");
}

TEST(Csv, NothingIsAFormula) {
  EXPECT_EQ(field("=1+1"), "'=1+1");
  EXPECT_EQ(field("@cmd,\"x\""), "\"'@cmd,\"\"x\"\"\"");
}

TEST(Csv, ALineForEachObjectWithAllColumns) {
  EXPECT_EQ(csvOf(R"({"rows":[{"a":1,"b":{"p50":2}},{"a":null,"c":["x"]}]})", "rows"),
            "a,b.p50,c\r\n1,2,\r\n,,\"[\"\"x\"\"]\"\r\n");
  EXPECT_EQ(csvOf(R"({"a":"x","b":true})", ""), "a,b\r\nx,true\r\n");
}

TEST(Csv, WhatIsNoTableHasALineForEachMember) {
  EXPECT_EQ(csvOf(R"({"a":1,"b":{"c":null,"d":{"e":"=x"}},"f":["g","h"]})", kMembers, "name,value"),
            "name,value\r\na,1\r\nb.c,\r\nb.d.e,'=x\r\nf,\"[\"\"g\"\",\"\"h\"\"]\"\r\n");
}

TEST(Csv, FixedColumnsComeFirstWithLinesOrWithout) {
  EXPECT_EQ(csvOf(R"({"rows":[]})", "rows", "a,b.p50"), "a,b.p50\r\n");
  EXPECT_EQ(csvOf(R"({"rows":[{"c":3,"b":{"p50":2}}]})", "rows", "a,b.p50"),
            "a,b.p50,c\r\n,2,3\r\n");
}

TEST(Csv, ErrorsStayJson) {
  const auto answer = asCsv(http::errorResponse(404, "no such pair"), {"rows", "a"});
  EXPECT_EQ(std::get<http::Response>(answer).content_type, "application/json");
}

TEST(Csv, LateAnswersAreConvertedToo) {
  const auto answer = asCsv(http::Later([](const http::Respond& respond) {
                              http::Response response;
                              response.body = R"({"rows":[{"a":1}]})";
                              respond(std::move(response));
                            }),
                            {"rows", ""});
  std::string body;
  std::get<http::Later>(answer)([&body](const http::Response& response) { body = response.body; });
  EXPECT_EQ(body, "a\r\n1\r\n");
}

TEST(Csv, AnotherFormatIsRefused) {
  http::Request request;
  EXPECT_FALSE(*wantsCsv(request));
  request.query["format"] = "xml";
  EXPECT_EQ(wantsCsv(request).error().status, 400U);
}

TEST(Csv, TheAcceptHeaderAsksForItToo) {
  http::Request request;
  request.accept = "text/csv";
  EXPECT_TRUE(*wantsCsv(request));
  request.accept = "*/*";
  EXPECT_FALSE(*wantsCsv(request));
  request.accept = "text/csv";
  request.query["format"] = "json";
  EXPECT_FALSE(*wantsCsv(request)) << "what is written out counts";
}

std::string allOf(http::BodyStream& stream) {
  std::string all;
  for (bool more = true; more;) {
    stream.next([&](const std::optional<std::string>& piece) {
      EXPECT_TRUE(piece);
      more = piece && !piece->empty();
      if (more) all += *piece;
    });
  }
  return all;
}

struct BoardCsvTest : testing::Test {
  BoardCsvTest() {
    small.publishPlan();
    small.publishFirstSource();
    request.query = {{"probe", "rack"}, {"metric", "network_p50"}};
  }
  SmallBoard small;
  http::Request request;
};

TEST_F(BoardCsvTest, AGridHasALineForEachPair) {
  request.query["format"] = "csv";
  small.judgeFirstSource({Severity::kNone, Severity::kOk, Severity::kLossy});
  const auto response = api::grid(small.board, request);
  EXPECT_EQ(response.content_type, kCsvType);
  ASSERT_NE(response.stream, nullptr);
  EXPECT_EQ(allOf(*response.stream),
            "source,source_name,destination,destination_name,state,network_p50_ns,severity,"
            "window_end\r\n"
            "10.0.0.1,\"gpu \"\"one\"\"\",10.0.0.2,10.0.0.2,ok,5000,ok,2026-11-21T03:12:10Z\r\n"
            "10.0.0.1,\"gpu \"\"one\"\"\",10.0.0.3,10.0.0.3,loss,7000,lossy,"
            "2026-11-21T03:12:10Z\r\n"
            "10.0.0.2,10.0.0.2,10.0.0.1,\"gpu \"\"one\"\"\",pending,,none,\r\n"
            "10.0.0.2,10.0.0.2,10.0.0.3,10.0.0.3,pending,,none,\r\n"
            "10.0.0.3,10.0.0.3,10.0.0.1,\"gpu \"\"one\"\"\",pending,,none,\r\n"
            "10.0.0.3,10.0.0.3,10.0.0.2,10.0.0.2,pending,,none,\r\n");
}

// 600 x 600 names of 4 KB, each with each: more than 6 GB.
TEST_F(BoardCsvTest, AGridIsSentInPiecesHoweverLargeItIs) {
  auto plan = std::make_shared<GridPlan>(*small.board.plan());
  auto pinglist = std::make_shared<pinglist::Pinglist>(*plan->pinglist);
  plan->probes[0].sources.clear();
  for (std::uint32_t i = 1; i <= 600; ++i) {
    plan->probes[0].sources.push_back(IpAddress::fromV4(0x0a000000 + i));
    pinglist->names[plan->probes[0].sources.back()] = std::string(4096, '"');
  }
  plan->probes[0].destinations = plan->probes[0].sources;
  plan->pinglist = pinglist;
  small.board.publishPlan(plan);
  request.query["format"] = "csv";
  const auto response = api::grid(small.board, request);
  ASSERT_NE(response.stream, nullptr);
  for (int i = 0; i < 3; ++i) {
    response.stream->next([](const std::optional<std::string>& piece) {
      ASSERT_TRUE(piece);
      EXPECT_GT(piece->size(), 599U * 2 * 8192);
      EXPECT_LT(piece->size(), 600U * 2 * 8300) << "a source at a time";
    });
  }
  request.query["format"] = "json";
  const Json json = Json::parse(api::grid(small.board, request).body);
  EXPECT_EQ(json["source_names"][599], std::string(4096, '"'));
}

TEST_F(BoardCsvTest, ANewPlanEndsAGrid) {
  request.query["format"] = "csv";
  const auto response = api::grid(small.board, request);
  small.publishPlan();
  response.stream->next([](const std::optional<std::string>& piece) { EXPECT_FALSE(piece); });
}

TEST_F(BoardCsvTest, TheWorstPairsComeFirst) {
  request.query["count"] = "3";
  const auto csv = csvOf(api::worst(small.board, request).body, "pairs");
  EXPECT_EQ(csv,
            "source,source_name,destination,destination_name,state,severity,value\r\n"
            "10.0.0.1,\"gpu \"\"one\"\"\",10.0.0.3,10.0.0.3,loss,none,7000\r\n"
            "10.0.0.2,10.0.0.2,10.0.0.1,\"gpu \"\"one\"\"\",pending,none,\r\n"
            "10.0.0.2,10.0.0.2,10.0.0.3,10.0.0.3,pending,none,\r\n");
}

// The other columns than the state: the first ones of all pairs by it.
TEST_F(BoardCsvTest, TheFirstOnesByAnyColumnAreOfAllPairs) {
  small.publishSource(0, 2, {SmallBoard::measured(6000), SmallBoard::measured(90), Row()},
                      {PairState::kOk, PairState::kOk, std::nullopt});
  request.query["count"] = "2";
  const auto firstBy = [this](const std::string& sort) {
    request.query["sort"] = sort;
    const Json json = Json::parse(api::worst(small.board, request).body);
    EXPECT_EQ(json["sort"], sort);
    EXPECT_EQ(json["total"], 6);
    EXPECT_EQ(json["pairs"].size(), 2U);
    std::string pairs;
    for (const Json& pair : json["pairs"]) {
      pairs += pair["source"].get<std::string>().back();
      pairs += pair["destination"].get<std::string>().back();
      pairs += ' ';
    }
    return pairs;
  };
  EXPECT_EQ(firstBy("-state"), "13 21 ");
  EXPECT_EQ(firstBy("state"), "31 12 ") << "the larger value is the worse there, too";
  EXPECT_EQ(firstBy("-value"), "13 31 ");
  EXPECT_EQ(firstBy("value"), "32 12 ") << "those without come last";
  EXPECT_EQ(firstBy("source"), "21 23 ") << "10.0.0.1 is called gpu";
  EXPECT_EQ(firstBy("-source"), "13 12 ");
  EXPECT_EQ(firstBy("destination"), "12 32 ") << "of one destination the worst first";
  EXPECT_EQ(firstBy("-destination"), "21 31 ");
}

TEST_F(BoardCsvTest, AnotherSortIsRefused) {
  for (const char* sort : {"", "-", "name", "--value", "State", "value "}) {
    request.query["sort"] = sort;
    EXPECT_EQ(api::worst(small.board, request).status, 400U) << sort;
  }
}

TEST_F(BoardCsvTest, HowManyOfTheWorstIsBounded) {
  for (const char* count : {"0", "10001", "-1", "x"}) {
    request.query["count"] = count;
    EXPECT_EQ(api::worst(small.board, request).status, 400U) << count;
  }
}

}  // namespace
}  // namespace pingloom::controller::csv_test
