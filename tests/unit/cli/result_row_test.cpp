#include "cli/result_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/text_table.h"

namespace pingloom::cli::result_row_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ResultRow row(const std::string& json) { return {"udp", "10.0.0.1", "10.0.0.2", json}; }

constexpr const char* kWhole =
    R"({"start":"2026-11-21T03:12:00Z","end":"2026-11-21T03:12:10Z","state":"loss","sent":10,)"
    R"("received":9,"lost":1,"refused":0,"unreachable":0,"ack_lost":2,"duplicate":3,"late":1,)"
    R"("anomalous":{"stalled":4},)"
    R"("network_ns":{"min":1,"mean":2,"p50":3100,"p95":4,"p99":5,"max":6},)"
    R"("rtt_ns":{"min":11,"mean":12,"p50":13,"p95":14,"p99":15,"max":16},"jitter_ns":7,)"
    R"("clock":"kernel","device":"eth0, \"blue\"","protocol":"udp"})";

std::size_t commas(const std::string& text) { return std::count(text.begin(), text.end(), ','); }

TEST(ResultRow, jsonHasTheIdentityInFrontAndStaysOneLine) {
  const auto line = resultJson(row(R"({"state":"ok","note":"a\nb"})"));
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(
      *line,
      R"({"probe":"udp","source":"10.0.0.1","destination":"10.0.0.2","state":"ok","note":"a\nb"})");
}

TEST(ResultRow, csvKeepsItsColumns) {
  const auto line = csvLine(row(kWhole));
  ASSERT_TRUE(line.has_value());
  EXPECT_THAT(csvHeader(), StartsWith("probe,source,destination,start,end,state,protocol,clock,"
                                      "device,sent,received,lost,"));
  EXPECT_EQ(*line,
            "udp,10.0.0.1,10.0.0.2,2026-11-21T03:12:00Z,2026-11-21T03:12:10Z,loss,udp,kernel,"
            "\"eth0, \"\"blue\"\"\",10,9,1,0,0,2,3,1,4,0,0,0,1,2,3100,4,5,6,,,,,,,,,,,,,"
            "11,12,13,14,15,16,7,,,");
  EXPECT_EQ(commas(csvHeader()) + 1, commas(*line));  // one more is inside the quotes
}

TEST(ResultRow, whatIsJudgedIsShownAndMayBeAbsent) {
  const ResultRow judged = row(R"({"state":"ok","severity":"very slow",)"
                               R"("because":["network_p50 2.4 ms","rtt, too\u001b"]})");
  EXPECT_EQ(resultTableCells(judged)->at(4), "very slow");
  EXPECT_EQ(resultTableCells(judged)->back(), "network_p50 2.4 ms; rtt, too?");
  EXPECT_THAT(*csvLine(judged),
              testing::EndsWith(",very slow,\"network_p50 2.4 ms; rtt, too\x1b\""));
  const ResultRow older = row(R"({"state":"loss"})");
  EXPECT_EQ(resultTableCells(older)->at(3), "loss");
  EXPECT_EQ(resultTableCells(older)->at(4), "-");
  EXPECT_EQ(resultTableCells(row(R"({"severity":[1],"because":3})"))->at(4), "-");
}

TEST(ResultRow, aPathIsShownBesideItsAddress) {
  const ResultRow path{"rail", "10.0.0.1", "10.0.0.2#3", R"({"state":"ok","path":3})"};
  EXPECT_EQ(*resultJson(path), R"({"probe":"rail","source":"10.0.0.1","destination":"10.0.0.2",)"
                               R"("state":"ok","path":3})");
  EXPECT_THAT(*csvLine(path), StartsWith("rail,10.0.0.1,10.0.0.2,"));
  EXPECT_THAT(*csvLine(path), testing::EndsWith(",3,,"));
  EXPECT_EQ(resultTableCells(path)->at(2), "10.0.0.2#3");
}

TEST(ResultRow, csvOfARowWithoutFieldsHasEmptyColumns) {
  const auto line = csvLine(row("{}"));
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(commas(*line), commas(csvHeader()));
}

TEST(ResultRow, tableHasUnitsAndADashForWhatIsAbsent) {
  const auto cells = resultTableCells(row(kWhole));
  ASSERT_TRUE(cells.has_value());
  ASSERT_EQ(cells->size(), resultTableHeader().size());
  EXPECT_EQ((*cells)[7], "3.10 us");
  EXPECT_EQ(resultTableCells(row(R"({"state":"pending"})"))->at(7), "-");
}

TEST(ResultRow, whatIsNotARowIsAnErrorThatNamesTheKey) {
  for (const char* bad : {"", "[]", "12", "{\"state\":", "\xff"}) {
    const auto line = resultJson(row(bad));
    ASSERT_FALSE(line.has_value()) << bad;
    EXPECT_THAT(line.error().text(), HasSubstr("pingloom:latest:udp:10.0.0.1 10.0.0.2"));
    EXPECT_FALSE(csvLine(row(bad)).has_value());
    EXPECT_FALSE(resultTableCells(row(bad)).has_value());
  }
}

TEST(ResultRow, fieldsOfAnotherKindDoNotReachTheTerminal) {
  const auto cells = resultTableCells(row("{\"state\":\"\\u001b[2Jx\",\"network_ns\":[1]}"));
  ASSERT_TRUE(cells.has_value());
  EXPECT_EQ((*cells)[3], "?[2Jx");
  EXPECT_EQ((*cells)[7], "-");
}

TEST(TextTable, columnsGrowAndLinesHaveNoTrailingBlanks) {
  TextTable table({"A", "LONG", "B"});
  table.fit({"xxxx", "y", ""});
  EXPECT_EQ(table.header(), "A     LONG  B");
  EXPECT_EQ(table.line({"xxxx", "y", ""}), "xxxx  y");
}

}  // namespace
}  // namespace pingloom::cli::result_row_test
