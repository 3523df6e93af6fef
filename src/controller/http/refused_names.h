// The names of wire::Refused::Reason, for the API and for metrics.
#pragma once

#include <array>
#include <string_view>

namespace pingloom::controller {

constexpr std::array<std::string_view, 7> kRefusedNames = {
    "unknown",     "not_registered", "duplicate_host", "duplicate_address",
    "bad_version", "bad_message",    "not_authorized"};

}  // namespace pingloom::controller
