// Writes JSON: text is escaped for it here, also in documents that are built as trees. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pingloom {

// Appends the text with its quotes. Bytes that are not UTF-8 become U+FFFD, so that one odd host
// name does not spoil a document.
void appendJsonString(std::string& out, std::string_view text);
void appendJsonNumber(std::string& out, std::uint64_t number);
// Appends `"key":"text",`.
void appendJsonMember(std::string& out, std::string_view key, std::string_view text);

// Writes a tree of nlohmann::json as one line. Bytes that are not UTF-8 become U+FFFD here, too.
template <typename Json>
std::string jsonLine(const Json& tree) {
  return tree.dump(-1, ' ', false, Json::error_handler_t::replace);
}
// The same, indented for people.
template <typename Json>
std::string jsonText(const Json& tree) {
  return tree.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pingloom
