// What a body is, by its Content-Type header. Any thread.
#pragma once

#include <string_view>

namespace pingloom::http {

// "application/json", with or without parameters. No page of another origin may send that unasked.
bool isJson(std::string_view content_type);

}  // namespace pingloom::http
