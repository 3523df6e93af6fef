// The name of this machine.
#pragma once

#include <string>

namespace pingloom {

// As gethostname() has it, which may be with or without a domain; "" if there is none.
std::string machineName();

}  // namespace pingloom
