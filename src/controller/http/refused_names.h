// wire::Refused::Reason as words, for the API and for metrics.
#pragma once

#include <array>
#include <string_view>

namespace pingloom::controller {

constexpr std::array<std::string_view, 6> kRefusedNames = {"unknown",        "not_registered",
                                                           "duplicate_host", "duplicate_address",
                                                           "bad_version",    "bad_message"};

}  // namespace pingloom::controller
