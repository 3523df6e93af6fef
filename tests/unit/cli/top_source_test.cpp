#include "cli/top_source.h"

#include <gtest/gtest.h>

namespace pingloom::cli::top_source_test {
namespace {

constexpr const char* kGrid =
    R"({"probe":"udp","sources":["10.0.0.1","10.0.0.2"],"destinations":["10.0.0.2"],)"
    R"("values":[[1500],[null]],"states":[["ok"],[null]]})";

TEST(TopSource, takesValuesAndStates) {
  TopGrid grid;
  ASSERT_TRUE(addFigure(kGrid, TopSort::kLoss, grid).has_value());
  const auto& loss = grid.figures[static_cast<std::size_t>(TopSort::kLoss)];
  ASSERT_EQ(loss.size(), 2U);
  EXPECT_EQ(loss[0], 1500);
  EXPECT_EQ(loss[1], std::nullopt);
  EXPECT_EQ(grid.states[0], PairState::kOk);
  EXPECT_EQ(grid.states[1], std::nullopt);
}

TEST(TopSource, aGridOfAnotherShapeIsRefused) {
  TopGrid grid;
  ASSERT_TRUE(addFigure(kGrid, TopSort::kLoss, grid).has_value());
  const char* other =
      R"({"sources":["10.0.0.1"],"destinations":["10.0.0.2"],"values":[[1]],"states":[["ok"]]})";
  EXPECT_FALSE(addFigure(other, TopSort::kRtt, grid).has_value());
}

TEST(TopSource, takesWhatIsJudged) {
  const auto judged = [](const std::string& severities) {
    std::string text = kGrid;
    text.insert(text.size() - 1, ",\"severities\":" + severities);
    TopGrid grid;
    EXPECT_TRUE(addFigure(text, TopSort::kLoss, grid).has_value()) << severities;
    return grid;
  };
  const TopGrid grid = judged(R"([["very slow"],[null]])");
  EXPECT_EQ(grid.severity(0), Severity::kVerySlow);
  EXPECT_EQ(grid.severity(1), std::nullopt);
  EXPECT_EQ(judged("null").severity(0), std::nullopt) << "a past time";
  EXPECT_EQ(judged(R"([["odd"],[7]])").severity(0), std::nullopt);
  TopGrid older;
  ASSERT_TRUE(addFigure(kGrid, TopSort::kLoss, older).has_value());
  EXPECT_EQ(older.severity(0), std::nullopt);
}

TEST(TopSource, hostileAnswers) {
  for (const char* bad :
       {"", "[]", "{", R"({"sources":3})", R"({"sources":[1],"destinations":[]})",
        R"({"sources":["a"],"destinations":["b"],"values":[],"states":[["ok"]]})",
        R"({"sources":["a"],"destinations":["b"],"values":[[1,2]],"states":[["ok"]]})",
        R"({"sources":["a"],"destinations":["b"],"values":[[1]],"states":["ok"]})"}) {
    TopGrid grid;
    EXPECT_FALSE(addFigure(bad, TopSort::kLoss, grid).has_value()) << bad;
  }
}

TEST(TopSource, unknownStatesAreNoPair) {
  TopGrid grid;
  ASSERT_TRUE(
      addFigure(R"({"sources":["a"],"destinations":["b"],"values":[["x"]],"states":[["odd"]]})",
                TopSort::kLoss, grid)
          .has_value());
  EXPECT_TRUE(rankPairs({grid}, TopSort::kLoss, "").empty());
}

}  // namespace
}  // namespace pingloom::cli::top_source_test
