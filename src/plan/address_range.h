// Expands an entry of an address list: "10.0.0.1", "fd00::1", or ranges of whole parts of an
// address, decimal in IPv4 and hexadecimal in IPv6: "10.0.0.[3-64]", "10.0.[0-3].[1-250]",
// "fd00::[1-ff]". Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "plan/plan.h"

namespace pingloom::plan {

// How many addresses a list of bounded length has already.
struct ListRoom {
  std::size_t used = 0;
  std::size_t max = 0;

  std::size_t left() const { return max - used; }
  std::string exceeded() const;  // the reason why more were refused
};

// Appends the addresses to `out` in ascending order. If there are more than the room allows,
// nothing is appended and the result is an error. The error's entity is the expression.
Status expandAddresses(std::string_view text, const ListRoom& room, AddressList& out);

// Checks that an address can be a destination: not unspecified, multicast or broadcast.
Status checkProbeable(const IpAddress& address);

}  // namespace pingloom::plan
