// The addresses one entry of a list stands for: "10.0.0.1", "fd00::1", or ranges of whole parts of
// an address, decimal in IPv4 and hexadecimal in IPv6: "10.0.0.[3-64]", "10.0.[0-3].[1-250]",
// "fd00::[1-ff]". Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "plan/plan.h"

namespace pingloom::plan {

// Appends them to `out`, ascending from the first range's start; an error, and nothing appended,
// where they would be more than `at_most`. The error's entity is the expression.
Status expandAddresses(std::string_view text, std::size_t at_most, AddressList& out);

// An address that something can be sent to: not unspecified, multicast or broadcast.
Status checkProbeable(const IpAddress& address);

}  // namespace pingloom::plan
