#include "cli/json_fields.h"

#include <nlohmann/json.hpp>

#include "cli/text_table.h"

namespace pingloom::cli {

const nlohmann::json& fieldAt(const nlohmann::json& json, const char* pointer) {
  static const nlohmann::json none;
  const nlohmann::json::json_pointer path(pointer);
  return json.contains(path) ? json[path] : none;
}

const nlohmann::json& listAt(const nlohmann::json& json, const char* pointer) {
  static const nlohmann::json none = nlohmann::json::array();
  const nlohmann::json& value = fieldAt(json, pointer);
  return value.is_array() ? value : none;
}

std::string shownAt(const nlohmann::json& json, const char* pointer) {
  const nlohmann::json& value = fieldAt(json, pointer);
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  return value.is_null() || value.is_structured() ? "-" : value.dump();
}

std::string textAt(const nlohmann::json& json, const char* pointer) {
  const nlohmann::json& value = fieldAt(json, pointer);
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace pingloom::cli
