// A report made from a content, as its agent might have sent it, for the live view of a controller
// that begins. Times are as exact as history has them. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/address.h"
#include "common/time.h"
#include "controller/history/codec/content.h"

namespace pingloom::controller {

// What stands beside the content.
struct KeptReport {
  std::string_view probe;
  IpAddress source;
  std::uint32_t path = 0;
  Nanos start_utc = 0;
  Nanos window = 0;
};

// A serialized wire::Report. REQUIRES: all of the content has been read; window > 0.
std::string reportOf(const KeptReport& kept, ContentReader& content);

}  // namespace pingloom::controller
