#include "http/media_type.h"

#include <string>

namespace pingloom::http {

bool isJson(std::string_view content_type) {
  const std::string_view kind = content_type.substr(0, content_type.find(';'));
  std::string plain;
  for (const char c : kind) {
    if (c != ' ' && c != '\t') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return plain == "application/json";
}

}  // namespace pingloom::http
