// The description of the HTTP interface that the controller serves. Any thread.
#pragma once

#include <string_view>

namespace pingloom::controller {

// Returns OpenAPI 3.1 in YAML.
std::string_view openApi();

}  // namespace pingloom::controller
