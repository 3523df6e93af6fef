// A report made from a block, as its agent might have sent it, for the live view of a controller
// that begins. Times are as exact as the block has them. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/address.h"
#include "common/time.h"
#include "controller/history/block.h"

namespace pingloom::controller {

// What stands beside the block.
struct KeptReport {
  std::string_view probe;
  IpAddress source;
  std::uint32_t path = 0;
  Nanos start_utc = 0;
  Nanos window = 0;
};

// A serialized wire::Report. REQUIRES: all of the block has been read; window > 0.
std::string reportOf(const KeptReport& kept, BlockReader& block);

}  // namespace pingloom::controller
