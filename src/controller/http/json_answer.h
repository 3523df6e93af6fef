// Builds small answers as a JSON value. Any thread.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/json_text.h"
#include "common/time.h"
#include "http/message.h"

namespace pingloom::controller::api {

using Json = nlohmann::ordered_json;

inline http::Response jsonAnswer(const Json& json) {
  http::Response response;
  response.body = jsonLine(json) + "\n";
  return response;
}

inline Json textOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }
inline Json utcOrNull(Nanos utc) { return utc == 0 ? Json() : Json(formatUtc(utc)); }

// Writes a plan's hash.
inline std::string hashText(std::uint64_t hash) { return fmt::format("{:016x}", hash); }
inline Json hashOrNull(std::uint64_t hash) { return hash == 0 ? Json() : Json(hashText(hash)); }

}  // namespace pingloom::controller::api
