// Makes a report from a content, like the one that the agent sent, for the live view of a
// controller that has just started. Times are as exact as history keeps them. Any thread may call
// it.
#pragma once

#include <string>
#include <string_view>

#include "common/address.h"
#include "common/time.h"
#include "controller/history/codec/content.h"

namespace pingloom::controller {

// The columns of the row other than its content.
struct KeptReport {
  std::string_view probe;
  IpAddress source;
  std::uint32_t path = 0;
  Nanos start_utc = 0;
  Nanos window = 0;
};

// Returns a serialized wire::Report. REQUIRES: all of the content has been read; window > 0.
std::string reportOf(const KeptReport& kept, ContentReader& content);

}  // namespace pingloom::controller
