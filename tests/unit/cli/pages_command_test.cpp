#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "captured_run.h"
#include "cli/commands.h"
#include "http/server.h"

namespace pingloom::cli::pages_command_test {
namespace {

using testing::HasSubstr;

constexpr const char* kPages = R"({"agents":[{"agent":"10.0.0.1:20714","host":"gpu-1",
  "state":"reading","problem":null,"interval_seconds":0.1,"pages":[{"generation":7,
  "application":"queue","pid":41,"state":"%","age_seconds":0.01,"metrics":[
  {"name":"jobs_total","kind":"counter","labels":{},"value":12}]}]}]})";

// A collector's HTTP side with one answer.
class PagesCommand : public testing::Test {
 protected:
  void serve(const std::string& page_state) {
    std::string body = kPages;
    body.replace(body.find('%'), 1, page_state);
    http::ServerOptions options;
    options.listen = *SocketAddress::parse("127.0.0.1:0");
    server_ = *http::Server::start(options, [body](const http::Request& request) -> http::Answer {
      const auto agent = request.query.find("agent");
      if (agent != request.query.end() && agent->second != "[fd00::1]:20714") {
        return http::errorResponse(404, "no agent; there are gpu-1");
      }
      http::Response response;
      response.body = body;
      return response;
    });
    url_ = "http://" + server_->address().text();
  }
  std::unique_ptr<http::Server> server_;
  std::string url_;
};

TEST_F(PagesCommand, shown) {
  serve("fresh");
  const auto run = capture(runPages, {"--url", url_});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("jobs_total  counter  12\n"));
  EXPECT_EQ(capture(runPages, {"--url", url_, "--agent", "[fd00::1]:20714"}).code, 0);
}

TEST_F(PagesCommand, json) {
  serve("stale");
  const auto run = capture(runPages, {"--url", url_, "--json", "--check"});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(nlohmann::json::parse(run.out)["agents"][0]["host"], "gpu-1");
  EXPECT_THAT(run.err, HasSubstr("queue (pid 41) is stale"));
}

TEST_F(PagesCommand, check) {
  serve("fresh");
  EXPECT_EQ(capture(runPages, {"--url", url_, "--check"}).code, 0);
  serve("torn");
  EXPECT_EQ(capture(runPages, {"--url", url_}).code, 0);
  const auto run = capture(runPages, {"--url", url_, "--check"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("gpu-1 (10.0.0.1:20714): the page of queue (pid 41) is torn"));
}

TEST_F(PagesCommand, anAgentThatIsNotRead) {
  serve("fresh");
  const auto run = capture(runPages, {"--url", url_, "--agent", "gpu 9&x"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("there are gpu-1"));
}

TEST_F(PagesCommand, nobodyThere) {
  const auto run = capture(runPages, {"--url", "http://127.0.0.1:1"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("pingloom-collector --config FILE"));
  EXPECT_THAT(run.err, HasSubstr("--url"));
}

TEST_F(PagesCommand, watchAndCheckExclude) {
  EXPECT_EQ(capture(runPages, {"--watch", "--check"}).code, 2);
}

}  // namespace
}  // namespace pingloom::cli::pages_command_test
