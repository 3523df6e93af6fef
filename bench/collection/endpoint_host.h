// Applications with an HTTP endpoint of prometheus-cpp each, in a process of their own.
#pragma once

#include <memory>
#include <string>

#include "shared/child.h"
#include "sides.h"

namespace pingloom::bench {

// Starts them, and ends this process if they cannot be started.
std::unique_ptr<Child> startEndpoints(const Shape& shape);
// The URL of an application's endpoint.
std::string endpointUrl(int application);

}  // namespace pingloom::bench
