// Reads members of documents that come from outside: a missing or odd member is an empty one, and
// text is made harmless for a terminal. Pure functions; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pingloom::cli {

// Returns the value at the JSON pointer, or null.
const nlohmann::json& fieldAt(const nlohmann::json& json, const char* pointer);

// Returns the array at the JSON pointer, or an empty one.
const nlohmann::json& listAt(const nlohmann::json& json, const char* pointer);

// Returns a scalar at the JSON pointer as text that is safe to print, or "-".
std::string shownAt(const nlohmann::json& json, const char* pointer);

// Returns the text at the JSON pointer as it is, or "" if there is none.
std::string textAt(const nlohmann::json& json, const char* pointer);

}  // namespace pingloom::cli
