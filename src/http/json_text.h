// Appends JSON to a string: for answers too large to be built as a tree first. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pingloom::http {

// With the quotes. Bytes that are not UTF-8 become U+FFFD, so that one odd host name does not spoil
// a document.
void appendJsonString(std::string& out, std::string_view text);
void appendJsonNumber(std::string& out, std::uint64_t number);
// `"key":"text",`.
void appendJsonMember(std::string& out, std::string_view key, std::string_view text);

}  // namespace pingloom::http
