// What commands say when an argument is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "captured_run.h"
#include "cli/commands.h"

namespace pingloom::cli::usage_test {
namespace {

using testing::HasSubstr;

struct Case {
  int (*command)(const std::vector<std::string>&);
  std::vector<std::string> arguments;
  const char* says;
};

TEST(Usage, NamesTheArgumentsThatAreNeeded) {
  const Case cases[] = {
      {runDta, {"get"}, "pingloom dta get: TABLE and KEY are needed; usage: "},
      {runDta, {"count"}, "TABLE and KEY are needed;"},
      {runDta, {"path"}, "SRC and DST are needed;"},
      {runDta, {"tail"}, "TABLE is needed;"},
      {runDta, {"inspect"}, "FILE is needed;"},
      {runKeys, {"reporter"}, "pingloom keys reporter: FILE is needed;"},
      {runKeys, {"authorize", "--role", "agent"}, "PUBLIC_KEY|FILE.pub is needed;"},
      {runKeys, {"join"}, "TOKEN|FILE is needed;"},
      {runAlerts, {"test"}, "TARGET is needed;"},
      {runSilence, {"add", "--for", "1h"}, "LABEL=VALUE... is needed;"},
      {runMaintenance, {"begin"}, "HOST is needed;"},
      {runIncidents, {"ack"}, "ID is needed;"},
      {runPath, {"10.0.0.1"}, "SOURCE and DESTINATION are needed;"},
      {runCheck, {}, "FILE is needed;"},
      {runPlan, {"--host", "a"}, "FILE is needed;"},
      // An option is named as it has to be written.
      {runPlan, {"file"}, "the option '--host' is required but missing"},
      {runKeys, {"authorize", "key"}, "the option '--role' is required but missing"},
  };
  for (const Case& one : cases) {
    const Captured run = capture(one.command, one.arguments);
    EXPECT_EQ(run.code, 2);
    EXPECT_THAT(run.err, HasSubstr(one.says));
  }
}

}  // namespace
}  // namespace pingloom::cli::usage_test
