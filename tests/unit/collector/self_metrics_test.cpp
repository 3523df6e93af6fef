#include "collector/self_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/metrics_text.h"

namespace pingloom::collector::self_metrics_test {
namespace {

using testing::HasSubstr;

TEST(SelfMetrics, PagesThatAreLeftOutAreCountedByReason) {
  AgentView agent;
  agent.agent = "10.0.0.1:20714";
  LeftOutPage page;
  agent.left_out = {page, page};
  page.fault = PageFault::kSpace;
  agent.left_out.push_back(page);
  const http::ServerCounters http;
  MetricsText out;
  selfMetrics(out, {agent}, {}, http, kSecond);
  const std::string& text = out.text();
  const std::string series = "pingloom_collector_pages_left_out{agent=\"10.0.0.1:20714\",reason=";
  EXPECT_THAT(text, HasSubstr(series + "\"schema\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(series + "\"owner\"} 0\n"));
  EXPECT_THAT(text, HasSubstr(series + "\"space\"} 1\n"));
}

}  // namespace
}  // namespace pingloom::collector::self_metrics_test
