// The description of the HTTP interface, as it is served. Any thread.
#pragma once

#include <string_view>

namespace pingloom::controller {

// OpenAPI 3.1, YAML.
std::string_view openApi();

}  // namespace pingloom::controller
