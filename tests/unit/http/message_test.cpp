#include "http/message.h"

#include <gtest/gtest.h>

namespace pingloom::http::message_test {
namespace {

TEST(Message, AnErrorIsJson) {
  EXPECT_EQ(errorResponse(404, "no \"x\"").body, "{\"error\":{\"reason\":\"no \\\"x\\\"\"}}\n");
}

}  // namespace
}  // namespace pingloom::http::message_test
