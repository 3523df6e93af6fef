// Reads the kind of a body from its Content-Type header. Any thread.
#pragma once

#include <string_view>

namespace pingloom::http {

// Whether the type is "application/json", with or without parameters. A browser lets no page of
// another origin send this type without this server's permission.
bool isJson(std::string_view content_type);

}  // namespace pingloom::http
