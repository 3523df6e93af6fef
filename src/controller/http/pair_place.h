// Finds the pair of the plan that a path names. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "controller/model/board.h"
#include "http/message.h"

namespace pingloom::controller::api {

struct PairPlace {
  std::uint32_t probe = 0;
  std::size_t source = 0;
  std::size_t destination = 0;
};

// Accepts addresses in any spelling. The error is the answer.
tl::expected<PairPlace, http::Response> pairNamed(const GridPlan& plan, const std::string& probe,
                                                  const std::string& source,
                                                  const std::string& destination);
// Does the same for `pair`, which is PROBE/SRC/DST.
tl::expected<PairPlace, http::Response> pairPlace(const GridPlan& plan, std::string_view pair);

}  // namespace pingloom::controller::api
