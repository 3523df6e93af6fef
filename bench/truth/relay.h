// Forwards all frames between two interfaces, each after a fixed time.
#pragma once

#include <string>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::truth {

// Runs until `stop` is readable. Each frame waits for `delay`, in both directions.
Status relay(const std::string& one, const std::string& other, Nanos delay, int stop);

}  // namespace pingloom::truth
