#include "probe/drop_reason.h"

#include <gtest/gtest.h>

namespace pingloom::probe::drop_reason_test {
namespace {

std::string_view nameOf(DropReason reason) {
  return kDropReasonNames[static_cast<std::size_t>(reason)];
}

TEST(DropReason, NamesWhatTheParserRefused) {
  EXPECT_EQ(nameOf(reasonOf(wire::ProbeParseError::kShort)), "short");
  EXPECT_EQ(nameOf(reasonOf(wire::ProbeParseError::kMagic)), "magic");
  EXPECT_EQ(nameOf(reasonOf(wire::ProbeParseError::kVersion)), "version");
  EXPECT_EQ(nameOf(reasonOf(wire::ProbeParseError::kType)), "type");
  EXPECT_EQ(nameOf(reasonOf(wire::ProbeParseError::kLength)), "length");
}

TEST(DropReason, IsCountedUnderItsName) {
  DropCounts counts{};
  count(DropReason::kQKey, counts);
  count(DropReason::kQKey, counts);
  EXPECT_EQ(counts[static_cast<std::size_t>(DropReason::kQKey)], 2U);
  EXPECT_EQ(nameOf(DropReason::kQKey), "q_key");
}

}  // namespace
}  // namespace pingloom::probe::drop_reason_test
